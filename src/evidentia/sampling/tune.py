"""Tuning from weighted draws: where they are, how they are shaped; used by chains and populations alike."""

from __future__ import annotations

import numpy as np

from evidentia.records import Array
from evidentia.sampling.kernels._base import Tuning


def fit_tuning(position: Array, weights: Array, scale: float) -> Tuning:
    """Mean and covariance of weighted draws as a `Tuning`.

    The covariance is drawn toward its diagonal by d / (d + ESS), so that few draws in many dimensions still give a
    usable shape; a coordinate that does not vary keeps a tiny width instead of none.
    """
    d = position.shape[1]
    weights = weights / weights.sum()
    mean = weights @ position
    centred = position - mean
    covariance = (centred * weights[:, None]).T @ centred
    ess = 1.0 / float(weights @ weights)
    shrink = d / (d + ess) if d > 1 else 0.0
    variance = np.diag(covariance).copy()
    floor = max(1e-20, 1e-12 * float(variance.max(initial=0.0)))
    variance = np.maximum(variance, floor)
    covariance = (1.0 - shrink) * covariance
    np.fill_diagonal(covariance, variance)
    return tuning_of(mean, covariance, scale)


def side_by_side(tunings: list[Tuning]) -> Tuning:
    """One tuning for points in blocks, from one for each block; the scale is the first one's."""
    mean, factor, inverse = (np.concatenate([tuning[i] for tuning in tunings]) for i in range(3))
    return Tuning(mean, factor, inverse, tunings[0].scale)


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
