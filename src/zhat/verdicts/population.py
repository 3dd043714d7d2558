"""The verdict on an estimate from a resampled population: its moves, its weights, and whether two standard errors agree."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincc

from zhat.results.estimate import Status
from zhat.results.records import PathRun
from zhat.sampling.tempering.path_sums import PathSums
from zhat.verdicts.tempered import straggler_status
from zhat.verdicts.weights import MAX_PARETO_K

# With fewer ancestors the variance between runs cannot be estimated.
MIN_ANCESTORS = 20
# Above this ratio the two standard errors contradict each other (measured on well-mixing and multimodal models: 0.8 to 1.2).
UNEQUAL_RATIO = 2.0
# Significance level of the test that the islands scatter more than their standard errors.
SCATTER_CHANCE = 1e-5
# Standard errors below this share of the log evidence are rounding.
ROUNDING = 1e-12
# Above this correlation with their starts the particles have hardly moved at some rung.
STUCK = 0.9


def population_status(run: PathRun, sums: PathSums, genealogical: float, n_ancestors: int) -> Status:
    """Whether the particles moved, and whether their descent, their islands and their weights agree with the standard error."""
    status, larger = Status.ok(), f"zhat.SMC(n_particles={2 * run.log_likelihood[0].shape[1]})"
    if sums.se <= ROUNDING * abs(sums.log_evidence):
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
