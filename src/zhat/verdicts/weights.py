"""From weights to an estimate: when a mean of weights may show an error, and what to say when it may not.

One rule for every method whose answer is the logarithm of one mean of independent weights. The error is shown when the
weights' variance exists and has been seen: Pareto k below 0.5 and an effective sample of at least a hundred
(reliability: the delta-method interval covers 95 % only then). Otherwise the number is shown without one, as suspect.
"""

from __future__ import annotations

import numpy as np

from zhat.numerics.weights import Weights
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Draws

MAX_PARETO_K = 0.5
MIN_ESS = 100.0
# Nats by which an importance correction may move an approximation before it is called suspect: a Bayes factor wrong by
# more than a factor 1.6 is not one to publish from an approximation alone.
LARGE_CORRECTION = 0.5


def unchecked(why: str) -> Status:
    """The verdict on a finished number whose last check was not: it must not pass for one that was checked."""
    return Status.suspect(
        "unchecked", f"the number is finished, the look for mass that it may have missed is not ({why}): it may be far too low."
    )


def weights_status(weights: Weights, remedy: str) -> Status:
    """Whether the mean of these weights has an error worth showing."""
    if weights.n_zero == 0 and weights.pareto_k == -np.inf:
        return Status.ok()  # all weights equal: the mean is exact
    if weights.pareto_k >= MAX_PARETO_K:
        return Status.suspect(
            "pareto-k",
            f"the largest weights have Pareto k = {weights.pareto_k:.2f}: their variance may not exist, so the mean may "
            f"hang on draws not yet seen; {remedy}.",
        )
    if weights.ess < MIN_ESS:
        return Status.suspect(
            "low-ess",
            f"the weights are worth only {weights.ess:.0f} independent draws of {weights.n_drawn:,}; {remedy}, or take more.",
        )
    return Status.ok()


def correction_status(error: float) -> Status:
    """Whether an approximation is near enough to its own importance correction."""
    if error <= LARGE_CORRECTION:
        return Status.ok()
    return Status.suspect(
        "large-correction",
        f"importance sampling at the mode moves the answer by {error:.2f} nats: the posterior is not near a Gaussian in these "
        "coordinates; use Importance or SMC.",
    )


def weights_estimate(weights: Weights, record: Draws, remedy: str, **more: Diagnostic) -> Estimate:
    """The estimate whose value is the log mean of these weights."""
    status = weights_status(weights, remedy)
    diagnostics: dict[str, Diagnostic] = {
        "n_draws": weights.n_drawn,
        "ess": float(weights.ess),
        "pareto_k": float(weights.pareto_k),
        "largest_share": float(weights.largest_share),
        "zero_weights": int(weights.n_zero),
        **more,
    }
    se = float(weights.log_mean_se) if status.is_ok else None
    because = None if status.is_ok else status.reasons[0].sentence
    return Estimate(
        log_evidence=float(weights.log_mean),
        log_evidence_se=se,
        no_se_because=because,
        status=status,
        diagnostics=diagnostics,
        record=record,
    )
