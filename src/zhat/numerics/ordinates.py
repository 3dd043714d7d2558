"""The log of a density at a point, from averages over several runs; what Chib's two methods share.

    log p(θ*) = Σ_j log mean(up_j) - Σ_j log mean(down_j)

Run j (the full run, then the reduced ones) gives the average up_j and, where the densities come from Metropolis-Hastings
output, the average down_{j-1} as well. Averages over one run are correlated, runs are not, so the error goes run by run: a
draw's influence on the answer is

    g_j = up_j / mean(up_j) - down_{j-1} / mean(down_{j-1})

and the squared error is the sum over runs of the variance of the mean of g_j, sd(g_j)² / ESS(g_j), with the effective number
of the influences themselves (the delta method with the long-run covariance of the vector of averages). The same sum over
the differences of two points' influences is the squared error of the difference of two answers, which share draws.

When it lies: as averages along chains do, where the chains have not been.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import FloatArray
from zhat.numerics.series import effective_sample_size, newey_west_covariance


@dataclass(frozen=True)
class Ordinates:
    """Log densities at P points, and how well they are known.

    Attributes
    ----------
    log_density, se : (P,) arrays
    difference_se : (P,) array
        Standard error of the difference of each point's answer from the first one's.
    ess : (P,) array
        Effective number of the run whose influences have the smallest.
    newey_west_se : float
        The first point's error with the Bartlett weights of Newey & West (1987) in the place of the effective number; too
        small where the chains are sticky.
    """

    log_density: FloatArray
    se: FloatArray
    difference_se: FloatArray
    ess: FloatArray
    newey_west_se: float


def ordinates(n_points: int, up: Sequence[ArrayLike], down: Sequence[ArrayLike] = ()) -> Ordinates:
    """Log densities at P points from the logs of what is averaged.

    Parameters
    ----------
    n_points : int
        P.
    up : sequence of arrays (P, n_chains, n_draws)
        Logs, finite or -inf; entry j was made on run j. Without any, the densities are one: nothing is averaged.
    down : sequence of arrays (P, n_chains, n_draws)
        Logs; entry j was made on run j + 1, on the same draws as ``up[j + 1]`` if there is one.
    """
    n_runs = max(len(up), len(down) + 1 if down else 0)
    log_density = np.zeros(n_points)
    influences: list[FloatArray] = []
    for run in range(n_runs):
        parts = []
        if run < len(up):
            value, relative = _log_mean(up[run])
            log_density += value
            parts.append(relative)
        if 0 < run <= len(down):
            value, relative = _log_mean(down[run - 1])
            log_density -= value
            parts.append(-relative)
        influences.append(np.sum(parts, axis=0))
    squared, difference, ess = np.zeros(n_points), np.zeros(n_points), np.full(n_points, math.inf)
    for influence in influences:
        for p in range(n_points):
            variance, size = _variance_of_mean(influence[p])
            squared[p] += variance
            ess[p] = min(ess[p], size)
            difference[p] += _variance_of_mean(influence[p] - influence[0])[0]
    bartlett = sum(_newey_west_variance(influence[0]) for influence in influences)
    return Ordinates(log_density, np.sqrt(squared), np.sqrt(difference), ess, math.sqrt(bartlett))


def _log_mean(logs: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Log mean over chains and draws, point by point, and the values divided by the mean (zeros where all are)."""
    values = np.asarray(logs, dtype=np.float64)
    top = values.max(axis=(1, 2), keepdims=True)
    alive = np.isfinite(top)
    relative = np.exp(np.where(alive, values - np.where(alive, top, 0.0), -np.inf))
    mean = relative.mean(axis=(1, 2), keepdims=True)
    with np.errstate(divide="ignore"):
        log_mean = np.where(alive, top + np.log(mean), -np.inf)[:, 0, 0]
    return log_mean, relative / np.where(mean > 0.0, mean, 1.0)


def _variance_of_mean(chains: FloatArray) -> tuple[float, float]:
    """Variance of the mean of correlated chains, and their effective number."""
    size = effective_sample_size(chains)
    return float(np.var(chains, ddof=1)) / size, size


def _newey_west_variance(chains: FloatArray) -> float:
    """The same with Bartlett weights: chains one after another, each about the common mean."""
    long_run = [newey_west_covariance(chain - chains.mean())[0, 0] for chain in chains]
    return float(np.mean(long_run)) / chains.size
