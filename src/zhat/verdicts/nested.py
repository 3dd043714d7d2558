"""Diagnostics of a run of nested sampling: shares of the evidence, two standard errors, insertion ranks, a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zhat.numerics.logspace import log_sum_exp
from zhat.numerics.nested import insertion_rank_z, log_evidence, log_volumes, nested_log_weights
from zhat.numerics.strata import stratified_log_mean
from zhat.numerics.weights import Weights
from zhat.results.estimate import Estimate, Status
from zhat.results.records import Array, NestedRun
from zhat.sampling.backend.loop import Stopped

# Limit on a standard normal score: exceeded by chance with probability 6e-5, in each of two tests.
RANK_LIMIT = 4.0
# Above this ratio the genealogical and the shrinkage standard error contradict each other (measured on well-mixing and multimodal models: 1 to 1.2).
UNEQUAL_RATIO = 2.0
MIN_ANCESTORS = 20
MIN_SURVIVORS = 20
# Largest correlation of the likelihood's rank with its start after the moves; above it points are flagged as stuck.
STUCK = 0.5
# Share of the evidence in the last live points above which a run has stopped too early.
EARLY = 0.2
# Unless their likelihoods differ by no more than this, relative to their mean: then what they hold is known.
FLAT = 0.25
# Joint standard errors by which the evidence from measured masses and that from the shrinkages may differ.
MASSES_LIMIT = 4.0
# Share of the largest weight above which a mean of weights depends on a single draw.
LARGEST_SHARE = 0.05


def evidence_shares(run: NestedRun) -> Array:
    """The share of the evidence that each point holds: the weights of the posterior draws, summing to one."""
    log_terms = run.log_likelihood + nested_log_weights(log_volumes(run.n_alive))
    return np.exp(log_terms - log_sum_exp(log_terms))


def genealogical_se(run: NestedRun, shares: Array) -> tuple[float | None, int]:
    """Standard error from how unequally the descendants of the first live points share the evidence; and their number.

    None when points were drawn afresh: then there is no descent. Where moves began after draws from regions, the live points of that
    moment are the first ones, and the earlier dead ones (ancestor -1) are independent draws.
    """
    n, later = run.n_live, run.ancestors >= 0
    if not later[-n:].all():
        return None, n
    if later.all():
        n = int(run.n_alive[0])  # more than stay alive, where the first of them die without being replaced
    inside = float(shares[later].sum())
    by_ancestor = np.bincount(run.ancestors[later], weights=shares[later], minlength=n)
    n_ancestors = int((by_ancestor > 1e-6 * inside / n).sum())
    if run.log_likelihood[0] == run.log_likelihood[-1]:
        return 0.0, n_ancestors  # one value: the evidence is that value, whatever the shares
    return float(np.sqrt(((by_ancestor - inside / n) ** 2).sum() * n / (n - 1))), n_ancestors


@dataclass(frozen=True)
class FromMasses:
    """The evidence from the measured masses of regions: all evaluated points as one importance sample.

    Attributes
    ----------
    log_evidence, se : float
        The standard error includes that of the masses, and modes that may have been lost by chance.
    pareto_k, largest_share, ess : float
        Of the weights.
    z : float
        Difference from the evidence of the shrinkages in joint standard errors.
    """

    log_evidence: float
    se: float
    pareto_k: float
    largest_share: float
    ess: float
    z: float


def from_masses(run: NestedRun, log_evidence: float, shrinkage: float) -> FromMasses | None:
    """The evidence from the masses of a run, compared with that of its shrinkages; None where none were measured."""
    if run.measured is None:
        return None
    value, se = stratified_log_mean(run.measured.log_weight, run.measured.stratum)
    se = math.sqrt(se**2 + run.measured.mass_variance + run.measured.vanished**2)
    if not math.isfinite(se):
        return None
    weights = Weights.of(run.measured.log_weight)
    joint = math.hypot(se, shrinkage)
    z = (value - log_evidence) / joint if joint > 0.0 else 0.0
    return FromMasses(value, se, weights.pareto_k, weights.largest_share, weights.ess, z)


def insertion_scores(run: NestedRun) -> tuple[float, float]:
    """Are the insertion ranks of new points uniform among the survivors? Standard normal scores: whole run, and its last third.

    The ranks of k points among the same m survivors are not independent: their sum varies (k + m + 1)/(m + 2) times as much
    as if they were (Mann & Whitney). Batches are independent of each other.
    """
    if not len(run.n_dead):
        return 0.0, 0.0
    ends = np.cumsum(run.n_dead)
    scores = []
    for end, k, m in zip(ends, run.n_dead, run.n_survivors, strict=True):
        alone = insertion_rank_z(run.insertion_rank[end - k : end], int(m) + 1)
        scores.append(alone * math.sqrt((m + 2) / (k + m + 1)))
    late = scores[-max(1, len(scores) // 3) :]
    return float(sum(scores) / math.sqrt(len(scores))), float(sum(late) / math.sqrt(len(late)))


@dataclass(frozen=True)
class NestedErrors:
    """Diagnostics on which the verdict depends.

    Attributes
    ----------
    shrinkage : float
        Standard error from the noise of the prior masses.
    genealogical : float or None
        Standard error from descent; None when points were drawn afresh.
    n_ancestors : int
        First live points whose descendants hold some of the evidence.
    scores : pair of float
        Insertion ranks as standard normal scores: of the whole run, and of its last third.
    live_share : float
        Share of the evidence in the last live points.
    masses : FromMasses or None
        The answer from measured masses, where it is the one that is reported.
    """

    shrinkage: float
    genealogical: float | None
    n_ancestors: int
    scores: tuple[float, float]
    live_share: float
    masses: FromMasses | None = None

    @property
    def se(self) -> float:
        """That of the measured masses; without them the larger of the two others."""
        return max(self.shrinkage, self.genealogical or 0.0) if self.masses is None else self.masses.se


def nested_errors(run: NestedRun, shrinkage: float, masses: FromMasses | None = None) -> NestedErrors:
    """The standard errors of a run, given that of its prior masses by the shrinkages, and what was measured of them."""
    shares = evidence_shares(run)
    genealogical, n_ancestors = genealogical_se(run, shares)
    left = float(shares[-run.n_live :].sum())
    return NestedErrors(shrinkage, genealogical, n_ancestors, insertion_scores(run), left, masses)


# By whether new points came from moves.
_RANKS = {
    True: "constrained moves are too few or too poor; give replacement=zhat.settings.MarkovReplacement(...) a smaller "
    "zhat.settings.Moves(correlation=...) and more moves.",
    False: "regions around the survivors leave out part of what is above the threshold; take more live points, or give "
    "replacement=zhat.settings.MarkovReplacement().",
}


def nested_status(run: NestedRun, errors: NestedErrors) -> Status:
    """Whether new points have the right distribution, and whether the variance between runs can be estimated."""
    status, se, genealogical, n_ancestors = Status.ok(), errors.shrinkage, errors.genealogical, errors.n_ancestors
    scores, left = errors.scores, errors.live_share
    if se == 0.0:
        return status  # a constant likelihood
    if max(map(abs, scores)) > RANK_LIMIT:
        status = status.and_(
            Status.suspect(
                "insertion-ranks",
                f"insertion ranks among the survivors are not uniform (z = {scores[0]:+.1f}, in the last third {scores[1]:+.1f}; beyond "
                f"{RANK_LIMIT:.0f} is flagged): the {_RANKS[run.measured is None]}",
            )
        )
    if run.memory.max(initial=0.0) > STUCK or run.acceptance.min(initial=1.0) < 0.001:
        worst = int(np.argmax(run.memory))
        status = status.and_(
            Status.suspect(
                "stuck",
                f"above the log likelihood {run.threshold[worst]:.6g} the ranks of new points still had correlation "
                f"{run.memory[worst]:.2f} with those of their starting points after {run.n_moves[worst]} moves: give the replacement more "
                "moves, zhat.settings.Moves(at_most=...), or another kernel.",
            )
        )
    if genealogical is not None and genealogical > UNEQUAL_RATIO * se:
        status = status.and_(
            Status.suspect(
                "unequal-descent",
                f"the evidence is shared {genealogical / se:.1f} times more unequally among the first live points' descendants than the "
                f"shrinkage explains (flagged from {UNEQUAL_RATIO:.0f}): some points are in regions that others do not reach; take more "
                f"live points and moves: zhat.NestedSampling(n_live={4 * run.n_live}).",
            )
        )
    if n_ancestors < MIN_ANCESTORS:
        # Ancestors grow with the live points: half as many again as are needed, in thousands.
        wanted = math.ceil(1.5e-3 * run.n_live * MIN_ANCESTORS / max(n_ancestors, 1)) * 1000
        status = status.and_(
            Status.suspect(
                "few-ancestors",
                f"only {n_ancestors} of the first live points have descendants that count (below {MIN_ANCESTORS} is flagged): too few to "
                f"tell how another run would vary; take more live points, perhaps zhat.NestedSampling(n_live={wanted}).",
            )
        )
    few = int(run.n_survivors.min(initial=run.n_live))
    if few < MIN_SURVIVORS:
        status = status.and_(
            Status.suspect(
                "few-survivors",
                f"only {few} live points were above a plateau of the likelihood, and all new ones descend from them; take more "
                "live points.",
            )
        )
    if errors.masses is not None:
        status = status.and_(_masses_status(errors.masses, run.n_live))
    elif left > EARLY and _live_spread(run) > FLAT:
        status = status.and_(
            Status.suspect(
                "stopped-early",
                f"the last live points still hold {left:.0%} of the evidence (flagged above {EARLY:.0%}), so the run ended too soon: give "
                "stop=zhat.settings.RemainingEvidence(0.01).",
            )
        )
    if errors.se > 1.0:
        status = status.and_(
            Status.suspect(
                "large-error",
                f"the standard error is {errors.se:.2f} nats, above 1, where it is no longer that of a normal; take more live points: "
                f"zhat.NestedSampling(n_live={4 * run.n_live}).",
            )
        )
    return status


def _live_spread(run: NestedRun) -> float:
    """Standard deviation of the likelihoods of the last live points, relative to their mean."""
    last = run.log_likelihood[-run.n_live :]
    relative = np.exp(last - last.max())
    return float(relative.std() / relative.mean())


def _masses_status(masses: FromMasses, n_live: int) -> Status:
    """Whether the two assignments of prior masses agree, and whether the mean of the weights depends on a single draw."""
    status = Status.ok()
    if abs(masses.z) > MASSES_LIMIT:
        status = status.and_(
            Status.suspect(
                "masses-differ",
                f"the measured prior masses of the regions and the shrinkages of the live points give evidences that differ by "
                f"{abs(masses.z):.1f} joint standard errors (flagged from {MASSES_LIMIT:.0f}): a region leaves out part of what is above "
                f"its threshold; take more live points, zhat.NestedSampling(n_live={4 * n_live}), or "
                "replacement=zhat.settings.MarkovReplacement().",
            )
        )
    if masses.largest_share > LARGEST_SHARE:
        status = status.and_(
            Status.suspect(
                "pareto-k",
                f"one draw holds {masses.largest_share:.0%} of the evidence (flagged above {LARGEST_SHARE:.0%}): a peak that the run has "
                f"hardly entered; take more live points: zhat.NestedSampling(n_live={4 * n_live}).",
            )
        )
    return status


def unfinished_nested(run: NestedRun, why: Stopped) -> Estimate:
    """The failed estimate of a run that was stopped: its dead points, and the live points where they stood."""
    sentence = (
        f"the run did not come to its end: {why}. The number is that of the {len(run.n_alive) - run.n_live:,} dead points so far and of the live "
        "points as they stood, most often too low; both are in the record."
    )
    value = log_evidence(run.log_likelihood, log_volumes(run.n_alive))
    return Estimate(value, None, Status.failed(why.code, sentence), record=run)
