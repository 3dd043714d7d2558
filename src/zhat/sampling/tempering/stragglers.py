"""Stragglers: the few particles that the moves of their rung do not move, and shorter, local moves for their region alone.

A few particles in a narrow mode, or in the neck of a funnel, may reject every step of a length that suits the others, and no
correlation over the whole population shows it. As beta grows they lag behind the target and the mode is lost (0.7 nats, without a
warning, on two modes in ten dimensions whose widths were as 7 to 4). So every particle has a surprisal: -log of the probability
that moves of the mean acceptance rate leave it in place for so long. A particle with a large surprisal is a straggler.

*Which particles move.* Moves of particles selected because they did not move would not leave the target invariant, since the
selection depends on the particle's own history. Selection by a region of space does: a reversible kernel whose moves out of a
region R are rejected is reversible for the target within R, particles outside stay where they are, and the whole leaves the
target invariant. R is where the target is high above the frame that shapes the moves,

    R = { x : log target(x) - log frame(x) >= floor },

because moves of all lengths are accepted by that ratio (proposals are reversible for the frame, a Student t, so a move is
accepted by the quotient of target / frame at its ends), and stragglers are the particles where it is highest. Measured on narrow
modes, funnels, hierarchies and poles, the region that holds nine tenths of the stragglers holds hardly any other particle, also
where Hamiltonian moves are the ones that fail.

*The floor.* An island's floor is the height above which the *other* islands' stragglers lie, for the same reason that its frame
is fitted to the others: a particle's history must not decide its own moves. Some stragglers stayed in place by chance; where the
region would hold many particles for each straggler, the floor is raised. Where no other island has a straggler, the region is
that of their highest few particles, one batch of them.

*Cost.* That of the particles in the region, gathered into small batches of one size (one more shape to compile): some 5 % more
likelihoods on eight schools, where local moves of all particles cost 40 %. Where the region holds most particles, all are moved
at once, and the moves of those outside are discarded.

*When it lies.* Local moves cannot find a mode without particles. The share of a mode with a handful of particles is as uncertain
as a count of that size, which the genealogical standard error includes. A kernel that is not reversible (Gibbs sweeps) cannot be
restricted to a region, so it makes no local moves.
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

# A particle is a straggler when its surprisal exceeds this: a probability of 1e-4.
SURPRISING = float(np.log(1e4))
# The share of stragglers above which the region makes local moves: `SHORT` moves a call, at most `TIMES` calls.
STRAGGLER_SHARE = 0.0005
SHORT, TIMES = 16, 6
# The share of the other islands' stragglers that a region leaves out: the few that stayed in place by chance would widen it.
LEFT_OUT = 0.05
# Particles in a region for each straggler, at most: a larger region is made smaller.
MEMBERS_PER_STRAGGLER = 4
# A batch holds one in this many of all particles.
BATCH = 64
# Scale of local moves as a fraction of a kernel's first scale: at first and at most, and at least.
LONGEST, SHORTEST = 0.5, 0.001
# The acceptance rate to which the scale of local moves is tuned, and the factors by which it may change at once.
GOAL, DOWN, UP = 0.3, 0.1, 3.0


class Moved(NamedTuple):
    """Particles after local moves; the tuned scale of these, as a fraction of the usual; the share that still did not move."""

    state: State
    local_part: float
    unmoved: float
    n_moves: int


def surprisal_after(surprisal: Array, before: State, part: Swept) -> Array:
    """The surprisal of particles after some moves: zero for those that moved, larger than before for the others."""
    acceptance = part.acceptance.mean
    if acceptance == 1.0:  # every move is accepted: Gibbs sweeps
        return np.zeros_like(surprisal)
    longer = -part.n_moves * np.log1p(-min(acceptance, 0.99))
    # A product takes a third of the time of `any`.
    moved = (part.states.position[-1] != before.position) @ np.ones(before.position.shape[1], bool)
    return np.where(moved, 0.0, surprisal + longer)


def move_stragglers(
    model: Model,
    moving: TunedKernel,
    state: State,
    surprisal: Array,
    local_part: float,
    rng: np.random.Generator,
    loop: Loop,
) -> Moved:
    """Local moves of the stragglers' region, if there are more than a few of them, until they move.

    The target of `moving` is tempered; local moves begin with `local_part` times the first scale of its kernel.
    """
    straggling, kernel = surprisal > SURPRISING, moving.kernel
    # A kernel without tuning (Gibbs) has no local moves.
    if straggling.mean() <= STRAGGLER_SHARE or not kernel.needs_tuning:
        return Moved(state, local_part, 0.0, 0)
    assert isinstance(moving.target, Tempered) and moving.tuning is not None
    height = above_frame(moving.tuning, state, moving.target)
    floor = floors(height, straggling, len(moving.tuning.mean))
    members = height >= np.repeat(floor, len(straggling) // len(floor))
    straggling = straggling & members
    region = moving._replace(target=AboveReference(beta=moving.target.beta, floor=floor, frame=moving.tuning))
    scale, n_moves = np.asarray(kernel.first_scale(model.n_dimensions)), 0
    while n_moves == 0 or (np.mean(straggling) > STRAGGLER_SHARE and n_moves < TIMES * SHORT):
        state, taken = _move_members(model, region.scaled(scale * local_part), state, members, rng, loop)
        n_moves += SHORT
        if straggling.any():
            change = np.clip(np.mean(taken[straggling]) / GOAL, DOWN, UP)
            local_part = float(np.clip(local_part * change, SHORTEST, LONGEST))
        straggling = straggling & (taken == 0.0)
        loop.tick(f"local moves {n_moves}")
    return Moved(state, local_part, float(np.mean(straggling)), n_moves)


def above_frame(frame: Tuning, state: State, target: Tempered) -> Array:
    """Log target less log frame at each particle, up to a constant."""
    return np.asarray(target.log_density(state, np) - frame.log_frame(state.position, np))


def floors(height: Array, straggling: BoolArray, n_islands: int) -> Array:
    """For each island the height above which most of the other islands' stragglers lie, and not too many other particles."""
    height, straggling = height.reshape(n_islands, -1), straggling.reshape(n_islands, -1)
    floor = np.full(n_islands, -np.inf)
    for island in range(n_islands):
        others = np.arange(n_islands) != island
        heights, of_stragglers = height[others].ravel(), height[others][straggling[others]]
        most = -(-len(heights) // BATCH)
        if of_stragglers.size:
            floor[island] = np.sort(of_stragglers)[int(LEFT_OUT * of_stragglers.size)]
            most = int(MEMBERS_PER_STRAGGLER * of_stragglers.size)
        if np.sum(heights >= floor[island]) > most:
            floor[island] = np.partition(heights, -most)[-most]
    return floor


def _move_members(
    model: Model, region: TunedKernel, state: State, members: BoolArray, rng: np.random.Generator, loop: Loop
) -> tuple[State, Array]:
    """Move the members within the region; each one's share of accepted moves. The other particles stay where they are."""
    assert isinstance(region.target, AboveReference)
    n, rows = len(members), np.flatnonzero(members)
    n_island = n // len(region.target.floor)
    after = State(*(None if field is None else np.array(field) for field in state))
    taken = np.zeros(n)
    # A black box compiles nothing and evaluates every point: one batch without padding.
    size = max(len(rows), 1) if model.is_black_box else -(-n // BATCH)
    if 2 * len(rows) > n:  # all particles, in their order
        rows, size = np.arange(n), n
    for begin in range(0, len(rows), size):
        here = rows[begin : begin + size]
        # A batch is padded with copies of its first member, whose moves are discarded.
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
    """The same with a block for each point, that of its island, because islands differ in their number of members."""
    target, tuning = region.target, region.tuning
    assert isinstance(target, AboveReference) and tuning is not None
    tuning = Tuning(tuning.mean[island], tuning.factor[island], tuning.inverse[island], tuning.scale)
    return region._replace(target=target._replace(floor=target.floor[island], frame=tuning), tuning=tuning)


def _taken(start: Array, path: Array) -> Array:
    """The share of moves that changed a particle's position."""
    before = np.concatenate([start[None], path[:-1]])
    return np.asarray((path != before).any(axis=2).mean(axis=0))
