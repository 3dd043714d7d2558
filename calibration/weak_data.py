"""Models of the exact set with tight priors, for the harmonic mean: its variance is finite nowhere else.

The variance of 1 / L under the posterior is finite if and only if E_prior[1 / L] is. Of the zoo's E models as they stand none
qualifies with a variance that is also usable: E1 to E10c and E13 to E16 have priors wider than the likelihood (or likelihoods
that vanish faster than the prior does), and E11 and E12, whose E_prior[1 / L] is finite, have it at about e^28. These are the
same models under priors for which the integral is finite by the formula given with each, chosen for being of different kinds,
and for a relative variance of 1 / L, which is Z E_prior[1 / L] - 1, of at most 1/4; the evidence is in closed form or by
quadrature. (Scales first written down for E1, E9a, E10 and E11, 0.3, 0.03, 0.3 and 0.4, gave finite variances between 0.5 and 5,
with which the method refused most runs: there it is useless, and says so. They were made tighter before any run of the gate.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import lgamma, log, pi
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.special import log_expit, log_ndtr


class Case(NamedTuple):
    """A model and its exact log evidence."""

    model: Any
    log_evidence: float


def _e1() -> Case:
    """theta ~ N(0, 0.1^2), likelihood sd 1/sqrt 5 = 0.447: E_prior[1/L] finite, since 0.1 < 0.447."""
    from zhat import zoo

    model = zoo.example("E1").model
    y, tau2 = np.asarray(model.data), 0.1**2
    n, total = len(y), float(np.sum(y))
    quadratic = float(y @ y) - tau2 * total**2 / (1.0 + n * tau2)
    exact = -0.5 * (n * log(2 * pi) + log(1.0 + n * tau2) + quadratic)
    return Case(model.with_hyper({"scale": 0.1}), exact)


def _beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def _e3a() -> Case:
    """theta ~ Be(12, 40) with 2 successes in 10: 1/L ~ theta^-2 (1 - theta)^-8, finite since 12 > 2 and 40 > 8."""
    from zhat import zoo

    a, b = 12.0, 40.0
    exact = log(45.0) + _beta(a + 2, b + 8) - _beta(a, b)
    return Case(zoo.example("E3a").model.with_hyper({"a": a, "b": b}), exact)


def _e4() -> Case:
    """rate ~ Ga(60, 30), counts summing to 10 over 5: 1/L ~ rate^-10 e^(5 rate), finite since 60 > 10 and 30 > 5."""
    from zhat import zoo

    model = zoo.example("E4").model
    y = np.asarray(model.data)
    a, b, total, n = 60.0, 30.0, float(y.sum()), len(y)
    factorials = sum(lgamma(v + 1.0) for v in y)
    exact = a * log(b) - lgamma(a) + lgamma(a + total) - (a + total) * log(b + n) - factorials
    return Case(model.with_hyper({"a": a, "b": b}), exact)


def _e6() -> Case:
    """p ~ Dirichlet(18, 8, 24) with counts (3, 1, 4): finite since each concentration exceeds its count."""
    from zhat import zoo

    counts, c = np.array([3.0, 1.0, 4.0]), np.array([18.0, 8.0, 24.0])
    choose = lgamma(9.0) - sum(lgamma(k + 1.0) for k in counts)
    rising = sum(lgamma(x + k) - lgamma(x) for x, k in zip(c, counts, strict=True))
    exact = choose + lgamma(c.sum()) - lgamma(c.sum() + 8.0) + rising
    return Case(zoo.example("E6").model.with_hyper({"concentration": c}), exact)


def _e7() -> Case:
    """p ~ Be(30, 45), 4 successes and 6 failures: finite since 30 > 4 and 45 > 6."""
    from zhat import zoo

    a, b = 30.0, 45.0
    return Case(zoo.example("E7").model.with_hyper({"a": a, "b": b}), _beta(a + 4, b + 6) - _beta(a, b))


def _over_slope(log_likelihood: Callable[[float], float], scale: float) -> float:
    top = log_likelihood(0.0)

    def integrand(s: float) -> float:
        return float(np.exp(log_likelihood(s) - top - 0.5 * (s / scale) ** 2))

    value, _ = quad(integrand, -12 * scale, 12 * scale, epsabs=0, epsrel=1e-12, limit=200)
    return top + log(value) - 0.5 * log(2 * pi) - log(scale)


def _e10() -> Case:
    """slope ~ N(0, 0.15^2), probit: 1/L grows like e^(2.25 slope^2) at worst, the prior falls like e^(-22 slope^2)."""
    from zhat import zoo

    model = zoo.example("E10").model
    x, y = (np.asarray(a) for a in model.data)
    exact = _over_slope(lambda s: float(np.sum(log_ndtr((2 * y - 1) * x * s))), 0.15)
    return Case(model.with_hyper({"scale": 0.15}), exact)


def _e11() -> Case:
    """slope ~ N(0, 0.2^2), logit: 1/L grows like e^(4 |slope|) at worst, always finite under a normal prior."""
    from zhat import zoo

    model = zoo.example("E11").model
    x, y = (np.asarray(a) for a in model.data)
    exact = _over_slope(lambda s: float(np.sum(log_expit((2 * y - 1) * x * s))), 0.2)
    return Case(model.with_hyper({"scale": 0.2}), exact)


def _e9a() -> Case:
    """Ten coefficients ~ N(0, 0.015^2); each has likelihood sd 0.079 to 0.112: finite since 0.015 is below both."""
    from zhat import zoo

    model = zoo.example("E9a").model
    design, y = (np.asarray(a) for a in model.data)
    covariance = 0.25 * np.eye(len(y)) + 0.015**2 * design @ design.T
    exact = -0.5 * (len(y) * log(2 * pi) + np.linalg.slogdet(covariance)[1] + y @ np.linalg.solve(covariance, y))
    return Case(model.with_hyper({"scale": 0.015}), float(exact))


CASES: dict[str, Callable[[], Case]] = {
    "E1-tight": _e1,
    "E3a-tight": _e3a,
    "E4-tight": _e4,
    "E6-tight": _e6,
    "E7-tight": _e7,
    "E9a-tight": _e9a,
    "E10-tight": _e10,
    "E11-tight": _e11,
}


@cache
def case(id: str) -> Case:
    """The case of this id, built on first use."""
    return CASES[id]()
