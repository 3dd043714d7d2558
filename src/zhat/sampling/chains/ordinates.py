"""From posterior ordinates at several points to an estimate: what Chib's two methods share.

The identity log Z = log L + log prior - log posterior density holds at every point. The first point gives the answer; at the
others it is computed again, and an answer that depends on the point beyond its error is not believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.numerics.ordinates import Ordinates, ordinates
from zhat.numerics.series import r_hat
from zhat.numerics.weights import Weights, pareto_k
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Array, Draws, OrdinateRun
from zhat.sampling.chains.conditionals import unconstrained
from zhat.verdicts.weights import MAX_PARETO_K, MIN_ESS

# Above this the delta method's interval no longer covers what it says (an average worth 16 draws).
MAX_SE = 0.25
SPREAD_LIMIT = 5.0
ROUNDING = 1e-9


def central_points(position: Array, rng: np.random.Generator) -> Array:
    """Four points to check an answer at: mean, median and two draws of these (n, d) posterior draws."""
    draws = position[rng.choice(len(position), 2, replace=False)]
    return np.stack([position.mean(axis=0), np.median(position, axis=0), *draws])


def point_of(model: Model, given: Mapping[str, Any], owner: str) -> Array:
    """The user's point as an unconstrained vector, if it is a possible one."""
    for site in model.space.sites:
        shape = np.shape(given[site.name]) if site.name in given else site.shape
        if shape != site.shape:
            raise BadInput(f"{owner}(point=...): {site.name!r} has shape {shape} there and {site.shape} in the model.")
    log_prior, log_likelihood = model.evaluate(**given)
    position = unconstrained(model, {name: np.asarray(given[name], np.float64)[None] for name in model.space.names})[0]
    if not (np.isfinite(log_prior) and np.isfinite(log_likelihood) and np.isfinite(position).all()):
        raise BadInput(
            f"{owner}(point={dict(given)}): log prior {log_prior}, log likelihood {log_likelihood}: the posterior density is "
            "zero there, and its log is wanted. Give a point of high density, or none to have one chosen."
        )
    return position


def coverage_check(prior: Draws, log_evidence: float, se: float) -> Status:
    """Whether the prior draws that are there anyway see mass that the chains did not."""
    weights = Weights.of(prior.log_likelihood)
    excess = weights.log_mean - log_evidence
    error = float(np.hypot(se, weights.log_mean_se))
    # Trusted weights: five joint errors. Untrusted ones: Markov's inequality, exp(-12) < 1e-5, needs no variance.
    if excess > 5.0 * error + 0.05 and (weights.pareto_k < 0.7 or excess > 12.0):
        return Status.suspect(
            "missed-mass",
            f"draws from the prior find {excess:.2f} nats more than the chains did: these have missed a part of the posterior; "
            "use SMC, which starts from the prior.",
        )
    return Status.ok()


def tail_indices(run: OrdinateRun) -> Array:
    """Pareto k of the worst of each point's averages; -inf where nothing is averaged."""
    k = np.full(len(run.points), -np.inf)
    for factor in (*run.log_up, *run.log_down):
        k = np.maximum(k, [pareto_k(series.ravel()) for series in factor])
    return k


def ordinate_estimate(
    run: OrdinateRun, chains_r_hat: float, max_r_hat: float, remedy: str, more: dict[str, Diagnostic]
) -> Estimate:
    """The estimate from a run's record: value and error at the first point, and whether the others agree."""
    found = ordinates(len(run.points), run.log_up, run.log_down)
    log_evidence = run.log_likelihood + run.log_prior - run.log_exact - found.log_density
    k = tail_indices(run)
    runs_r_hat = max([chains_r_hat, *(r_hat(factor[0]) for factor in run.log_up)])
    usable = (k < MAX_PARETO_K) & (found.se < MAX_SE) & np.isfinite(log_evidence)
    status = _status(log_evidence, found, float(k[0]), runs_r_hat, max_r_hat, usable, remedy)
    diagnostics: dict[str, Diagnostic] = {
        "log_evidence_at_points": [float(v) for v in log_evidence],
        "se_at_points": [float(v) for v in found.se],
        "newey_west_se": found.newey_west_se,
        "points_compared": int(usable[1:].sum()),
        "pareto_k": float(k[0]),
        "ess": float(found.ess[0]),
        "r_hat": float(runs_r_hat),
        **more,
    }
    value = float(log_evidence[0])
    if not np.isfinite(value):
        sentence = f"no posterior draw comes near the point where the density is wanted; {remedy}."
        failed = Status.failed("no-ordinate", sentence)
        return Estimate(np.nan, None, failed, no_se_because=sentence, diagnostics=diagnostics, record=run)
    return Estimate(
        log_evidence=value,
        log_evidence_se=float(found.se[0]) if status.is_ok else None,
        no_se_because=None if status.is_ok else status.reasons[0].sentence,
        status=status,
        diagnostics=diagnostics,
        record=run,
    )


def _status(
    log_evidence: Array,
    found: Ordinates,
    k: float,
    r_hats: float,
    max_r_hat: float,
    usable: NDArray[np.bool_],
    remedy: str,
) -> Status:
    status = Status.ok()
    if r_hats > max_r_hat:
        status = status.and_(
            Status.suspect(
                "chains-disagree",
                f"the chains disagree (R-hat {r_hats:.2f}): they have not mixed, or sit in other modes; run longer, or {remedy}.",
            )
        )
    if k >= MAX_PARETO_K:
        status = status.and_(
            Status.suspect(
                "pareto-k",
                f"the density at the point hangs on few draws (Pareto k = {k:.2f}): its error may not exist; give a point of "
                f"higher density, or {remedy}.",
            )
        )
    if found.ess[0] < MIN_ESS:
        status = status.and_(
            Status.suspect(
                "low-ess", f"the averages are worth only {found.ess[0]:.0f} independent draws; run longer, or {remedy}."
            )
        )
    if found.se[0] > MAX_SE:
        status = status.and_(
            Status.suspect(
                "large-error",
                f"the error is {found.se[0]:.2f} nats, too large to be the error of a normal; run longer, or {remedy}.",
            )
        )
    gap = np.abs(log_evidence - log_evidence[0])
    allowed = SPREAD_LIMIT * found.difference_se + ROUNDING * np.maximum(1.0, np.abs(log_evidence[0]))
    beyond = usable & (gap > allowed)
    if usable[0] and beyond.any():
        worst = int(np.argmax(np.where(beyond, gap, -1.0)))
        status = status.and_(
            Status.suspect(
                "points-disagree",
                f"the answer is {log_evidence[0]:.3f} at one point and {log_evidence[worst]:.3f} at another, "
                f"{gap[worst] / max(found.difference_se[worst], 1e-300):.1f} errors apart, where the identity holds at every "
                f"point: the chains have not converged, or a density is wrong; check the conditionals, run longer, or {remedy}.",
            )
        )
    return status
