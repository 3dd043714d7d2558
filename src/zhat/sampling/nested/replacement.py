"""Draws from the prior where the likelihood exceeds a threshold: what nested sampling asks for, again and again.

Four ways to get them, each a frozen object, none of them in need of gradients; the last three are in
`sampling.constrained_moves`:

* `FromPrior`: draw from the prior and keep what is above. Exact and independent, and hopeless once little mass is left.
* `ConstrainedWalk`: Metropolis for the prior, refusing every step that falls below the threshold (the review's way).
* `ConstrainedSlice`: hit-and-run slice moves (Neal 2003): along a random line through the point, an interval placed at
  random around it is drawn from and shrunk toward the point until the draw is above the prior's slice and the threshold.
* `ConstrainedCrankNicolson`: the kernel that serves SMC, within the threshold. On the few models where it was measured it
  forgot its start in fewer evaluations than the walk, and the slice moves took about four times the walk's.

The three Markov ways start each new point at a survivor, which is distributed as it should be already, and move it until
the new points have forgotten where they began: until the correlation between start and present, of the rank of the
likelihood and of every coordinate, is below a limit. Steps and lines are shaped by the covariance of the survivors. The
survivors stand in `N_BLOCKS` blocks, and the points that start in one block are shaped by the *others*: a kernel shaped by the
points that it moves is not invariant for them. Nor is one shaped by their relatives, who are where they are: a block is a stretch
of survivors in the order of descent (`sampling.nested_run`), so that families are shaped by others. (With blocks drawn by lot two
modes in forty dimensions came out 0.9 nats too high, in every run: points had forgotten where they began but for the mode.)

A whole batch moves in one compiled call that has the threshold as an argument. Slice moves take a different number of
looks each; so that no point waits for the slowest at every move, each goes on to its own next move, and only the last move
of a call is waited for. (Stopping the clock instead would favour places from which it is hard to get away.)
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from numpy.typing import NDArray

from zhat.errors import BadInput, BadType
from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.backend import Backend, run
from zhat.sampling.backend.evaluation import log_densities, prior_positions, reevaluate
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import Tuning
from zhat.sampling.kernels.tuning import Moments
from zhat.sampling.tempering.population import Moves
from zhat.seeding import Key

IntArray = NDArray[np.int64]
# One number to tune, or one for each kind of move that a kernel makes.
Scale = float | Array

N_BLOCKS = 4
# Calls in a row that hardly change what is left of the start, after which more would not either; and moves for each dimension, if
# that is more: in a hundred dimensions points forget so slowly that sixteen moves change little (taken for separate modes, that
# was worth two nats).
STALLED_CALLS, STALLED_MOVES = 3, 0.5
# Calls of shorter moves when a point has not moved at all: at least, and at most.
SHORT_CALLS, MAX_SHORT = 4, 12


class Points(NamedTuple):
    """Points and what is known there; the leading axis is theirs."""

    position: Array
    log_prior: Array
    log_likelihood: Array

    def take(self, chosen: Any) -> Points:
        """Some of them."""
        return Points(*(array[chosen] for array in self))


class Replaced(NamedTuple):
    """New points above a threshold, where each came from, and how the moves went.

    `parent` is the number of the survivor that a point started from (-1: none). `memory` and `correlation` are what is left of
    the start: of the likelihood's rank, and of the coordinate that remembers most. `scale` is the next one to use.
    """

    points: Points
    parent: IntArray
    n_moves: int
    acceptance: float
    memory: float
    correlation: float
    scale: Scale


class Replacement(Protocol):
    """A way to draw from the prior above a threshold."""

    def first_scale(self, n_dimensions: int) -> Scale:
        """Where tuning of the scale begins."""
        ...

    def replace(
        self, model: Model, survivors: Points, threshold: float, n_new: int, lanes: int, scale: Scale, key: Key, loop: Loop
    ) -> Replaced:
        """`n_new` points above the threshold, `lanes` at a time, given all live points that are above it."""
        ...


# -- rejection -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FromPrior:
    """Rejection: prior draws, of which those above the threshold are kept; at most `at_most` draws for one batch."""

    at_most: int = 2_000_000

    def __post_init__(self) -> None:
        """Check the limit."""
        check_whole("FromPrior", "at_most", self.at_most, 1000)

    def first_scale(self, n_dimensions: int) -> Scale:
        """Nothing to tune."""
        return 1.0

    def replace(
        self, model: Model, survivors: Points, threshold: float, n_new: int, lanes: int, scale: Scale, key: Key, loop: Loop
    ) -> Replaced:
        """See `Replacement`."""
        kept: list[Points] = []
        found = drawn = 0
        size = 1024
        while found < n_new:
            if drawn >= self.at_most:
                loop.stop(
                    "rejection",
                    f"{drawn:,} draws from the prior gave {found} of {n_new} points above the log likelihood {threshold:.6g}; "
                    "replace with ConstrainedSlice() instead",
                )
            position = prior_positions(model, size, key.child(drawn))
            log_prior, log_likelihood = log_densities(model, position, loop)
            above = np.flatnonzero(log_likelihood > threshold)
            kept.append(Points(position, log_prior, log_likelihood).take(above))
            found, drawn = found + len(above), drawn + size
            loop.tick(f"log likelihood above {threshold:.6g}: {found} of {n_new} from {drawn:,} prior draws")
            size = min(4 * size, 65_536)
        points = _joined(kept).take(slice(0, n_new))
        return Replaced(points, np.full(n_new, -1), 0, found / drawn, 0.0, 0.0, 1.0)


# -- Markov moves ----------------------------------------------------------------------------------------------------


class Stepped(NamedTuple):
    """Where a call of a constrained kernel left its points, and how it went.

    `acceptance` is that of each kind of move (or one number); `distance` the mean of what slices moved, in units of the interval.
    """

    points: Points
    acceptance: Any
    distance: float


class MarkovMoves(ABC):
    """What the Markov ways have in common: new points start at survivors and move until they have forgotten them."""

    moves: Moves

    @abstractmethod
    def first_scale(self, n_dimensions: int) -> Scale:
        """Where tuning of the scale begins."""

    @abstractmethod
    def next_scale(self, scale: Scale, stepped: Stepped) -> Scale:
        """The scale after a call."""

    @abstractmethod
    def noise(self, rng: np.random.Generator, n: int, tuning: Tuning) -> dict[str, Any]:
        """The noise of one call."""

    @abstractmethod
    def steps(self, backend: Backend, start: Points, threshold: Any, noise: dict[str, Any]) -> Any:
        """All moves of a call: state, acceptance, distance moved, evaluations, bad ones, where."""

    def replace(
        self, model: Model, survivors: Points, threshold: float, n_new: int, lanes: int, scale: Scale, key: Key, loop: Loop
    ) -> Replaced:
        """See `Replacement`."""
        return _replace(self, model, survivors, threshold, n_new, lanes, scale, key, loop)


def _replace(
    kernel: MarkovMoves,
    model: Model,
    survivors: Points,
    threshold: float,
    n_new: int,
    lanes: int,
    scale: Scale,
    key: Key,
    loop: Loop,
) -> Replaced:
    """New points from survivors, moved until they have forgotten them; `lanes` at a time, so that one program serves."""
    parts = []
    for first in range(0, n_new, lanes):
        part = _moved(kernel, model, survivors, threshold, lanes, scale, key.child(first), loop)
        wanted = np.arange(lanes)
        if n_new - first < lanes:  # any of the lanes will do, not the first block's before the others'
            wanted = key.child("some", first).generator().permutation(lanes)[: n_new - first]
        parts.append(part._replace(points=part.points.take(wanted), parent=part.parent[wanted]))
        scale = part.scale
    worst = max(parts, key=lambda part: part.memory)
    return worst._replace(
        points=_joined([part.points for part in parts]),
        parent=np.concatenate([part.parent for part in parts]),
        correlation=max(part.correlation for part in parts),
        scale=scale,
    )


def _moved(
    kernel: MarkovMoves, model: Model, survivors: Points, threshold: float, lanes: int, scale: Scale, key: Key, loop: Loop
) -> Replaced:
    rng = key.generator()
    parent, tuning = _starts(survivors, lanes, rng)
    start = points = survivors.take(parent)
    before = _centred(tuning, start)
    n_moves, accepted = 0, []
    lefts: list[float] = []
    memory = 1.0
    while n_moves < kernel.moves.at_most and not _forgotten(lefts, memory, kernel.moves, model.n_dimensions):
        stepped = _step(kernel, model, points, threshold, tuning._replace(scale=np.asarray(scale)), rng, loop)
        points = stepped.points
        scale = kernel.next_scale(scale, stepped)
        n_moves += kernel.moves.at_once
        accepted.append(float(np.mean(stepped.acceptance)))
        correlations = np.einsum("ij,ij->i", before, _centred(tuning, points))
        memory = max(float(correlations[-1]), 0.0)
        lefts.append(float(correlations.max()))
        loop.tick(f"log likelihood above {threshold:.6g}  moves {n_moves}  correlation left {lefts[-1]:.2f}")
    # A few points in a mode of their own may not be moved at all by steps that suit the rest: shorter ones, for all alike.
    calls, shorter = 0, 0.5
    while n_moves + kernel.moves.at_once <= kernel.moves.at_most:
        still = (points.position == start.position).all(axis=1)
        if not (0 < calls < SHORT_CALLS or (still.any() and calls < MAX_SHORT)):
            break
        stepped = _step(kernel, model, points, threshold, tuning._replace(scale=np.asarray(shorter * scale)), rng, loop)
        calls, n_moves = calls + 1, n_moves + kernel.moves.at_once
        freed = (stepped.points.position != points.position).any(axis=1)
        points = stepped.points
        if still.any() and freed[still].mean() < 0.5:
            shorter *= 0.5
    return Replaced(points, parent, n_moves, float(np.mean(accepted)), memory, lefts[-1], scale)


def _starts(survivors: Points, lanes: int, rng: np.random.Generator) -> tuple[IntArray, Tuning]:
    """Who starts where: every survivor as often as any other, in blocks; and each block's shape, learnt from the others.

    Survivors stand beside their relatives, and a block is a stretch of them that begins anywhere: families stay together.
    """
    m = len(survivors.position)
    order = np.roll(np.arange(m), rng.integers(m))
    blocks = N_BLOCKS if m >= 2 * N_BLOCKS else 1
    rows = rng.permuted(order[: m - m % blocks].reshape(blocks, -1), axis=1)
    centre = survivors.position[order[0]]
    tuning = Moments.of(survivors.position[rows], np.ones(rows.shape), centre).of_others().tuning(centre, 1.0)
    if blocks < N_BLOCKS:
        rows = np.broadcast_to(rows, (N_BLOCKS, m))
        mean, factor, inverse = (np.repeat(array, N_BLOCKS, axis=0) for array in tuning[:3])
        tuning = Tuning(mean, factor, inverse, tuning.scale)
    columns = np.arange(-(-lanes // N_BLOCKS)) % rows.shape[1]
    return rows[:, columns].ravel()[:lanes], tuning


def _step(
    kernel: MarkovMoves, model: Model, start: Points, threshold: float, tuning: Tuning, rng: np.random.Generator, loop: Loop
) -> Stepped:
    """One call of a kernel: compiled once for a model, a kernel and a number of points."""
    noise = kernel.noise(rng, len(start.log_prior), tuning)
    args = (start, np.float64(threshold), noise)
    out = run(model, loop, ("constrained", kernel), kernel.steps, *args)
    state, acceptance, distance, looked, n_bad, bad = jax.tree.map(np.asarray, out)
    if not model.is_black_box:  # a black box counts its own calls
        loop.count(n_likelihood=int(looked))
    if n_bad:
        reevaluate(model, n_bad, bad, loop)
    return Stepped(Points(*state), acceptance, float(distance))


def _centred(tuning: Tuning, points: Points) -> Array:
    """Coordinates and rank of the likelihood, less their means, in units of their root sum of squares; ranks last."""
    rank = _ranks(points.log_likelihood)
    rows = np.concatenate([tuning.whiten(points.position).T, rank[None]])
    rows -= rows.mean(axis=1, keepdims=True)
    size = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(size > 1e-12, size, np.inf)[:, None]


def _ranks(values: Array) -> Array:
    """Places in order of size; equal values share the mean of theirs."""
    order = np.argsort(values)
    rank = np.empty(len(values))
    rank[order] = np.arange(len(values))
    ordered = values[order]
    if (ordered[1:] > ordered[:-1]).all():
        return rank
    twice = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") - 1
    return np.asarray(0.5 * twice, dtype=np.float64)


def _forgotten(lefts: list[float], memory: float, moves: Moves, n_dimensions: int) -> bool:
    """Whether the points have moved enough: nothing is left of the start, or nothing that more moves would take.

    Points in separate modes never forget which one they are in; descent keeps count of that.
    """
    if not lefts:
        return False
    if lefts[-1] <= moves.correlation:
        return True
    back = 1 + max(STALLED_CALLS, math.ceil(STALLED_MOVES * n_dimensions / moves.at_once))
    return memory <= moves.correlation and len(lefts) > back and lefts[-1] > 0.9 * lefts[-back]


def _joined(parts: list[Points]) -> Points:
    return parts[0] if len(parts) == 1 else Points(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def check_whole(owner: str, name: str, value: Any, minimum: int) -> None:
    """Refuse a setting that is not a whole number, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadType(f"{owner}({name}={value!r}): give a whole number.")
    if value < minimum:
        raise BadInput(f"{owner}({name}={value}): give at least {minimum}.")
