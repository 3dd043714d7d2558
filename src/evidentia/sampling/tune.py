"""Tuning from weighted draws: where they are, how they are shaped; used by chains and populations alike."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np

from evidentia.records import Array
from evidentia.sampling.kernels._base import Tuning


def fit_tuning(position: Array, weights: Array, scale: float) -> Tuning:
    """Mean and covariance of weighted draws as a `Tuning`; see `Moments.tuning`."""
    centre = position.mean(axis=0)
    return Moments.of(position, weights, centre).tuning(centre, scale)


class Moments(NamedTuple):
    """Weighted sums about a common centre: those of several groups of draws are added to get those of all."""

    weight: float
    squared_weight: float
    first: Array
    second: Array

    @staticmethod
    def of(position: Array, weights: Array, centre: Array) -> Moments:
        """The sums of these draws."""
        centred = position - centre
        weighted = centred * weights[:, None]
        return Moments(float(weights.sum()), float(weights @ weights), weighted.sum(axis=0), weighted.T @ centred)

    def plus(self, other: Moments) -> Moments:
        """The sums of both groups."""
        return Moments(
            self.weight + other.weight,
            self.squared_weight + other.squared_weight,
            self.first + other.first,
            self.second + other.second,
        )

    def tuning(self, centre: Array, scale: float) -> Tuning:
        """Mean and covariance as a `Tuning`.

        The covariance is drawn toward its diagonal by d / (d + ESS), so that few draws in many dimensions still give a usable
        shape; a coordinate that does not vary keeps a tiny width instead of none.
        """
        d = len(centre)
        if not self.weight > 0.0:  # no possible draw to learn from: steps of unit size
            return tuning_of(centre, np.eye(d), scale)
        offset = self.first / self.weight
        covariance = self.second / self.weight - np.outer(offset, offset)
        ess = self.weight**2 / self.squared_weight
        shrink = d / (d + ess) if d > 1 else 0.0
        variance = np.diag(covariance).copy()
        variance = np.maximum(variance, max(1e-20, 1e-12 * float(variance.max(initial=0.0))))
        covariance = (1.0 - shrink) * covariance
        np.fill_diagonal(covariance, variance)
        return tuning_of(centre + offset, covariance, scale)


def side_by_side(tunings: list[Tuning]) -> Tuning:
    """One tuning for points in blocks, from one for each block; the scale is the first one's."""
    mean, factor, inverse = (np.concatenate([tuning[i] for tuning in tunings]) for i in range(3))
    return Tuning(mean, factor, inverse, tunings[0].scale)


def tune_on_others(groups: list[Moments], centre: Array) -> Tuning:
    """For each group, the tuning that all the other groups give it (its own, when it is alone)."""
    tunings = []
    for i in range(len(groups)):
        others = groups[:i] + groups[i + 1 :] or groups
        tunings.append(reduce(Moments.plus, others).tuning(centre, 1.0))
    return side_by_side(tunings)


def tuning_of(mean: Array, covariance: Array, scale: float) -> Tuning:
    """A `Tuning` from a mean and a covariance, which is made definite if rounding left it otherwise."""
    spread = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(spread, spread)
    jitter = 0.0
    while True:
        try:
            factor = np.linalg.cholesky(correlation + jitter * np.eye(len(mean)))
            break
        except np.linalg.LinAlgError:
            jitter = max(10.0 * jitter, 1e-12)
    factor = spread[:, None] * factor
    inverse = np.linalg.inv(factor)
    return Tuning(mean[None], factor[None], inverse[None], np.float64(scale))
