"""How many moves points make: until they are hardly correlated with their starts. The one place that decides it.

Moves end when the correlation between start and present, over every coordinate and a summary of the likelihood, is below a limit.
Points in separate modes stay in their modes, and a correlation remains: so moves also end when that of the likelihood is below
the limit and the last few calls hardly changed that of the coordinates. (Descendants of a point then stay in its mode, which the
genealogical standard error includes.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from zhat.errors import BadInput
from zhat.kinds import checked_kinds
from zhat.results.records import Array
from zhat.sampling.tuning import Tuning

# A call changes hardly anything when the remaining correlation is more than this fraction of the earlier one.
HARDLY = 0.9


@dataclass(frozen=True)
@checked_kinds
class Moves:
    """How long to move: `at_once` moves a call, until the correlation with the start is below `correlation`; at most `at_most`."""

    correlation: float = 0.2
    at_once: int = 4
    at_most: int = 40

    def __post_init__(self) -> None:
        """Check the three numbers."""
        if not 0.0 < self.correlation < 1.0:
            raise BadInput(f"Moves(correlation={self.correlation}): give a correlation between 0 and 1.")
        if self.at_once < 1 or self.at_most < self.at_once:
            raise BadInput(f"Moves(at_once={self.at_once}, at_most={self.at_most}): needs 1 <= at_once <= at_most.")


@dataclass(frozen=True)
class Stalling:
    """After how many calls without a change moves end: `calls`, or as many as make `moves` moves, whichever is more."""

    calls: int
    moves: float

    def back(self, at_once: int) -> int:
        """How many calls back to compare with."""
        return 1 + max(self.calls, math.ceil(self.moves / at_once))


# Rungs of a tempered path lie close together: eight moves without a change are enough.
BETWEEN_RUNGS = Stalling(calls=0, moves=8)


def within_threshold(n_dimensions: int) -> Stalling:
    """For moves above a likelihood threshold: three calls, and in many dimensions a move for every two of them.

    In a hundred dimensions correlations fall so slowly there that sixteen moves change little (mistaken for separate modes, this
    biased the evidence by two nats).
    """
    return Stalling(calls=3, moves=0.5 * n_dimensions)


class Centred(NamedTuple):
    """White coordinates of some points and a summary of their likelihoods, (n, d + 1), less their means; root sums of squares."""

    values: Array
    size: Array


def centred(tuning: Tuning, position: Array, summary: Array, n_most: int | None = None) -> Centred:
    """Points as `correlations` compares them: at most `n_most` of them, as many from each block of the tuning."""
    k, d = tuning.mean.shape
    some = len(summary) // k if n_most is None else min(-(-n_most // k), len(summary) // k)
    values = np.empty((k, some, d + 1))
    with np.errstate(over="ignore", invalid="ignore"):  # a log likelihood of -1e300 for zero: correlated with nothing
        values[..., :d] = tuning.whiten(position.reshape(k, -1, d)[:, :some]).reshape(k, some, d)
        values[..., d] = summary.reshape(k, -1)[:, :some]
        values = values.reshape(-1, d + 1)
        total = np.ones(len(values)) @ values  # a fraction of the time of a sum over the first axis
        if not np.isfinite(total).all():  # draws from conditionals may underflow
            values = np.where(np.isfinite(values), values, 0.0)
            total = values.sum(axis=0)
        values -= total / len(values)
        size = np.sqrt(np.einsum("ij,ij->j", values, values))
    return Centred(values, np.where(np.isfinite(size), size, 0.0))


def correlations(before: Centred, after: Centred) -> tuple[float, float]:
    """Correlations between the points' start and now: the largest of all, and that of the likelihood's summary."""
    product = np.einsum("ij,ij->j", before.values, after.values)
    # A constant has correlation zero.
    varies = (before.size > 1e-12) & (after.size > 1e-12)
    correlation = np.divide(product, before.size * after.size, out=np.zeros_like(product), where=varies)
    return float(correlation.max()), float(max(correlation[-1], 0.0))


def decorrelated(left: list[float], memory: float, moves: Moves, stalling: Stalling) -> bool:
    """Whether points have moved enough: the correlation is below the limit, or further moves would not reduce it.

    `left` is the largest correlation left after each call, `memory` that of the likelihood after the last one.
    """
    if not left:
        return False
    if left[-1] <= moves.correlation:
        return True
    back = stalling.back(moves.at_once)
    return memory <= moves.correlation and len(left) > back and left[-1] > HARDLY * left[-back]


def ranks(values: Array) -> Array:
    """Places in order of size; equal values share the mean of theirs."""
    order = np.argsort(values)
    rank = np.empty(len(values))
    rank[order] = np.arange(len(values))
    ordered = values[order]
    if (ordered[1:] > ordered[:-1]).all():
        return rank
    twice = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right") - 1
    return np.asarray(0.5 * twice, dtype=np.float64)
