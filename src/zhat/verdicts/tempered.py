"""Verdicts on a tempered run, for every estimator from it: its standard error, and whether the chains are in equilibrium.

Islands that never exchange states give independent answers, so their scatter gives a valid standard error. It is also a check:
where some chains are in regions that others do not reach, the islands' answers differ by more than each rung's own noise can
explain, however that noise is correlated between rungs.
"""

from __future__ import annotations

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.tempering import Sum, carried_se, genealogical_se, independent_islands_se, within_rungs_se
from zhat.numerics.weights import pareto_k
from zhat.results.estimate import Estimate, Status
from zhat.results.records import PathRun
from zhat.sampling.backend.loop import Stopped
from zhat.sampling.tempering.population import increments

# Islands needed for a standard error from their scatter.
MIN_ISLANDS = 8
# Above this ratio the two standard errors contradict each other.
UNEQUAL_RATIO = 2.0
# Above this correlation of the log likelihoods with those at the start, chains have not reached equilibrium at a rung. A hundred
# chains distinguish it from noise, twenty a larger one; with fewer nothing is concluded, and the autocorrelation of long runs counts.
UNSETTLED, TELLING = 0.4, 100
STUCK, FEW = 0.9, 20
# Weights L^step of a likelihood that is bounded where the draws are have no tail: k below zero (at most 0.02 on the exact models,
# 0.26 to 0.8 on a likelihood with a pole).
SPIKE = 0.25
# Share of particles that no step moves: 4 % at a pole of the likelihood, 0.1 % at most on models whose evidence comes out right.
MAX_UNMOVED = 0.01
# In standard errors: how far apart two readings of the same draws may lie, and a slope from the variances at its ends.
MAX_Z = 5.0


def settled_run(record: object, reader: str) -> PathRun:
    """The record as a tempered run whose rungs can be averaged over, or an error that states why it is not one."""
    if not isinstance(record, PathRun):
        raise BadType(
            f"{reader} reads a PathRun, not a {type(record).__name__}: give the result of zhat.SMC(), zhat.PowerPosterior() or zhat.SteppingStone()."
        )
    if not record.settled:
        raise BadInput(
            f"{reader}: the draws of an annealed importance sampling rung follow their distribution only with weights; give a run of "
            "zhat.SMC(), zhat.PowerPosterior() or zhat.SteppingStone()."
        )
    if not record.complete:
        raise BadInput(
            f"{reader}: the run ended at inverse temperature {record.betas[-1]:.3g} of 1 and has no evidence; run it to its end."
        )
    return record


def unfinished(run: PathRun, why: Stopped) -> Estimate:
    """The failed estimate of a run that was stopped: the steps between its rungs, and one from the last rung to the posterior."""
    n = len(run.log_likelihood)
    if n == 0:
        return Estimate(np.nan, None, Status.failed(why.code, f"no evidence yet: {why}."), record=run)
    steps = np.diff([*run.betas[:n], 1.0])
    value = sum(log_mean_exp(step * rung.ravel()) for step, rung in zip(steps, run.log_likelihood, strict=True))
    sentence = (
        f"the run did not come to its end: {why}. The number is that of the rungs up to inverse temperature {run.betas[n - 1]:.3g}, which are in "
        "the record, and of one step from there to 1, most often too low."
    )
    return Estimate(float(value), None, Status.failed(why.code, sentence), record=run)


def sum_se(run: PathRun, total: Sum) -> tuple[float, float]:
    """The standard error of a sum over this run's draws, and its degrees of freedom."""
    if run.n_islands >= MIN_ISLANDS:
        return independent_islands_se(total.influence, run.n_islands)
    if run.resampled:
        ancestors = run.ancestors[: len(total.influence)]
        return max(carried_se(total.influence, run.memory), genealogical_se(total.influence, ancestors)), float("inf")
    return within_rungs_se(total.influence), float("inf")


def chains_status(run: PathRun, total: Sum, remedy: str) -> Status:
    """Whether the chains moved, and whether their islands agree."""
    status = Status.ok()
    n = run.log_likelihood[-1].shape[1]
    limit = UNSETTLED if n >= TELLING else STUCK if n >= FEW else np.inf
    if run.memory.max() > limit or run.acceptance.min() < 0.01:
        worst = int(np.argmax(run.memory))
        status = status.and_(
            Status.suspect(
                "stuck",
                f"at inverse temperature {run.betas[worst]:.3g} the chains' log likelihoods still had correlation "
                f"{run.memory[worst]:.2f} with their values {run.n_moves[worst]} moves before (lowest acceptance rate "
                f"{run.acceptance.min():.2f}): {remedy}.",
            )
        )
    status = status.and_(straggler_status(run)).and_(_underflow_status(run))
    scatter, _ = sum_se(run, total)
    explained = carried_se(total.influence, run.memory)
    if explained > 0.0 and scatter > UNEQUAL_RATIO * explained:
        status = status.and_(
            Status.suspect(
                "unequal-chains",
                f"the islands' own answers scatter {scatter / explained:.1f} times more than the noise at each rung explains (flagged from "
                f"{UNEQUAL_RATIO:.0f}): some chains are in regions that others do not reach; use zhat.SMC(), which moves weight between "
                f"them, or {remedy}.",
            )
        )
    return status


def _underflow_status(run: PathRun) -> Status:
    """Whether conditionals drew points with zero likelihood, above the prior."""
    shares = [float(np.mean(np.isneginf(rung))) for rung in run.log_likelihood[1:]]
    if not any(shares):
        return Status.ok()
    worst = int(np.argmax(shares))
    return Status.suspect(
        "underflow",
        f"at inverse temperature {run.betas[1 + worst]:.3g} {shares[worst]:.1%} of the states that conditionals drew have zero "
        "likelihood: their numbers underflow, mostly because a prior is too vague for floating point; tighten it.",
    )


def straggler_status(run: PathRun) -> Status:
    """Whether steps of no length move some particles: the target has structure far finer than the population resolves."""
    if run.idle is None or run.idle.max() <= MAX_UNMOVED:
        return Status.ok()
    worst = int(np.argmax(run.idle))
    return Status.suspect(
        "idle",
        f"at inverse temperature {run.betas[worst]:.3g} {run.idle[worst]:.1%} of the particles could not be moved, not even by much "
        f"shorter steps (flagged above {MAX_UNMOVED:.0%}): the likelihood has a spike or ridge far narrower than the rest, whose share is "
        "not known; plot the likelihood there, or bound it.",
    )


def forward_pareto_k(run: PathRun) -> float:
    """The largest Pareto k of the weights from each rung to the next."""
    steps = np.diff(run.betas)
    indices = [pareto_k(increments(rung, step).ravel()) for rung, step in zip(run.log_likelihood, steps, strict=False)]
    return float(max(indices))


def reverse_pareto_k(run: PathRun) -> float:
    """The largest Pareto k of the weights from each rung to the one before."""
    steps = np.diff(run.betas)
    rungs = zip(run.log_likelihood[1:], steps, strict=False)
    indices = [pareto_k(-step * rung.ravel()) if np.isfinite(rung).all() else np.inf for rung, step in rungs]
    return float(max(indices, default=-np.inf))


def spike_status(forward_k: float) -> Status:
    """Whether the draws have resolved the likelihood's peaks."""
    if forward_k < SPIKE:
        return Status.ok()
    return Status.suspect(
        "spike",
        f"the weights from one rung to the next have Pareto k = {forward_k:.2f} (flagged from {SPIKE}): the likelihood has a spike "
        "that the chains have not resolved; take more chains, or plot the spike.",
    )


def agreement_status(run: PathRun, difference: Sum, allowed: float, names: tuple[str, str], remedy: str) -> tuple[Status, float]:
    """Whether two readings of the same draws agree, and their difference in its standard errors.

    They are strongly correlated, so the standard error of their difference may be tiny: `allowed`, the reported standard error,
    is added to it.
    """
    se, _ = sum_se(run, difference)
    z = difference.value / se if se > 0.0 else 0.0
    if abs(difference.value) <= MAX_Z * se + allowed:
        return Status.ok(), z
    return Status.suspect(
        "readings-differ",
        f"{names[0]} and {names[1]} of the same draws differ by {difference.value:+.3f}, {abs(z):.1f} standard errors: the rungs are too "
        f"far apart, or some are not in equilibrium; {remedy}.",
    ), z
