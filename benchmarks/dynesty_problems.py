"""Example problems of dynesty's documentation as the two Python functions that dynesty takes: no JAX, one point at a time.

Correlated Gaussian (three dimensions, correlation 0.95, flat prior), eggbox and shells (two dimensions), and the linear regression with
underestimated errors (three parameters). `TRUTH` has log Z in closed form or by quadrature on a fine lattice, computed here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp


@dataclass(frozen=True)
class Problem:
    """A likelihood and a prior transform, and log Z."""

    log_likelihood: Callable[[Any], float]
    prior_transform: Callable[[Any], Any]
    n_dim: int
    names: tuple[str, ...]
    truth: Callable[[], float]


# -- correlated Gaussian: mean linspace(-1, 1), unit variances, correlation 0.95, flat on (-10, 10)^3 ----------------------

MEAN = np.linspace(-1.0, 1.0, 3)
COVARIANCE = np.full((3, 3), 0.95) + 0.05 * np.identity(3)
INVERSE = np.linalg.inv(COVARIANCE)
LOG_NORM = -0.5 * (3 * np.log(2 * np.pi) + np.log(np.linalg.det(COVARIANCE)))


def gaussian(x: Any) -> float:
    return float(-0.5 * np.dot(x - MEAN, np.dot(INVERSE, x - MEAN)) + LOG_NORM)


def gaussian_prior(u: Any) -> Any:
    return 10.0 * (2.0 * u - 1.0)


# -- eggbox: five by five peaks on (0, 10 pi)^2 -----------------------------------------------------------------------------

TMAX = 5.0 * np.pi


def eggbox(x: Any) -> float:
    t = 2.0 * TMAX * x - TMAX
    return float((2.0 + np.cos(t[0] / 2.0) * np.cos(t[1] / 2.0)) ** 5.0)


def eggbox_prior(u: Any) -> Any:
    return u


def eggbox_truth() -> float:
    """Gauss-Legendre on each of ten by ten cells: the integrand is smooth inside of every cell."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    at = ((np.arange(10)[:, None] + 0.5 * (nodes + 1.0)) / 10.0).ravel()
    log_weight = np.log(np.tile(weights / 20.0, 10))
    c = np.cos((2.0 * TMAX * at - TMAX) / 2.0)
    return float(logsumexp((2.0 + np.outer(c, c)) ** 5.0 + log_weight[:, None] + log_weight))


# -- two shells of radius 2 and width 0.1 at (-3.5, 0) and (3.5, 0), flat on (-6, 6)^2 ----------------------------------------

RADIUS, WIDTH = 2.0, 0.1
CENTRES = (np.array([-3.5, 0.0]), np.array([3.5, 0.0]))


def log_circle(x: Any, centre: Any) -> float:
    d = np.sqrt(np.sum((x - centre) ** 2, axis=-1))
    return float(-((d - RADIUS) ** 2.0) / (2.0 * WIDTH**2) - np.log(np.sqrt(2.0 * np.pi * WIDTH**2)))


def shells(x: Any) -> float:
    return float(np.logaddexp(log_circle(x, CENTRES[0]), log_circle(x, CENTRES[1])))


def shells_prior(u: Any) -> Any:
    return 12.0 * u - 6.0


def shells_truth() -> float:
    """Each shell is far inside of the square: 2 pi times the integral of r against a normal, twice, over the area 144."""
    r = np.linspace(RADIUS - 12 * WIDTH, RADIUS + 12 * WIDTH, 200_001)
    normal = np.exp(-((r - RADIUS) ** 2) / (2 * WIDTH**2)) / np.sqrt(2 * np.pi * WIDTH**2)
    return float(np.log(2.0 * 2.0 * np.pi * float(np.sum(r * normal) * (r[1] - r[0])) / 144.0))


# -- linear regression: slope, intercept, and a factor f by which errors are too small -----------------------------------------

_rng = np.random.default_rng(56101)
N = 50
X = np.sort(10 * _rng.random(N))
YERR = 0.1 + 0.5 * _rng.random(N)
_true = -0.9594 * X + 4.294
Y = _true + np.abs(0.534 * _true) * _rng.normal(size=N) + YERR * _rng.normal(size=N)


def regression(theta: Any) -> float:
    m, b, lnf = theta
    model = m * X + b
    inv_sigma2 = 1.0 / (YERR**2 + model**2 * np.exp(2 * lnf))
    return float(-0.5 * np.sum((Y - model) ** 2 * inv_sigma2 - np.log(inv_sigma2) + np.log(2 * np.pi)))


def regression_prior(u: Any) -> Any:
    um, ub, ulf = u
    return np.array([5.5 * um - 5.0, 10.0 * ub, 11.0 * ulf - 10.0])


def regression_truth() -> float:
    """A trapezium rule on a lattice that covers the posterior; the likelihood is negligible on its edge in m and b."""
    m, b, lnf = np.linspace(-1.8, 0.2, 241), np.linspace(0.0, 10.0, 301), np.linspace(-10.0, 1.0, 221)
    log_weight = [np.log(np.gradient(axis)) for axis in (m, b, lnf)]
    for log_w in log_weight:
        log_w[[0, -1]] -= np.log(2.0)
    total = []
    for mi, wi in zip(m, log_weight[0], strict=True):
        mean = mi * X[:, None] + b
        values = np.empty((len(b), len(lnf)))
        for k, f in enumerate(lnf):
            inverse = 1.0 / (YERR[:, None] ** 2 + mean**2 * np.exp(2 * f))
            values[:, k] = -0.5 * ((Y[:, None] - mean) ** 2 * inverse - np.log(inverse) + np.log(2 * np.pi)).sum(axis=0)
        total.append(wi + logsumexp(values + log_weight[1][:, None] + log_weight[2]))
    return float(logsumexp(total) - np.log(5.5 * 10.0 * 11.0))


PROBLEMS = {
    "correlated Gaussian": Problem(gaussian, gaussian_prior, 3, ("x", "y", "z"), lambda: -3.0 * np.log(20.0)),
    "eggbox": Problem(eggbox, eggbox_prior, 2, ("x", "y"), eggbox_truth),
    "shells": Problem(shells, shells_prior, 2, ("x", "y"), shells_truth),
    "linear regression": Problem(regression, regression_prior, 3, ("m", "b", "lnf"), regression_truth),
}
