"""From posterior ordinates at several points to an estimate and a verdict: what Chib's two methods share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zhat.numerics.ordinates import Ordinates, ordinates
from zhat.numerics.series import r_hat
from zhat.numerics.weights import pareto_k
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Array, OrdinateRun
from zhat.verdicts.weights import MAX_PARETO_K, MIN_ESS

# Above this the delta method's interval covers less than its nominal level (an effective sample size of 16).
MAX_SE = 0.25
# Standard errors of a difference by which the answers at two points may differ; and the rounding of log densities.
SPREAD_LIMIT = 5.0
ROUNDING = 1e-9


@dataclass(frozen=True)
class _AtPoints:
    """The answers at all points, with their ordinates and tail indices."""

    log_evidence: Array
    ordinates: Ordinates
    pareto_k: Array

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Which points have an answer that can be compared."""
        return np.asarray((self.pareto_k < MAX_PARETO_K) & (self.ordinates.se < MAX_SE) & np.isfinite(self.log_evidence))


def tail_indices(run: OrdinateRun) -> Array:
    """Pareto k of the worst of each point's averages; -inf where nothing is averaged."""
    k = np.full(len(run.points), -np.inf)
    for factor in (*run.log_up, *run.log_down):
        k = np.maximum(k, [pareto_k(series.ravel()) for series in factor])
    return k


def ordinate_estimate(
    run: OrdinateRun, chains_r_hat: float, max_r_hat: float, remedy: str, extra: dict[str, Diagnostic]
) -> Estimate:
    """The estimate from a run's record: value and standard error at the first point, and whether the others agree."""
    at_points = ordinates(len(run.points), run.log_up, run.log_down)
    log_evidence = run.log_likelihood + run.log_prior - run.log_exact - at_points.log_density
    answers = _AtPoints(log_evidence, at_points, tail_indices(run))
    runs_r_hat = max([chains_r_hat, *(r_hat(factor[0]) for factor in run.log_up)])
    status = _status(answers, runs_r_hat, max_r_hat, remedy)
    diagnostics: dict[str, Diagnostic] = {
        "log_evidence_at_points": [float(v) for v in log_evidence],
        "se_at_points": [float(v) for v in at_points.se],
        "newey_west_se": at_points.newey_west_se,
        "points_compared": int(answers.usable[1:].sum()),
        "pareto_k": float(answers.pareto_k[0]),
        "ess": float(at_points.ess[0]),
        "r_hat": float(runs_r_hat),
        **extra,
    }
    value = float(log_evidence[0])
    if not np.isfinite(value):
        sentence = f"no posterior draw comes near the point where the posterior density is estimated; {remedy}."
        return Estimate(np.nan, None, Status.failed("no-ordinate", sentence), diagnostics=diagnostics, record=run)
    return Estimate(
        log_evidence=value,
        log_evidence_se=float(at_points.se[0]),
        status=status,
        diagnostics=diagnostics,
        record=run,
    )


def _status(answers: _AtPoints, r_hats: float, max_r_hat: float, remedy: str) -> Status:
    log_evidence, k = answers.log_evidence, float(answers.pareto_k[0])
    se, ess = float(answers.ordinates.se[0]), float(answers.ordinates.ess[0])
    status = Status.ok()
    if r_hats > max_r_hat:
        status = status.and_(
            Status.suspect(
                "chains-disagree",
                f"the chains disagree (R-hat {r_hats:.2f}, above {max_r_hat}): they have not mixed, or are in different modes; run "
                f"longer, or {remedy}.",
            )
        )
    if k >= MAX_PARETO_K:
        status = status.and_(
            Status.suspect(
                "pareto-k",
                f"the density at the point depends on few draws (Pareto k = {k:.2f}, flagged from {MAX_PARETO_K}), so its variance may "
                f"be infinite; give a point of higher density, or {remedy}.",
            )
        )
    if ess < MIN_ESS:
        status = status.and_(
            Status.suspect(
                "low-ess",
                f"effective sample size {ess:.0f} of the averages (below {MIN_ESS:.0f} is flagged); run longer, or {remedy}.",
            )
        )
    if se > MAX_SE:
        status = status.and_(
            Status.suspect(
                "large-error",
                f"the standard error is {se:.2f} nats, above {MAX_SE}, where it is no longer that of a normal; run longer, or {remedy}.",
            )
        )
    gap = np.abs(log_evidence - log_evidence[0])
    difference_se = answers.ordinates.difference_se
    allowed = SPREAD_LIMIT * difference_se + ROUNDING * np.maximum(1.0, np.abs(log_evidence[0]))
    beyond = answers.usable & (gap > allowed)
    if answers.usable[0] and beyond.any():
        worst = int(np.argmax(np.where(beyond, gap, -1.0)))
        status = status.and_(
            Status.suspect(
                "points-disagree",
                f"the answer is {log_evidence[0]:.3f} at one point and {log_evidence[worst]:.3f} at another, "
                f"{gap[worst] / max(difference_se[worst], 1e-300):.1f} standard errors apart, though the identity holds at every "
                f"point: the chains have not converged, or a density is wrong; check the conditionals, run longer, or {remedy}.",
            )
        )
    return status
