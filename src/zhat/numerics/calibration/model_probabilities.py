"""Are posterior model probabilities calibrated? Tests over data simulated from the models themselves.

Draw a model from its prior probability, parameters from its prior, data from its likelihood; then estimate the evidences of
both models and form the log odds ℓ of model 1 and its probability p. If simulator, priors, likelihoods and estimator fit
together, then among the data sets with p = 0.7 seven of ten come from model 1, whatever the models are. With I = 1 where they
did, M data sets give four numbers, of which the first three are standard normal when all is right:

- *marginal*, (mean p - prior) / (sd p / sqrt M): a constant error of the log Bayes factor, such as a dropped constant;
- *intercept*, sum (I - p) / sqrt(sum p (1 - p)): the same, against the models that the data came from;
- *slope*, sum (I - p)(ℓ - ℓ̄) / sqrt(sum p (1 - p)(ℓ - ℓ̄)^2), with ℓ̄ weighted by p (1 - p): over-confident or noisy log Bayes
  factors, which the first two do not detect;
- *resolution*, the gain of the mean log score over the prior's, as a share of the gain of the exact probabilities: a method that
  always gives the prior probability passes the other three. At least a half is required.

Each of the three has a false-alarm rate of 10^-4. The mean of the Bayes factor against the model that the data come from is
one (Good and Turing); it is reported and not judged, since its average is heavy-tailed.

When it lies: where p is near 0 or 1 for nearly all data sets the tests have no power, so mean p (1 - p) is reported; below 0.12
take fewer data. Two errors that cancel (a wrong constant in both models) cannot be detected. After Schad et al. (2023) and
Sekulovski et al. (2024).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from zhat.numerics._checks import FloatArray, finite_vector, same_length
from zhat.numerics.combining.uncertainty import normal_quantile

FALSE_ALARM = 1e-4
LEAST_GAIN = 0.5
INFORMATIVE = 0.12


@dataclass(frozen=True)
class ModelCalibration:
    """The four numbers over M data sets, and what belongs to them."""

    n: int
    marginal: float
    intercept: float
    slope: float
    gain: float
    exact_gain: float
    information: float  # mean p (1 - p)
    good: tuple[float, float]  # mean Bayes factor against the true model, where model 0 and where model 1 is true

    @property
    def resolution(self) -> float:
        """Share of the exact method's gain in log score."""
        return self.gain / self.exact_gain

    @property
    def passed(self) -> Mapping[str, bool]:
        """The verdict on each."""
        limit = normal_quantile(1.0 - FALSE_ALARM / 2.0)
        scores = {"marginal": self.marginal, "intercept": self.intercept, "slope": self.slope}
        return {name: abs(z) <= limit for name, z in scores.items()} | {"resolution": self.resolution >= LEAST_GAIN}

    @property
    def ok(self) -> bool:
        """Whether all passed."""
        return all(self.passed.values())

    def sentence(self) -> str:
        """The verdict in one sentence."""
        scores = f"marginal {self.marginal:+.2f}, intercept {self.intercept:+.2f}, slope {self.slope:+.2f}"
        found = f"{scores}, resolution {self.resolution:.3f}"
        if self.ok:
            return f"Calibrated over {self.n} data sets: {found}."
        failed = ", ".join(name for name, good in self.passed.items() if not good)
        return f"Not calibrated over {self.n} data sets ({failed}): {found}."


def model_calibration(
    log_odds: ArrayLike, from_model_1: ArrayLike, exact_log_odds: ArrayLike, prior: float = 0.5
) -> ModelCalibration:
    """Hold estimated log odds against the models that the data were drawn from.

    Parameters
    ----------
    log_odds : (M,) finite
        Estimated posterior log odds of model 1 against model 0, prior odds included.
    from_model_1 : (M,) of 0 and 1
        Which model the data were drawn from.
    exact_log_odds : (M,) finite
        The same odds by formula, for the resolution.
    prior : float
        Prior probability of model 1.
    """
    odds, exact = finite_vector(log_odds, "log_odds"), finite_vector(exact_log_odds, "exact_log_odds")
    drawn = finite_vector(from_model_1, "from_model_1")
    same_length(odds, drawn, "log_odds and from_model_1")
    same_length(odds, exact, "log_odds and exact_log_odds")
    if not np.isin(drawn, (0.0, 1.0)).all() or len(np.unique(drawn)) < 2:
        raise ValueError("from_model_1: zeros and ones, and both of them; draw more data sets.")
    if not 0.0 < prior < 1.0:
        raise ValueError(f"prior={prior}: a probability between zero and one.")
    n = len(odds)
    p = expit(odds)
    spread = p * expit(-odds)
    surprise = np.where(drawn == 1.0, expit(-odds), -p)  # I - p without cancellation
    centred = odds - _ratio(float(spread @ odds), float(spread.sum()))
    prior_odds = math.log(prior) - math.log1p(-prior)
    before = _log_score(np.full(n, prior_odds), drawn)
    return ModelCalibration(
        n=n,
        marginal=_ratio(float(p.mean()) - prior, float(p.std(ddof=1)) / math.sqrt(n)),
        intercept=_ratio(float(surprise.sum()), math.sqrt(float(spread.sum()))),
        slope=_ratio(float(surprise @ centred), math.sqrt(float(spread @ centred**2))),
        gain=_log_score(odds, drawn) - before,
        exact_gain=_log_score(exact, drawn) - before,
        information=float(spread.mean()),
        good=_good(odds - prior_odds, drawn),
    )


def _log_score(odds: FloatArray, drawn: FloatArray) -> float:
    return float(np.mean(log_expit(np.where(drawn == 1.0, odds, -odds))))


def _good(log_factor: FloatArray, drawn: FloatArray) -> tuple[float, float]:
    """Mean Bayes factor of model 1 where model 0 is true, and of model 0 where model 1 is."""
    with np.errstate(over="ignore"):
        return float(np.exp(log_factor[drawn == 0.0]).mean()), float(np.exp(-log_factor[drawn == 1.0]).mean())


def _ratio(above: float, below: float) -> float:
    """With nothing over nothing as nothing: an answer that never varies is neither too high nor too low if it is right."""
    if below > 0.0:
        return above / below
    return 0.0 if above == 0.0 else math.copysign(math.inf, above)
