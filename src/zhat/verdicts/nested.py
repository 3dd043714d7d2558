"""Diagnostics of a run of nested sampling: shares of the evidence, two standard errors, insertion ranks, a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zhat.numerics.logspace import log_sum_exp
from zhat.numerics.nested import insertion_rank_z, log_volumes, nested_log_weights
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


def evidence_shares(run: NestedRun) -> Array:
    """The share of the evidence that each point holds: the weights of the posterior draws, summing to one."""
    log_terms = run.log_likelihood + nested_log_weights(log_volumes(run.n_alive))
    return np.exp(log_terms - log_sum_exp(log_terms))


def genealogical_se(run: NestedRun, shares: Array) -> tuple[float | None, int]:
    """Standard error from how unequally the descendants of the first live points share the evidence; and their number.

    None when points were drawn afresh: then there is no descent.
    """
    if (run.ancestors < 0).any():
        return None, run.n_live
    by_ancestor = np.bincount(run.ancestors, weights=shares, minlength=run.n_live)
    n = run.n_live
    n_ancestors = int((by_ancestor > 1e-6 / n).sum())
    if run.log_likelihood[0] == run.log_likelihood[-1]:
        return 0.0, n_ancestors  # one value: the evidence is that value, whatever the shares
    return float(np.sqrt(((by_ancestor - 1.0 / n) ** 2).sum() * n / (n - 1))), n_ancestors


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
    """

    shrinkage: float
    genealogical: float | None
    n_ancestors: int
    scores: tuple[float, float]
    live_share: float

    @property
    def se(self) -> float:
        """The larger of the two standard errors."""
        return max(self.shrinkage, self.genealogical or 0.0)


def nested_errors(run: NestedRun, shrinkage: float) -> NestedErrors:
    """The standard errors of a run, given that of its prior masses."""
    shares = evidence_shares(run)
    genealogical, n_ancestors = genealogical_se(run, shares)
    return NestedErrors(shrinkage, genealogical, n_ancestors, insertion_scores(run), float(shares[-run.n_live :].sum()))


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
                f"{RANK_LIMIT:.0f} is flagged): the constrained moves are too few or too poor; give "
                "replacement=zhat.settings.MarkovReplacement(...) a smaller zhat.settings.Moves(correlation=...) and more moves.",
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
    if left > EARLY:
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


def unfinished_nested(run: NestedRun, why: Stopped) -> Estimate:
    """The failed estimate of a run that was stopped."""
    sentence = f"no evidence yet, the {len(run.n_alive) - run.n_live:,} dead points so far are in the record: {why}."
    return Estimate(np.nan, None, Status.failed(why.code, sentence), record=run)
