"""Linear models under proper normal priors of the coefficients: the evidence as a formula, or by one quadrature over the scale.

    y = X beta + N(0, sigma^2 I)

* Conjugate: beta_j | tau ~ N(m_j, 1/(k_j tau)), tau = 1/sigma^2 ~ gamma(a, rate b). A formula.
* Independent: beta_j ~ N(m_j, s_j^2), and any proper prior of sigma. For given sigma the evidence is a normal density; sigma is
  integrated by quadrature over its logarithm.

Both work from sums over the data. The squares are split at the least squares fit, w'w = (least sum) + (fitted part), because the
difference of two large sums would lose its digits where sigma is small.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zhat.numerics._checks import FloatArray
from zhat.numerics.exact.integrals import Integral, log_integral

LOG_TWO_PI = math.log(2.0 * math.pi)
# Of log sigma, in units of the response's standard deviation: e^50 above and below.
REACH = 50.0


@dataclass(frozen=True)
class RawSums:
    """Of a design with all of its columns (the intercept's too): n, X'X, the least squares coefficients and their sum of squares."""

    n: int
    xx: FloatArray
    best: FloatArray
    least: float


def conjugate(sums: RawSums, mean: FloatArray, precision: FloatArray, shape: float, rate: float) -> Integral:
    """Log evidence under the normal-gamma prior."""
    n, off = sums.n, sums.best - mean
    total = sums.xx + np.diag(precision)
    # y'y part: least + off' (xx - xx total^-1 xx) off, and xx - xx total^-1 xx = diag(precision) total^-1 xx
    quadratic = sums.least + off @ (precision[:, None] * np.linalg.solve(total, sums.xx)) @ off
    log_det = 0.5 * (np.sum(np.log(precision)) - np.linalg.slogdet(total)[1])
    gammas = math.lgamma(shape + 0.5 * n) - math.lgamma(shape)
    powers = shape * math.log(rate) - (shape + 0.5 * n) * math.log(rate + 0.5 * quadratic)
    return Integral.closed_form(-0.5 * n * LOG_TWO_PI + gammas + log_det + powers)


def independent(
    sums: RawSums, mean: FloatArray, scale: FloatArray, log_prior_of_sigma: Callable[[FloatArray], FloatArray], typical: float
) -> Integral:
    """Log evidence under independent normal priors; `typical` is the size of sigma around which the quadrature looks."""
    root = np.linalg.cholesky(sums.xx) if len(mean) else np.zeros((0, 0))
    # In the coordinates c = root'(best - mean): c ~ N(0, sigma^2 I + root' S root) and the least sum is apart.
    values, vectors = np.linalg.eigh((root.T * scale**2) @ root)
    rotated = vectors.T @ (root.T @ (sums.best - mean))
    values = np.maximum(values, 0.0)

    def log_integrand(log_sigma: FloatArray) -> FloatArray:
        variance = np.exp(2.0 * log_sigma)[:, None]
        apart = -0.5 * np.sum(np.log(variance + values) + rotated**2 / (variance + values), axis=1)
        rest = -(sums.n - len(mean)) * log_sigma - 0.5 * sums.least / variance[:, 0]
        return apart + rest - 0.5 * sums.n * LOG_TWO_PI + log_prior_of_sigma(np.exp(log_sigma)) + log_sigma

    # N(y; X mean, ...) = N(c) times the density of the residual, and y -> (c, residual) is a rotation: X = Q root'.
    return log_integral(log_integrand, math.log(typical) - REACH, math.log(typical) + REACH)
