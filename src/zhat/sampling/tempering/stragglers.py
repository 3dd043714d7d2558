"""Stragglers: the few particles that moves which suit the rest do not move, and local moves for their region alone.

A few particles in a narrow mode, or in the neck of a funnel, may not be moved at all by steps that suit the others, and no
correlation over the whole population shows it; as the likelihood sharpens they fall behind and the mode is lost (0.7 nats, with
nothing to see, on two modes in ten dimensions whose widths were as 7 to 4). So every particle's idleness is counted: how
improbable it is, as -log, that moves of the mean acceptance left it in place for so long. An improbable one is a straggler.

*Which particles move.* Moves of particles chosen for having stood still would not leave the target invariant: standing still is the
particle's own history. A region of space is another matter. A reversible kernel whose moves out of a region R are refused is
reversible for the target within R, and those outside stay where they are; the whole is invariant. R is where the target is high
above the frame that shapes the moves,

    R = { x : log target(x) - log frame(x) >= floor },

because that ratio is what moves of all lengths are accepted by (proposals are reversible for the frame, a Student t, and
accepted by the ratio's ratio): stragglers are those with the highest. Measured on narrow modes, funnels, hierarchies and poles, the
region that holds nine tenths of the stragglers holds hardly any other particle, also where Hamiltonian moves are the ones that fail.

*The floor.* An island's floor is the height above which the *other* islands' stragglers stand, for the same reason that its frame is
shaped by the others: what a particle did must not decide where it may go. Some stragglers stood still by chance; where the region
would hold many particles for each straggler, the floor is raised. Where no other island has any, the region is where the highest
few of theirs stand, a batch's worth.

*Cost.* That of the particles in the region, gathered into small batches of one size (one more shape to compile): some 5 % more
likelihoods on eight schools, where local moves of all particles cost 40 %. Where the region holds most particles, all are moved at
once, and the moves of those outside are discarded.

*When it lies.* A mode in which no particle stands is not found by any of this, and one that holds a handful has a share as
uncertain as a handful is; the genealogical standard error says so. A kernel that is not reversible (Gibbs sweeps) may not be kept
to a region, and is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import TunedKernel
from zhat.sampling.kernels.sweep import Swept, sweep
from zhat.sampling.state import State
from zhat.sampling.target import AboveReference, Tempered
from zhat.sampling.tuning import Tuning

BoolArray = NDArray[np.bool_]

# A particle is a straggler when moves of the mean acceptance would have left it in place so long with this probability, exp(-IDLE).
IDLE = float(np.log(1e4))
# The share of stragglers from which the region makes local moves, so many at once, and so often at most.
IDLE_SHARE = 0.0005
SHORT, TIMES = 16, 6
# The share of the other islands' stragglers that a region leaves out: the few that stood still by chance would widen it.
LEFT_OUT = 0.05
# A region with more than so many particles for a straggler would move others than stragglers: it is made smaller.
CROWD = 4
# A batch holds this part of all particles.
BATCH = 64
# How short local moves are, as a part of a kernel's first scale: at first and at most, and at least.
LONGEST, SHORTEST = 0.5, 0.001
# The acceptance of stragglers' local moves that their length is tuned to, and the largest change at once.
GOAL, DOWN, UP = 0.3, 0.1, 3.0


class Moved(NamedTuple):
    """Particles after local moves; the part of the usual length that suited them; the share that even those did not move."""

    state: State
    local_part: float
    unmoved: float
    n_moves: int


def idleness_after(idleness: Array, before: State, part: Swept) -> Array:
    """The idleness of particles after some moves: nothing for those that moved, more for the others."""
    acceptance = part.acceptance.mean
    if acceptance == 1.0:  # nothing is ever refused: Gibbs sweeps
        return np.zeros_like(idleness)
    longer = -part.n_moves * np.log1p(-min(acceptance, 0.99))
    # A third of the time of `any`.
    moved = (part.states.position[-1] != before.position) @ np.ones(before.position.shape[1], bool)
    return np.where(moved, 0.0, idleness + longer)


def move_stragglers(
    model: Model,
    moving: TunedKernel,
    state: State,
    idleness: Array,
    local_part: float,
    rng: np.random.Generator,
    loop: Loop,
) -> Moved:
    """Local moves of the stragglers' region, if there are more than a few of them, until they move.

    The target of `moving` is tempered; `local_part` is what part of its kernel's first scale local moves begin with.
    """
    straggling, kernel = idleness > IDLE, moving.kernel
    # A kernel that nothing tunes (Gibbs) has no local moves.
    if straggling.mean() <= IDLE_SHARE or not kernel.needs_tuning:
        return Moved(state, local_part, 0.0, 0)
    assert isinstance(moving.target, Tempered) and moving.tuning is not None
    height = above_frame(moving.tuning, state, moving.target)
    floor = floors(height, straggling, len(moving.tuning.mean))
    members = height >= np.repeat(floor, len(straggling) // len(floor))
    straggling = straggling & members
    region = moving._replace(target=AboveReference(beta=moving.target.beta, floor=floor, frame=moving.tuning))
    scale, n_moves = np.asarray(kernel.first_scale(model.n_dimensions)), 0
    while n_moves == 0 or (np.mean(straggling) > IDLE_SHARE and n_moves < TIMES * SHORT):
        state, taken = _move_members(model, region.scaled(scale * local_part), state, members, rng, loop)
        n_moves += SHORT
        if straggling.any():
            change = np.clip(np.mean(taken[straggling]) / GOAL, DOWN, UP)
            local_part = float(np.clip(local_part * change, SHORTEST, LONGEST))
        straggling = straggling & (taken == 0.0)
        loop.tick(f"local moves {n_moves}")
    return Moved(state, local_part, float(np.mean(straggling)), n_moves)


def above_frame(frame: Tuning, state: State, target: Tempered) -> Array:
    """How far the log target stands above the log frame at each particle, up to a constant."""
    return np.asarray(target.log_density(state, np) - frame.log_frame(state.position, np))


def floors(height: Array, straggling: BoolArray, n_islands: int) -> Array:
    """For each island, above which height most of the other islands' stragglers stand, and not too many others."""
    height, straggling = height.reshape(n_islands, -1), straggling.reshape(n_islands, -1)
    floor = np.full(n_islands, -np.inf)
    for island in range(n_islands):
        others = np.arange(n_islands) != island
        heights, of_stragglers = height[others].ravel(), height[others][straggling[others]]
        most = -(-len(heights) // BATCH)
        if of_stragglers.size:
            floor[island] = np.sort(of_stragglers)[int(LEFT_OUT * of_stragglers.size)]
            most = int(CROWD * of_stragglers.size)
        if np.sum(heights >= floor[island]) > most:
            floor[island] = np.partition(heights, -most)[-most]
    return floor


def _move_members(
    model: Model, region: TunedKernel, state: State, members: BoolArray, rng: np.random.Generator, loop: Loop
) -> tuple[State, Array]:
    """Moves of the members, which stay in the region, and what share each took; the others keep their places."""
    assert isinstance(region.target, AboveReference)
    n, rows = len(members), np.flatnonzero(members)
    n_island = n // len(region.target.floor)
    after = State(*(None if field is None else np.array(field) for field in state))
    taken = np.zeros(n)
    # A black box compiles nothing and pays for every point: one batch as small as can be.
    size = max(len(rows), 1) if model.is_black_box else -(-n // BATCH)
    if 2 * len(rows) > n:  # all of them as they stand
        rows, size = np.arange(n), n
    for begin in range(0, len(rows), size):
        here = rows[begin : begin + size]
        # A batch is always full, of the first member again where there are no more; what these do is not kept.
        batch = np.concatenate([here, np.full(size - len(here), here[0])])
        some = after.take(batch)
        part = sweep(model, region if size == n else _of_each(region, batch // n_island), some, SHORT, rng, loop)
        kept = np.flatnonzero(members[here])
        here = here[kept]
        taken[here] = _taken(some.position[kept], part.states.position[:, kept])
        for field, moved in zip(after[:3], part.last[:3], strict=True):
            field[here] = moved[kept]
    return after, taken


def _of_each(region: TunedKernel, island: NDArray[np.int64]) -> TunedKernel:
    """The same with a block for each point, that of its island: some islands have more members than others."""
    target, tuning = region.target, region.tuning
    assert isinstance(target, AboveReference) and tuning is not None
    tuning = Tuning(tuning.mean[island], tuning.factor[island], tuning.inverse[island], tuning.scale)
    return region._replace(target=target._replace(floor=target.floor[island], frame=tuning), tuning=tuning)


def _taken(start: Array, path: Array) -> Array:
    """The share of moves that changed a particle's place."""
    before = np.concatenate([start[None], path[:-1]])
    return np.asarray((path != before).any(axis=2).mean(axis=0))
