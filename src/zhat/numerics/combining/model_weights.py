"""Posterior model probabilities from log evidences, and how sure they are when the evidences have errors.

    P(m | y) = P(m) Z_m / sum_j P(j) Z_j.

Errors of log Z are carried by simulation: each log evidence is drawn from its reported distribution (Student t with its
degrees of freedom), probabilities are formed, and quantiles taken. The noise is given, so the same call gives the same interval.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import FloatArray, finite_vector, log_weight_vector, same_length
from zhat.numerics.logspace import log_sum_exp


def probabilities(log_evidences: ArrayLike, prior: ArrayLike) -> FloatArray:
    """Posterior probabilities of models; a prior probability of zero stays zero."""
    values, chances = log_weight_vector(log_evidences, "log_evidences"), finite_vector(prior, "prior")
    same_length(values, chances, "log_evidences and prior")
    with np.errstate(divide="ignore"):
        joint = values + np.log(chances)
    return np.asarray(np.exp(joint - log_sum_exp(joint)))


def simulated_probabilities(
    log_evidences: ArrayLike, errors: ArrayLike, degrees_of_freedom: ArrayLike, prior: ArrayLike, rng: np.random.Generator, n: int
) -> FloatArray:
    """`n` draws of the probabilities, (n, models), with each log evidence drawn from its own t distribution."""
    values, spread = np.asarray(log_evidences, np.float64), np.asarray(errors, np.float64)
    df = np.asarray(degrees_of_freedom, np.float64)
    noise = rng.standard_normal((n, len(values)))
    finite = np.isfinite(df)
    if finite.any():
        noise[:, finite] /= np.sqrt(rng.chisquare(df[finite], (n, int(finite.sum()))) / df[finite])
    joint = values + spread * noise
    with np.errstate(divide="ignore"):
        joint = joint + np.log(np.asarray(prior, np.float64))
    weights = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def difference_df(errors: tuple[float, float], degrees_of_freedom: tuple[float, float]) -> float:
    """Degrees of freedom of a difference of two estimates (Welch 1947, Satterthwaite 1946)."""
    variances = [e * e for e in errors]
    total = sum(variances)
    parts = [v * v / df for v, df in zip(variances, degrees_of_freedom, strict=True) if math.isfinite(df) and v > 0.0]
    return total * total / sum(parts) if parts and sum(parts) > 0.0 else math.inf


def average_over_models(
    values: ArrayLike, chances: ArrayLike, log_errors: ArrayLike, value_errors: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    """The mean over models of values (models, ...), and its standard error by the delta method.

        m = Σ p_k v_k,      var(m) = Σ p_k² (v_k - m)² s_k² + Σ p_k² e_k²

    with s_k the error of model k's log evidence and e_k that of its value; dm / d log Z_k = p_k (v_k - m). Linear, so good while
    the errors are well below one. A model without an error makes the answer's NaN, unless it hardly counts (p < 0.001).
    """
    v, p = np.asarray(values, np.float64), np.asarray(chances, np.float64)
    spread = np.where((p < 1e-3) & ~np.isfinite(np.asarray(log_errors)), 0.0, np.asarray(log_errors, np.float64))
    column = (slice(None), *([None] * (v.ndim - 1)))
    v = np.where((p < 1e-3)[column] & ~np.isfinite(v), 0.0, v)
    mean = np.tensordot(p, v, 1)
    variance = np.sum((p * spread)[column] ** 2 * (v - mean) ** 2, axis=0)
    if value_errors is not None:
        e = np.asarray(value_errors, np.float64)
        e = np.where((p < 1e-3)[column] & ~np.isfinite(e), 0.0, e)
        variance = variance + np.sum((p[column] * e) ** 2, axis=0)
    return np.asarray(mean), np.asarray(np.sqrt(variance))
