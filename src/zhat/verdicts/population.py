"""Estimates from a resampled population: log evidence, two standard errors, and a verdict on both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc

from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.tempering import carried_error
from zhat.numerics.weights import pareto_k
from zhat.results.estimate import Status
from zhat.results.records import Array, PathRun
from zhat.sampling.tempering.population import increments
from zhat.verdicts.tempered import straggler_status
from zhat.verdicts.weights import MAX_PARETO_K

# With fewer ancestors the variance between runs cannot be estimated.
MIN_ANCESTORS = 20
# Above this ratio the two standard errors contradict each other (measured on well-mixing and multimodal models: 0.8 to 1.2).
UNEQUAL_RATIO = 2.0
# Significance level of the test that the islands scatter more than their standard errors.
SCATTER_CHANCE = 1e-5
# Above this correlation with their starts the particles have hardly moved at some rung.
STUCK = 0.9


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


def population_status(run: PathRun, sums: PathSums, genealogical: float, n_ancestors: int) -> Status:
    """Whether the particles moved, and whether their descent, their islands and their weights agree with the standard error."""
    status, larger = Status.ok(), f"zhat.SMC(n_particles={2 * run.log_likelihood[0].shape[1]})"
    if sums.se == 0.0:
        return status  # a constant likelihood: one exact step
    if sums.worst_pareto_k >= MAX_PARETO_K:
        status = status.and_(
            Status.suspect(
                "pareto-k",
                f"the weights of a rung have Pareto k = {sums.worst_pareto_k:.2f} (flagged from {MAX_PARETO_K}): the likelihood has a "
                "spike that the particles have not resolved, and the average may depend on it; take more particles, "
                f"{larger}, or plot the spike.",
            )
        )
    if run.memory.max() > STUCK or run.acceptance.min() < 0.01:
        worst = int(np.argmax(run.memory))
        status = status.and_(
            Status.suspect(
                "stuck",
                f"at inverse temperature {run.betas[worst]:.3g} the particles' log likelihoods still had correlation "
                f"{run.memory[worst]:.2f} with their values {run.n_moves[worst]} moves before (lowest acceptance rate "
                f"{run.acceptance.min():.2f}): give zhat.SMC(moves=zhat.settings.Moves(at_most=...)) more, or another kernel, "
                "kernels=(zhat.kernels.HMC(),).",
            )
        )
    status = status.and_(straggler_status(run))
    if genealogical > UNEQUAL_RATIO * sums.se:
        status = status.and_(
            Status.suspect(
                "unequal-descent",
                f"the final weight is shared {genealogical / sums.se:.1f} times more unequally among the first particles' descendants "
                f"than the rungs' standard errors explain (flagged from {UNEQUAL_RATIO:.0f}): some particles are in regions that others "
                f"do not reach; take more particles, {larger}, and compare with zhat.Importance().",
            )
        )
    with np.errstate(invalid="ignore"):  # an island with zero likelihood everywhere has log evidence -inf: infinite scatter
        spread = np.nan_to_num(sums.islands.var(ddof=1), nan=np.inf)
    scatter = spread * (run.n_islands - 1) / (run.n_islands * max(sums.se, genealogical) ** 2)
    if gammaincc((run.n_islands - 1) / 2, scatter / 2) < SCATTER_CHANCE:
        status = status.and_(
            Status.suspect(
                "island-scatter",
                f"the islands' own log evidences ({', '.join(f'{v:.2f}' for v in sums.islands)}) scatter more than the standard error "
                f"allows; take more particles: {larger}.",
            )
        )
    if n_ancestors < MIN_ANCESTORS:
        status = status.and_(
            Status.suspect(
                "few-ancestors",
                f"only {n_ancestors} of the first particles have descendants at the end (below {MIN_ANCESTORS} is flagged): too few to "
                f"tell how another run would vary; take more particles: {larger}.",
            )
        )
    if genealogical > 1.0:
        status = status.and_(
            Status.suspect(
                "large-error",
                f"the standard error is {genealogical:.2f} nats, above 1, where it is no longer that of a normal; take more particles: "
                f"{larger}.",
            )
        )
    return status
