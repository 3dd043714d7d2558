"""Sums over a resampled path: its log evidence, and two standard errors of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.tempering import carried_error
from zhat.numerics.weights import pareto_k
from zhat.results.records import Array, PathRun
from zhat.sampling.tempering.population import increments


@dataclass(frozen=True)
class PathSums:
    """Log Z from a resampled run: over all islands, its rung-by-rung standard error, and island by island."""

    log_evidence: float
    se: float
    islands: Array
    worst_pareto_k: float


def path_sums(run: PathRun) -> PathSums:
    """Log evidence per island, their log mean, and the rung-by-rung standard error with the moves' memory."""
    islands = np.zeros(run.n_islands)
    spread, worst = [], -np.inf
    for k, log_likelihood in enumerate(run.log_likelihood):
        log_weights = increments(log_likelihood, run.betas[k + 1] - run.betas[k])
        m, n = log_weights.shape
        top = float(log_weights.max())
        weights = np.exp(log_weights - top)
        with np.errstate(divide="ignore"):
            islands += top + np.log(weights.reshape(m, run.n_islands, -1).mean(axis=(0, 2)))
        by_particle = weights.mean(axis=0)  # the states of one particle are one chain
        spread.append(float(by_particle.std(ddof=1) / (by_particle.mean() * np.sqrt(n))))
        worst = max(worst, pareto_k(log_weights.ravel()))
    return PathSums(float(log_mean_exp(islands)), carried_error(spread, run.memory), islands, float(worst))


def genealogical_se(run: PathRun, islands: Array) -> tuple[float, int]:
    """Standard error from how unequally the descendants of the first particles share the final weight; and their number.

    `islands` are the islands' log evidences, in proportion to which they share the final weight. What resampling's own rounding
    adds is taken off: a particle that deserves c copies gets floor(c) or one more, a variance of f (1 - f) with f the fraction
    of c, which is not due to the weights (Lee & Whiteley's correction, for systematic resampling).
    """
    last = increments(run.log_likelihood[-1], run.betas[-1] - run.betas[-2])
    weights = np.exp(last - last.max()).sum(axis=0).reshape(run.n_islands, -1)
    weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    island = np.exp(islands - islands.max())
    shares = (weights * (island / island.sum())[:, None]).ravel()
    n_first = run.log_likelihood[0].size
    by_ancestor = np.bincount(run.ancestors[-1], weights=shares, minlength=n_first)
    variance = ((by_ancestor - 1.0 / n_first) ** 2).sum() * n_first / (n_first - 1)
    return float(np.sqrt(max(variance - _rounding_variance(run), 0.0))), int((by_ancestor > 0).sum())


def _rounding_variance(run: PathRun) -> float:
    """Variance that systematic resampling adds to the sharing of the weight, summed over rungs."""
    total = 0.0
    for k in range(len(run.log_likelihood) - 1):
        log_weights = increments(run.log_likelihood[k], run.betas[k + 1] - run.betas[k])
        weights = np.exp(log_weights - log_weights.max()).reshape(len(log_weights), run.n_islands, -1)
        n_next = run.log_likelihood[k + 1].shape[1]
        sums = np.maximum(weights.sum(axis=(0, 2), keepdims=True), 1e-300)
        fraction = np.modf(weights / sums * (n_next // run.n_islands))[0]
        total += float((fraction * (1.0 - fraction)).sum()) / n_next**2
    return total
