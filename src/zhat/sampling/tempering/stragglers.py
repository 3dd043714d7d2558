"""Idle particles: the few that steps which suit the rest do not move, and short moves for them and their like alone.

A few particles in a narrow mode, or in the neck of a funnel, may not be moved at all by steps that suit the others, and no
correlation over the whole population shows it; as the likelihood sharpens they fall behind and the mode is lost (0.7 nats, with
nothing to see, on two modes in ten dimensions whose widths were as 7 to 4). So every particle's idleness is counted: how
improbable it is, as -log, that moves of the mean acceptance left it in place for so long.

*Who moves.* Moves of particles chosen for having stood still would not leave the target invariant: standing still is the
particle's own history. A region of space is another matter. A reversible kernel whose moves out of a region R are refused is
reversible for the target within R, and those outside stay where they are; the whole is invariant. R is where the target is high
above the frame that shapes the moves,

    R = { x : log target(x) - log frame(x) >= floor },

because that ratio is what moves of all lengths are accepted by (proposals are reversible for the frame, a Student t, and
accepted by the ratio's ratio): the idle are those with the highest. Measured on narrow modes, funnels, hierarchies and poles, the
region that holds nine tenths of the idle holds hardly anyone else, also where Hamiltonian moves are the ones that fail.

*Whose floor.* An island's floor is the height above which the *other* islands' idle particles stand, for the same reason that its
frame is shaped by the others: what a particle did must not decide where it may go. Some of the idle are only unlucky; where the
region would hold many particles for each idle one, the floor is raised. Where no other island has any, the region is where the
highest few of theirs stand, a batch's worth.

*Cost.* That of the particles in the region, gathered into small batches of one size (one more shape to compile): some 5 % more
likelihoods on eight schools, where short moves for everybody cost 40 %. Where the region holds most particles, all are moved at
once, and the moves of those outside forgotten.

*When it lies.* A mode in which no particle stands is not found by any of this, and one that holds a handful has a share as
uncertain as a handful is; the genealogical error says so. A kernel that is not reversible (Gibbs sweeps) may not be kept to a
region, and is not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import Kernel, State, Tuning
from zhat.sampling.tempering.schedules import tempered
from zhat.sampling.tempering.sweep import Swept, sweep

BoolArray = NDArray[np.bool_]

# A particle is idle when moves of the mean acceptance would have left it in place so long with this probability, exp(-IDLE).
IDLE = float(np.log(1e4))
# The share of idle particles from which those in the region make short moves, so many at once, and so often at most.
IDLE_SHARE = 0.0005
SHORT, TIMES = 16, 6
# The share of the other islands' idle particles that a region leaves out: the few that stood still by chance would widen it.
LEFT_OUT = 0.05
# A region with more than so many particles for an idle one would care for others than the idle: it is made smaller.
CROWD = 4
# A batch holds this part of all particles.
BATCH = 64
# How short moves are, as a part of a kernel's first scale: at first and at most, and at least.
LONGEST, SHORTEST = 0.5, 0.001
# The acceptance of short moves by the idle that their length is tuned to, and the largest change at once.
GOAL, DOWN, UP = 0.3, 0.1, 3.0


class Moved(NamedTuple):
    """Particles after short moves; the part of the usual length that suited them; the share that even those did not move."""

    state: State
    shorter: float
    unmoved: float
    n_moves: int


def idleness_after(idleness: Array, before: State, part: Swept) -> Array:
    """The idleness of particles after some moves: nothing for those that moved, more for the others."""
    if part.acceptance == 1.0:  # nothing is ever refused: Gibbs sweeps
        return np.zeros_like(idleness)
    longer = -len(part.log_likelihood) * np.log1p(-min(part.acceptance, 0.99))
    moved = (part.position[-1] != before.position) @ np.ones(before.position.shape[1], bool)  # a third of the time of `any`
    return np.where(moved, 0.0, idleness + longer)


def move_stragglers(
    model: Model,
    kernel: Kernel,
    state: State,
    idleness: Array,
    beta: float,
    tuning: Tuning,
    shorter: float,
    rng: np.random.Generator,
    loop: Loop,
) -> Moved:
    """Short moves for the idle and their like, if there are more than a few, until they move."""
    idle = idleness > IDLE
    # A kernel that nothing tunes (Gibbs) has no shorter moves.
    if idle.mean() <= IDLE_SHARE or not kernel.needs_tuning:
        return Moved(state, shorter, 0.0, 0)
    height = above_frame(tuning, state, beta)
    floor = floors(height, idle, len(tuning.mean))
    members = height >= np.repeat(floor, len(idle) // len(floor))
    idle = idle & members
    scale, n_moves = kernel.first_scale(model.n_dimensions), 0
    while n_moves == 0 or (np.mean(idle) > IDLE_SHARE and n_moves < TIMES * SHORT):
        short = tuning._replace(scale=np.float64(scale * shorter))
        state, taken = _move_members(model, kernel, state, members, beta, short, floor, rng, loop)
        n_moves += SHORT
        if idle.any():
            shorter = float(np.clip(shorter * np.clip(np.mean(taken[idle]) / GOAL, DOWN, UP), SHORTEST, LONGEST))
        idle = idle & (taken == 0.0)
        loop.tick(f"short moves {n_moves}")
    return Moved(state, shorter, float(np.mean(idle)), n_moves)


def above_frame(tuning: Tuning, state: State, beta: float) -> Array:
    """How far the log target stands above the log frame at each particle, up to a constant."""
    target = tempered(state.log_prior, state.log_likelihood, beta, np)
    return np.asarray(target - tuning.log_frame(state.position, np))


def floors(height: Array, idle: BoolArray, n_islands: int) -> Array:
    """For each island, above which height most of the other islands' idle particles stand, and not too many others."""
    height, idle = height.reshape(n_islands, -1), idle.reshape(n_islands, -1)
    found = np.full(n_islands, -np.inf)
    for island in range(n_islands):
        others = np.arange(n_islands) != island
        those, idle_ones = height[others].ravel(), height[others][idle[others]]
        most = -(-len(those) // BATCH)
        if idle_ones.size:
            found[island] = np.sort(idle_ones)[int(LEFT_OUT * idle_ones.size)]
            most = int(CROWD * idle_ones.size)
        if np.sum(those >= found[island]) > most:
            found[island] = np.partition(those, -most)[-most]
    return found


def _move_members(
    model: Model,
    kernel: Kernel,
    state: State,
    members: BoolArray,
    beta: float,
    tuning: Tuning,
    floor: Array,
    rng: np.random.Generator,
    loop: Loop,
) -> tuple[State, Array]:
    """Moves of the members, which stay above the floor, and what share each took; the others keep their places."""
    n, who = len(members), np.flatnonzero(members)
    n_island = n // len(floor)
    position, log_prior, log_likelihood = (np.array(field) for field in state[:3])
    taken = np.zeros(n)
    # A black box compiles nothing and pays for every point: one batch as small as can be.
    size = max(len(who), 1) if model.is_black_box else -(-n // BATCH)
    if 2 * len(who) > n:  # all of them as they stand
        who, size = np.arange(n), n
    for begin in range(0, len(who), size):
        here = who[begin : begin + size]
        # A batch is always full, of the first member again where there are no more; what these do is not kept.
        batch = np.concatenate([here, np.full(size - len(here), here[0])])
        some = State(position[batch], log_prior[batch], log_likelihood[batch], None)
        shape, above = (tuning, floor) if size == n else _of_each(tuning, floor, batch // n_island)
        part = sweep(model, kernel, some, SHORT, beta, shape, rng, loop, floor=above)
        kept = np.flatnonzero(members[here])
        here = here[kept]
        taken[here] = _taken(some.position[kept], part.position[:, kept])
        position[here] = part.position[-1][kept]
        log_prior[here] = part.log_prior[-1][kept]
        log_likelihood[here] = part.log_likelihood[-1][kept]
    return State(position, log_prior, log_likelihood, None), taken


def _of_each(tuning: Tuning, floor: Array, island: NDArray[np.int64]) -> tuple[Tuning, Array]:
    """The tuning and the floor of each point's island, a block for each point: some islands have more members than others."""
    shape = Tuning(tuning.mean[island], tuning.factor[island], tuning.inverse[island], tuning.scale)
    return shape, floor[island]


def _taken(start: Array, path: Array) -> Array:
    """The share of moves that changed a particle's place."""
    before = np.concatenate([start[None], path[:-1]])
    return np.asarray((path != before).any(axis=2).mean(axis=0))
