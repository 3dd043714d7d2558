"""What an answer from posterior chains needs: chains that agree, enough draws for a fit, and two halves that tell the same."""

from __future__ import annotations

import math

from zhat.numerics.draws.bridge import SAME_ROOT, BothWays
from zhat.numerics.draws.reciprocal import BothHalves
from zhat.results.estimate import Status
from zhat.sampling.chains.neck import Neck
from zhat.sampling.chains.posterior import Chains
from zhat.verdicts.weights import MAX_PARETO_K, MIN_ESS

REMEDY = "use zhat.SMC(), which needs no posterior draws"
# Chains that mix show 1.01 at most; funnels, where the answer is wrong by a few hundredths of a nat, 1.03 and more.
MAX_R_HAT = 1.02
# Independent draws of one half for each dimension (`Chains.fit_ess`): a covariance of d^2 / 2 numbers fitted to fewer is too far from the
# posterior's for two halves to overlap.
FEWEST_PER_DIMENSION = 5.0
# Above this a standard error is no longer that of a normal (an effective sample size of 16).
MAX_SE = 0.25
# The terms of a bridge are bounded. Where none can exceed so many times their mean, a hundred effective ones have a normal mean
# whatever their tail index; beyond, the tail index decides as for other weights.
BOUNDED = 10.0
# Tail index of the slopes from which their variance may be infinite. Runs on E2, E4, E8 and E15n had 0.3 at most, at the draws and after short
# moves; those on a mixture with tied data, whose neck the chains miss, 0.37 to 0.64 at the draws and 0.58 and more after the moves.
NECK = 0.5
# Standard errors of their difference by which two answers that should agree may differ. Four: once in 16,000 runs.
APART = 4.0
# The same for the largest of the ten scores by which foreign draws show beside the proposal's; of right draws the largest in 180 runs was 4.3.
FOREIGN = 4.5


def chains_status(chains: Chains, n_dimensions: int) -> Status:
    """Whether the chains agree and have enough draws for a density to be fitted to half of them."""
    status = Status.ok()
    if chains.r_hat > MAX_R_HAT:
        status = status.and_(
            Status.suspect(
                "chains-disagree",
                f"the chains have R-hat = {chains.r_hat:.3f} (flagged above {MAX_R_HAT}): they have not mixed, or are in different "
                f"modes; run them longer, or {REMEDY}.",
            )
        )
    needed = 2.0 * FEWEST_PER_DIMENSION * n_dimensions
    if chains.ess < 2.0 * MIN_ESS:
        said = f"an effective sample size of {chains.ess:.0f} in the coordinate that mixes worst, and need {2.0 * MIN_ESS:.0f}"
    elif chains.fit_ess < needed:
        said = f"an effective sample size of {chains.fit_ess:.0f} for a covariance in {n_dimensions} dimensions, and need {needed:.0f}"
    else:
        return status
    return status.and_(
        Status.suspect(
            "few-draws",
            f"the draws have {said}: a density is fitted to one half of them and compared with the other; run the chains longer, or "
            f"{REMEDY}.",
        )
    )


def neck_status(neck: Neck) -> Status:
    """Whether the slopes at the draws, and after short moves of them, allow chains to have been everywhere."""
    if neck.at_draws >= NECK:
        where, index = "at the draws", neck.at_draws
    elif neck.after_moves >= NECK:
        where, index = "after short moves of the draws", neck.after_moves
    else:
        return Status.ok()
    return Status.suspect(
        "neck",
        f"the slopes of the log posterior {where} have the tail index {index:.2f} (flagged from {NECK}): the posterior narrows without "
        f"end somewhere, chains hardly enter there, and this answer may be low; {REMEDY}, or another parameterisation.",
    )


def bridge_status(both: BothWays) -> Status:
    """Whether the overlap of posterior and proposal allows a standard error, and the two ways agree."""
    ways = (both.first, both.second)
    gap = max(abs(way.log_ratio - way.log_ratio_from_above) for way in ways)
    if gap > 10.0 * SAME_ROOT * max(1.0, abs(both.log_ratio)):
        return Status.failed(
            "no-overlap",
            f"the iteration ends {gap:.3g} nats apart from two starts: the draws and the proposal do not overlap; {REMEDY}.",
        )
    tail = max((way.pareto_k for way in ways if way.largest > BOUNDED), default=-math.inf)
    status = _weights_status(tail, min(min(way.ess, way.weight_ess) for way in ways), both.se)
    worst = max(abs(way.odds_z) for way in ways)
    if worst > FOREIGN:
        status = status.and_(
            Status.suspect(
                "foreign-draws",
                f"the draws do not stand beside the proposal's as often as the ratio of posterior and proposal says, by {worst:.1f} standard "
                f"errors (flagged above {FOREIGN}): draws of another model, other data or another prior, or chains that have not converged; "
                "check that model, data and draws belong together.",
            )
        )
    return status.and_(_halves_status(both))


def reciprocal_status(both: BothHalves, remedy: str = REMEDY) -> Status:
    """Whether the weights allow a standard error, and the two halves agree; `remedy` is what else may be done."""
    halves = (both.first, both.second)
    if min(half.inside for half in halves) == 0.0:
        return Status.failed(
            "no-overlap",
            f"no draw of one half of the chains lies where the density that was fitted to the other half is: they disagree; {remedy}.",
        )
    status = _weights_status(max(half.pareto_k for half in halves), min(half.ess for half in halves), both.se, remedy)
    return status.and_(_halves_status(both, remedy))


def regions_status(gaps: list[tuple[float, float]]) -> Status:
    """Whether smaller regions give the same answer: differences with their standard errors, at the same draws."""
    worst = max(gaps, key=lambda gap: abs(gap[0]) - APART * gap[1])
    if abs(worst[0]) <= APART * worst[1] + SAME_ROOT:
        return Status.ok()
    return Status.suspect(
        "regions-differ",
        f"a smaller region gives an answer that differs by {worst[0]:+.3g} nats, {abs(worst[0]) / max(worst[1], 1e-300):.1f} standard "
        f"errors of the difference, though the identity holds for every region: the chains have not converged; {REMEDY}.",
    )


def _weights_status(pareto_k: float, ess: float, se: float, remedy: str = REMEDY) -> Status:
    status = Status.ok()
    if pareto_k >= MAX_PARETO_K:
        status = status.and_(
            Status.suspect(
                "pareto-k",
                f"the averaged terms have Pareto k = {pareto_k:.2f} (flagged from {MAX_PARETO_K}): posterior and proposal hardly overlap, "
                f"and the mean depends on few draws; {remedy}.",
            )
        )
    if ess < MIN_ESS:
        status = status.and_(
            Status.suspect(
                "low-ess",
                f"effective sample size {ess:.0f} of the averages (below {MIN_ESS:.0f} is flagged); run the chains longer, or {remedy}.",
            )
        )
    if se > MAX_SE:
        status = status.and_(
            Status.suspect(
                "large-error",
                f"the standard error is {se:.2f} nats, above {MAX_SE}, where it is no longer that of a normal; run the chains longer, "
                f"or {remedy}.",
            )
        )
    return status


def _halves_status(both: BothWays | BothHalves, remedy: str = REMEDY) -> Status:
    if both.joint_errors_apart <= APART:
        return Status.ok()
    return Status.suspect(
        "halves-differ",
        f"one half of the chains gives {both.first.log_ratio:.3f}, the other {both.second.log_ratio:.3f}, "
        f"{both.joint_errors_apart:.1f} standard errors apart (flagged above {APART:.0f}): the chains have not converged; run them "
        f"longer, or {remedy}.",
    )
