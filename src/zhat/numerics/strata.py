"""Importance sampling from a mixture whose components have fixed numbers of draws: the mean weight and its standard error.

With N_s draws from component s of N in all, and weights w = L / g with g the density of the whole mixture,

    log Ẑ = log( Σ w / N ),      Var(Ẑ) = (1/N²) Σ_s N_s Var_s(w),

where Var_s is the variance among the draws of component s alone: differences between the means of the components are no error,
because the numbers of draws are not random (Owen & Zhou 2000).

When it lies: as every mean of weights, when the draws that carry the variance are not in it. See `weights.pareto_k`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import log_weight_vector
from zhat.numerics.logspace import log_sum_exp


def stratified_log_mean(log_weights: ArrayLike, stratum: ArrayLike) -> tuple[float, float]:
    """Log of the mean weight and its standard error by the delta method.

    Parameters
    ----------
    log_weights : array_like, shape (n,)
        Finite or -inf.
    stratum : array_like of int, shape (n,)
        The component that each draw came from, counted from 0.

    Returns
    -------
    pair of float
        The standard error is infinite when all weights are zero, or when a component with a positive weight has one draw.
    """
    values = log_weight_vector(log_weights)
    groups = np.asarray(stratum, dtype=np.int64)
    if groups.shape != values.shape:
        raise ValueError(f"stratum has shape {groups.shape}: one component for each of the {values.size} weights is expected.")
    log_mean = log_sum_exp(values) - math.log(values.size)
    if np.isneginf(log_mean):
        return log_mean, math.inf
    relative = np.exp(values - log_mean)
    numbers = np.bincount(groups)
    sums, squares = np.bincount(groups, weights=relative), np.bincount(groups, weights=relative**2)
    if ((numbers == 1) & (sums > 0.0)).any():
        return log_mean, math.inf
    several = numbers > 1
    within = np.maximum(squares[several] - sums[several] ** 2 / numbers[several], 0.0)
    variance = float(np.sum(within * numbers[several] / (numbers[several] - 1.0)))
    return log_mean, math.sqrt(variance) / values.size
