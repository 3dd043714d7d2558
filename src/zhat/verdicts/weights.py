"""From weights to an estimate: when a mean of weights has a standard error, and the verdict when it has none.

One rule for every method whose answer is the logarithm of one mean of independent weights. There is a standard error when the
weights' variance is finite and estimable: Pareto k below 0.5 and an effective sample size of at least a hundred (the
delta-method interval covers 95 % only then). Otherwise the number is suspect and comes without one.
"""

from __future__ import annotations

import numpy as np

from zhat.numerics.weights import Weights
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Draws

# The variance of the weights is finite only below this tail index.
MAX_PARETO_K = 0.5
# With fewer the delta method's interval covers less than its nominal level.
MIN_ESS = 100.0
# Nats by which an importance correction may move an approximation before it is called suspect: a Bayes factor wrong by
# more than a factor 1.6 is not one to publish from an approximation alone.
LARGE_CORRECTION = 0.5


def weights_status(weights: Weights, remedy: str) -> Status:
    """Whether the mean of these weights has a standard error."""
    if weights.n_zero == 0 and weights.pareto_k == -np.inf:
        return Status.ok()  # all weights equal: the mean is exact
    if weights.pareto_k >= MAX_PARETO_K:
        return Status.suspect(
            "pareto-k",
            f"the largest weights have Pareto k = {weights.pareto_k:.2f} (flagged from {MAX_PARETO_K}, where the variance of the "
            f"weights may be infinite), so the mean may depend on draws not yet made; {remedy}.",
        )
    if weights.ess < MIN_ESS:
        return Status.suspect(
            "low-ess",
            f"effective sample size {weights.ess:.0f} of {weights.n_drawn:,} draws (below {MIN_ESS:.0f} is flagged); {remedy}, or take "
            "more draws.",
        )
    return Status.ok()


def correction_status(error: float) -> Status:
    """Whether an approximation is near enough to its own importance correction."""
    if error <= LARGE_CORRECTION:
        return Status.ok()
    return Status.suspect(
        "large-correction",
        f"importance sampling at the mode moves the answer by {error:.2f} nats (flagged above {LARGE_CORRECTION}): the posterior is "
        "not near a Gaussian in these coordinates; use zhat.Importance() or zhat.SMC().",
    )


def weights_estimate(weights: Weights, record: Draws, remedy: str, **extra: Diagnostic) -> Estimate:
    """The estimate whose value is the log mean of these weights."""
    status = weights_status(weights, remedy)
    diagnostics: dict[str, Diagnostic] = {
        "n_draws": weights.n_drawn,
        "ess": float(weights.ess),
        "pareto_k": float(weights.pareto_k),
        "largest_share": float(weights.largest_share),
        "zero_weights": int(weights.n_zero),
        **extra,
    }
    return Estimate(
        log_evidence=float(weights.log_mean),
        log_evidence_se=float(weights.log_mean_se),
        status=status,
        diagnostics=diagnostics,
        record=record,
    )
