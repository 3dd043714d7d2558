"""What a tempered run says of itself, whichever sum reads it: its error, and whether the chains can be believed.

Islands that never met give independent answers, so their scatter is an honest error. It is also a witness: where chains sit in
places that others do not come to, the islands' answers differ by more than each rung's own noise can explain, however that noise
is carried from rung to rung.
"""

from __future__ import annotations

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.numerics.tempering import Sum, carried_se, genealogical_se, independent_islands_se, within_rungs_se
from zhat.numerics.weights import pareto_k
from zhat.results.estimate import Estimate, Status
from zhat.results.records import PathRun
from zhat.sampling.backend.loop import Stopped
from zhat.sampling.tempering.population import increments

# Islands needed before their scatter is an error.
MIN_ISLANDS = 8
# Above this ratio the two errors contradict each other.
UNEQUAL_RATIO = 2.0
# Above this correlation of the log likelihoods with where they began, chains have not settled at a rung. Told from noise by a
# hundred chains at least; a larger one by twenty; fewer chains say nothing, and have the autocorrelation of their long runs.
UNSETTLED, TELLING = 0.4, 100
STUCK, FEW = 0.9, 20
# Weights L^step of a likelihood that is bounded where the draws are have no tail: k below zero (at most 0.02 on the exact models,
# 0.26 to 0.8 on a likelihood with a pole).
SPIKE = 0.25
# Share of particles that nothing moves: 4 % at a pole of the likelihood, 0.1 % at most on models whose evidence comes out right.
MAX_IDLE = 0.01
# In errors: how far two readings of the same draws may lie apart, and a slope from the variances at its ends.
MAX_Z = 5.0


def settled_run(record: object, reader: str) -> PathRun:
    """The record as a tempered run whose rungs can be averaged over, or a sentence that says why it is not one."""
    if not isinstance(record, PathRun):
        raise BadType(
            f"{reader} reads a PathRun, not a {type(record).__name__}: give the result of SMC, PowerPosterior or SteppingStone."
        )
    if not record.settled:
        raise BadInput(
            f"{reader}: the rungs of annealed importance sampling stand for their distributions only with weights; give a run of "
            "SMC, PowerPosterior or SteppingStone."
        )
    if not record.complete:
        raise BadInput(f"{reader}: the run ended at beta = {record.betas[-1]:.3g} of 1 and has no evidence; run it to its end.")
    return record


def unfinished(run: PathRun, why: Stopped) -> Estimate:
    """What a run that was stopped hands over."""
    sentence = f"no evidence yet, the rungs up to beta = {run.betas[-1]:.3g} of 1 are in the record: {why}."
    return Estimate(np.nan, None, status=Status.failed(why.code, sentence), no_se_because=sentence, record=run)


def sum_se(run: PathRun, total: Sum) -> tuple[float, float]:
    """The error of a sum over this run's draws, and its degrees of freedom."""
    if run.n_islands >= MIN_ISLANDS:
        return independent_islands_se(total.influence, run.n_islands)
    if run.resampled:
        ancestors = run.ancestors[: len(total.influence)]
        return max(carried_se(total.influence, run.memory), genealogical_se(total.influence, ancestors)), float("inf")
    return within_rungs_se(total.influence), float("inf")


def chains_status(run: PathRun, total: Sum, remedy: str) -> Status:
    """Whether the chains moved, and whether they tell the same story."""
    status = Status.ok()
    n = run.log_likelihood[-1].shape[1]
    limit = UNSETTLED if n >= TELLING else STUCK if n >= FEW else np.inf
    if run.memory.max() > limit or run.acceptance.min() < 0.01:
        worst = int(np.argmax(run.memory))
        status = status.and_(
            Status.suspect(
                "stuck",
                f"at beta = {run.betas[worst]:.3g} the log likelihoods still had correlation {run.memory[worst]:.2f} with where "
                f"the chains began after {run.n_moves[worst]} moves (acceptance {run.acceptance.min():.2f} at worst): {remedy}.",
            )
        )
    status = status.and_(idle_status(run)).and_(_underflow_status(run))
    scatter, _ = sum_se(run, total)
    explained = carried_se(total.influence, run.memory)
    if explained > 0.0 and scatter > UNEQUAL_RATIO * explained:
        status = status.and_(
            Status.suspect(
                "unequal-chains",
                f"the islands' own answers scatter {scatter / explained:.1f} times more than the noise at each rung explains: "
                f"some sit where the others do not come; use SMC, which moves weight between them, or {remedy}.",
            )
        )
    return status


def _underflow_status(run: PathRun) -> Status:
    """Whether conditionals drew, above the prior, what the likelihood has for impossible."""
    shares = [float(np.mean(np.isneginf(rung))) for rung in run.log_likelihood[1:]]
    if not any(shares):
        return Status.ok()
    worst = int(np.argmax(shares))
    return Status.suspect(
        "underflow",
        f"at beta = {run.betas[1 + worst]:.3g} {shares[worst]:.1%} of the states that conditionals drew have likelihood zero: "
        "their numbers underflow, mostly because a prior is too vague for floating point; tighten it.",
    )


def idle_status(run: PathRun) -> Status:
    """Whether some particles stand where no step of any length moves them: structure far finer than the population."""
    if run.idle is None or run.idle.max() <= MAX_IDLE:
        return Status.ok()
    worst = int(np.argmax(run.idle))
    return Status.suspect(
        "idle",
        f"at beta = {run.betas[worst]:.3g} {run.idle[worst]:.1%} of the particles could not be moved, not even by much shorter "
        "steps: the likelihood has a spike or ridge far narrower than the rest, and its share is not known; look at it, or bound "
        "it.",
    )


def forward_pareto_k(run: PathRun) -> float:
    """The largest tail index of the weights from each rung to the next."""
    steps = np.diff(run.betas)
    found = [pareto_k(increments(rung, step).ravel()) for rung, step in zip(run.log_likelihood, steps, strict=False)]
    return float(max(found))


def reverse_pareto_k(run: PathRun) -> float:
    """The largest tail index of the weights from each rung to the one before."""
    steps = np.diff(run.betas)
    rungs = zip(run.log_likelihood[1:], steps, strict=False)
    found = [pareto_k(-step * rung.ravel()) if np.isfinite(rung).all() else np.inf for rung, step in rungs]
    return float(max(found, default=-np.inf))


def spike_status(forward_k: float) -> Status:
    """Whether the draws have met all there is of the likelihood's peaks."""
    if forward_k < SPIKE:
        return Status.ok()
    return Status.suspect(
        "spike",
        f"the weights from one rung to the next have Pareto k = {forward_k:.2f}: the likelihood has a spike that the chains have "
        "not resolved; take more chains, or look at the spike.",
    )


def agreement_status(run: PathRun, difference: Sum, allowed: float, names: tuple[str, str], remedy: str) -> tuple[Status, float]:
    """Whether two readings of the same draws agree, and by how many errors of their difference not.

    They are much alike, so the error of their difference may be tiny: what is `allowed`, the error that is reported anyway, is
    granted on top of it.
    """
    se, _ = sum_se(run, difference)
    z = difference.value / se if se > 0.0 else 0.0
    if abs(difference.value) <= MAX_Z * se + allowed:
        return Status.ok(), z
    return Status.suspect(
        "readings-differ",
        f"{names[0]} and {names[1]} of the same draws differ by {difference.value:+.3f}, {abs(z):.1f} times their error: the "
        f"rungs are too far apart, or some have not settled; {remedy}.",
    ), z
