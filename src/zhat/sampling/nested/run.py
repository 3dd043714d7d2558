"""The loop of nested sampling: live points, a rising threshold, batches of dead points, and when to stop.

Instead of one point at a time, the lowest `n_replaced` of n live points die together, and as many new ones are drawn above the
highest of them. Their prior masses are as well known as one by one: dying in order of likelihood they leave n, n - 1,
..., n - k + 1 alive. With half of them the work for a given error is 4 % more than with one, and hundreds of points move in one
compiled call.

*Plateaus.* Points that share the threshold's likelihood all die with it, without being replaced in between (Fowlie, Handley &
Su 2021), because new points are drawn strictly above. So a part of the prior with zero likelihood dies first, and at once. When
the live points have nothing but one value left, the run is over.

*Insertion ranks.* Survivors and new points are, if the replacement does its work, independent draws of one distribution. So the
place of a new point among the survivors is recorded: all places must be equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from zhat.errors import BadInput, BadType
from zhat.model.model import Model
from zhat.numerics.nested import log_volumes, nested_log_weights
from zhat.results.records import Array, Draws, NestedRun
from zhat.sampling.backend.evaluation import prior_draws
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.nested.replacement import Points, Replaced, Replacement
from zhat.seeding import Key

IntArray = NDArray[np.int64]


# -- when to stop ----------------------------------------------------------------------------------------------------


class SoFar(NamedTuple):
    """What a run knows between two batches, all in logs: evidence of the dead, of the live, and the last dead point's."""

    n_dead: int
    log_dead: float
    log_live: float
    log_last: float


class Stop(Protocol):
    """A rule that ends a run."""

    def reached(self, so_far: SoFar) -> bool:
        """Whether the run may end here."""
        ...


@dataclass(frozen=True)
class RemainingEvidence:
    """Stop when the live points, at their mean likelihood, hold less than this share of the evidence."""

    share: float = 1e-3

    def __post_init__(self) -> None:
        """Check the share."""
        _check_share("RemainingEvidence", self.share)

    def reached(self, so_far: SoFar) -> bool:
        """See `Stop`."""
        return so_far.log_live < np.log(self.share) + np.logaddexp(so_far.log_dead, so_far.log_live)


@dataclass(frozen=True)
class SmallContribution:
    """Stop when the last dead point added less than this share to the evidence so far (the review's rule)."""

    share: float = 1e-8

    def __post_init__(self) -> None:
        """Check the share."""
        _check_share("SmallContribution", self.share)

    def reached(self, so_far: SoFar) -> bool:
        """See `Stop`; while nothing has a likelihood there is no evidence to compare with."""
        return so_far.log_dead > -np.inf and so_far.log_last < np.log(self.share) + so_far.log_dead


@dataclass(frozen=True)
class Iterations:
    """Stop when at least this many points are dead."""

    n_dead: int

    def __post_init__(self) -> None:
        """Check the number."""
        if isinstance(self.n_dead, bool) or not isinstance(self.n_dead, int):
            raise BadType(f"Iterations({self.n_dead!r}): give a whole number of dead points.")
        if self.n_dead < 1:
            raise BadInput(f"Iterations({self.n_dead}): give at least one dead point.")

    def reached(self, so_far: SoFar) -> bool:
        """See `Stop`."""
        return so_far.n_dead >= self.n_dead


def _check_share(owner: str, share: Any) -> None:
    if isinstance(share, bool) or not isinstance(share, int | float):
        raise BadType(f"{owner}({share!r}): give a number between 0 and 1.")
    if not 0.0 < share < 1.0:
        raise BadInput(f"{owner}({share}): give a share between 0 and 1.")


# -- the run ---------------------------------------------------------------------------------------------------------


class _Books:
    """What has died so far, batch by batch."""

    def __init__(self, n_live: int) -> None:
        self.n_live = n_live
        self.points: list[Points] = []
        self.ancestors: list[IntArray] = []
        self.alive: list[IntArray] = []
        self.ranks: list[IntArray] = []
        self.n_survivors: list[int] = []
        self.thresholds: list[float] = []
        self.moves: list[Replaced] = []
        self.log_x = 0.0
        self.log_dead = -np.inf

    def bury(self, points: Points, ancestors: IntArray) -> None:
        """Dead points in order of likelihood."""
        k = len(points.log_likelihood)
        alive = self.n_live - np.arange(k)
        log_x = self.log_x + log_volumes(alive)
        log_terms = points.log_likelihood + _log_steps(self.log_x, log_x)
        top = log_terms.max()
        if top > -np.inf:
            self.log_dead = float(np.logaddexp(self.log_dead, top + np.log(np.exp(log_terms - top).sum())))
        self.log_last = float(log_terms[-1])
        self.log_x = float(log_x[-1])
        self.points.append(points)
        self.ancestors.append(ancestors)
        self.alive.append(alive)

    def so_far(self, live: Points) -> SoFar:
        """For the rule that stops."""
        top = live.log_likelihood.max()
        mean = top + np.log(np.exp(live.log_likelihood - top).mean())
        n_dead = sum(len(part) for part in self.alive)
        return SoFar(n_dead, self.log_dead, float(mean + self.log_x), self.log_last)


def _log_steps(before: float, log_x: Array) -> Array:
    outer = np.concatenate([[before], log_x[:-1]])
    return outer + np.log(-np.expm1(log_x - outer))


def run_nested(
    model: Model, n_live: int, n_replaced: int, replacement: Replacement, stop: Stop, key: Key, loop: Loop
) -> NestedRun:
    """Nested sampling with `n_live` points of which `n_replaced` die at a time.

    Stopped by budget or Ctrl-C, it returns what it has, with `complete` False.
    """
    start = prior_draws(model, n_live, key.child("prior"), loop)
    live = Points(start.position, start.log_prior, start.log_likelihood)
    ancestors = np.arange(n_live)
    books = _Books(n_live)
    scale = replacement.first_scale(model.n_dimensions)
    complete = True
    try:
        while True:
            threshold = _threshold(live.log_likelihood, n_replaced)
            if threshold is None:  # one value left
                break
            here = key.child("batch", len(books.thresholds))
            dying = np.flatnonzero(live.log_likelihood <= threshold)
            dying = dying[np.argsort(live.log_likelihood[dying], kind="stable")]
            staying = np.flatnonzero(live.log_likelihood > threshold)
            survivors = live.take(staying)
            new = replacement.replace(model, survivors, threshold, len(dying), n_replaced, scale, here, loop)
            scale = new.scale
            # Nothing is written down before the replacements are there: a run stopped on the way is as it was before.
            books.bury(live.take(dying), ancestors[dying])
            books.thresholds.append(threshold)
            books.moves.append(new._replace(points=_NO_POINTS))
            books.ranks.append(_places(new.points.log_likelihood, survivors.log_likelihood, here))
            books.n_survivors.append(len(staying))
            beside = _beside_parents(len(staying), new.parent)
            live = Points(*(np.concatenate(pair)[beside] for pair in zip(survivors, new.points, strict=True)))
            ancestors = np.concatenate([ancestors[staying], np.where(new.parent < 0, -1, ancestors[staying][new.parent])])[beside]
            so_far = books.so_far(live)
            if stop.reached(so_far):
                break
            total = np.logaddexp(so_far.log_dead, so_far.log_live)
            left = np.exp(so_far.log_live - total)
            loop.stage(f"{so_far.n_dead:,} dead  log mass {books.log_x:.1f}  log Z so far {total:.3f}, {left:.0%} of it alive")
    except Stopped:
        complete = False
    finally:
        loop.end_stage()
    return _record(books, live, ancestors, complete)


_NO_POINTS = Points(np.empty((0, 0)), np.empty(0), np.empty(0))


def _threshold(log_likelihood: Array, n_replaced: int) -> float | None:
    """The likelihood up to which points die: that of the `n_replaced`-th, unless nobody would be left above it."""
    order = np.sort(log_likelihood)
    threshold = order[n_replaced - 1]
    if threshold == order[-1]:
        below = order[order < threshold]
        return float(below[-1]) if below.size else None
    return float(threshold)


def _beside_parents(n_survivors: int, parent: IntArray) -> IntArray:
    """The order of survivors and new points in which each new one stands next to the survivor that it started from.

    So relatives of every degree stay together, and can be kept out of what shapes each other's moves.
    """
    return np.argsort(np.concatenate([np.arange(n_survivors), np.where(parent < 0, n_survivors, parent)]), kind="stable")


def _places(new: Array, survivors: Array, key: Key) -> IntArray:
    """How many survivors lie below each new point; ties are broken by lot."""
    order = np.sort(survivors)
    low, high = np.searchsorted(order, new, side="left"), np.searchsorted(order, new, side="right")
    if (low == high).all():
        return low
    return key.child("ties").generator().integers(low, high + 1)


def _record(books: _Books, live: Points, ancestors: IntArray, complete: bool) -> NestedRun:
    order = np.argsort(live.log_likelihood, kind="stable")
    n_batches = len(books.thresholds)
    books.points.append(live.take(order))
    books.ancestors.append(ancestors[order])
    books.alive.append(books.n_live - np.arange(books.n_live))
    points = Points(*(np.concatenate(arrays) for arrays in zip(*books.points, strict=True)))
    alive = np.concatenate(books.alive)
    log_weight = points.log_likelihood + nested_log_weights(log_volumes(alive)) + np.log(len(alive))
    return NestedRun(
        log_likelihood=points.log_likelihood,
        n_alive=alive,
        ancestors=np.concatenate(books.ancestors),
        n_live=books.n_live,
        threshold=np.asarray(books.thresholds),
        n_survivors=np.asarray(books.n_survivors, dtype=np.int64),
        n_dead=np.asarray([len(part) for part in books.alive[:n_batches]], dtype=np.int64),
        insertion_rank=np.concatenate(books.ranks) if books.ranks else np.empty(0, dtype=np.int64),
        n_moves=np.asarray([move.n_moves for move in books.moves], dtype=np.int64),
        acceptance=np.asarray([move.acceptance for move in books.moves]),
        memory=np.asarray([move.memory for move in books.moves]),
        correlation=np.asarray([move.correlation for move in books.moves]),
        complete=complete,
        final=Draws(points.position, points.log_likelihood, points.log_prior, len(alive), log_weight),
    )
