"""From visits to models: odds, averages and their errors, for chains that jump between models.

Chains of a reversible jump sampler spend in model k a share of the time proportional to exp(b_k) Z_k, where b_k is what the
sampler added to the log density so that it jumps often. The evidences' ratios, and with prior probabilities P_k everything else,
follow by taking b_k away:

    Z_i / Z_j = (n_i / n_j) exp(b_j - b_i),        P(k | y)  ∝  P_k n_k exp(-b_k).

*Errors* come from the scatter between chains that are independent of each other: each is a ratio of sums over chains, linearised
(delta method), with as many degrees of freedom as there are chains less one. They hold whatever the correlation within a chain,
if chains are long against it; `disagreement` tests that. For two models the same standard error follows from the number of switches
alone, about sqrt(2 / switches) from one of them to the other (`switching_se`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import fdtrc

from zhat.numerics._checks import FloatArray


def log_odds(visits: ArrayLike, boost: ArrayLike, i: int, j: int) -> tuple[float, float]:
    """log Z_i / Z_j from visits (chains, models), and its standard error; infinite when one of them was never visited."""
    n, b = np.asarray(visits, np.float64), np.asarray(boost, np.float64)
    first, second = n[:, i].sum(), n[:, j].sum()
    if first == 0.0 or second == 0.0:
        return (math.nan if first == second else math.inf if second == 0.0 else -math.inf), math.inf
    pull = n[:, i] / first - n[:, j] / second  # what each chain moves the log ratio by
    return math.log(first / second) - float(b[i] - b[j]), math.sqrt(float(np.sum(pull**2)) * len(n) / (len(n) - 1))


def mean_over_models(visits: ArrayLike, log_correction: ArrayLike, values: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The posterior mean of a quantity with one value a model, (models, ...), and its standard error.

    `log_correction` is what turns visits into posterior mass: log prior less boost.
    """
    n, c = np.asarray(visits, np.float64), np.asarray(log_correction, np.float64)
    v = np.asarray(values, np.float64)
    mass = n * np.exp(c - c[n.sum(axis=0) > 0].max())
    mass[:, n.sum(axis=0) == 0] = 0.0
    total = mass.sum(axis=1)
    top = np.tensordot(mass, v, 1)
    mean = top.sum(axis=0) / total.sum()
    off = (top - np.multiply.outer(total, mean)) / total.sum()
    return np.asarray(mean), np.asarray(np.sqrt(np.sum(off**2, axis=0) * len(n) / (len(n) - 1)))


def switching_se(n_first: float, n_second: float, n_there: float, n_back: float) -> float:
    """Error of the log odds of two models from the counts of a chain of their names: visits, and switches each way.

    For a two-state Markov chain with switching rates a and b, sqrt((1 - a) / (n_1 a) + (1 - b) / (n_2 b)).
    """
    if min(n_first, n_second, n_there, n_back) <= 0:
        return math.inf
    a, b = min(n_there / n_first, 1.0), min(n_back / n_second, 1.0)
    return math.sqrt((1.0 - a) / (n_first * a) + (1.0 - b) / (n_second * b))


def entries(index: NDArray[np.int64], n_models: int) -> NDArray[np.int64]:
    """How often each chain came into each model from another, (chains, models), from names in time order (moves, chains)."""
    came = index[1:] != index[:-1]
    found = np.zeros((index.shape[1], n_models), np.int64)
    np.add.at(found, (np.broadcast_to(np.arange(index.shape[1]), came.shape)[came], index[1:][came]), 1)
    return found


def disagreement(batches: ArrayLike) -> float:
    """Chance that chains which agree scatter as these do: the smallest over models, times their number.

    `batches` holds shares of the visits, (batches in time, chains, models). The variance between chains is held against that
    between the batches of one chain (an F test). Chains too short for their batches to be independent fail it as well: as they
    should.
    """
    x = np.asarray(batches, np.float64)
    n_batches, n_chains, _ = x.shape
    between = x.mean(axis=0).var(axis=0, ddof=1)
    within = x.var(axis=0, ddof=1).mean(axis=0) / n_batches
    moving = (between > 0.0) | (within > 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(within > 0.0, between / within, np.inf)[moving]
    if ratio.size == 0:
        return 1.0
    chance = fdtrc(n_chains - 1, n_chains * (n_batches - 1), ratio)
    return float(min(1.0, chance.min() * ratio.size))


def hotelling(shares: ArrayLike, expected: ArrayLike) -> tuple[float, int, int, float]:
    """Do the means of independent rows (chains, features) equal what is expected? F statistic, its two df, and the chance.

    Hotelling's T-squared with the rows' own covariance, so that correlation in time within a chain is accounted for.
    """
    x = np.asarray(shares, np.float64) - np.asarray(expected, np.float64)
    n, k = x.shape
    if n <= k + 1:
        raise ValueError(f"shares has {n} rows for {k} features: at least {k + 2} independent rows are needed.")
    still = np.ptp(x, axis=0) == 0.0
    if (
        still.any()
    ):  # a share that never varies (a model of no prior mass) has no variance: right values agree exactly, any other disagrees
        if np.abs(x[:, still]).max() > 1e-12:
            return math.inf, k, n - k, 0.0
        if still.all():
            return 0.0, k, n - k, 1.0
        return hotelling(x[:, ~still], np.zeros(int(k - still.sum())))
    mean, covariance = x.mean(axis=0), np.atleast_2d(np.cov(x.T))
    squared = n * float(mean @ np.linalg.solve(covariance, mean))
    statistic = squared * (n - k) / (k * (n - 1))
    return statistic, k, n - k, float(fdtrc(k, n - k, statistic))
