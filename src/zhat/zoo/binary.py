"""Binary regressions with one or two coefficients: no closed form (but for E10c), quadrature to twelve digits."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.scipy.special import log_ndtr

from zhat.model.model import Model
from zhat.zoo._example import Example
from zhat.zoo.parts.densities import log_bernoulli_logit

SIX_POINTS = (np.array([-1.0, -0.5, 0.0, 0.5, 1.0, 1.5]), np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0]))
SOURCE = "small binary regression; exact set of zhat"


def probit() -> Example:
    """E10: probit(x slope) on six points, slope ~ N(0, 1); nearly Gaussian, slightly skewed."""
    return _probit("E10", SIX_POINTS, -3.610943944714, "one-dimensional quadrature")


def probit_closed_form() -> Example:
    """E10c: probit with two successes at x = 1, 2: an orthant probability, so exact; the likelihood never falls."""
    data = (np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    return _probit("E10c", data, -1.024498503265, "log(1/4 + asin(2/sqrt 10)/(2 pi))")


def _probit(id: str, data: Any, log_evidence: float, formula: str) -> Example:
    def log_likelihood(params: Any, data: Any) -> Any:
        x, y = data
        return jnp.sum(log_ndtr((2.0 * y - 1.0) * x * params["slope"]))

    return Example(
        id=id,
        title="probit regression through the origin",
        model=Model(log_likelihood, _slope, data=data, hyper={"scale": 1.0}, name=id, latent=("slope",)),
        log_evidence=log_evidence,
        formula=formula,
        source=SOURCE,
        tags=("one-dimensional", "skewed"),
    )


def _slope(hyper: Any) -> Any:
    return {"slope": dist.Normal(0.0, hyper["scale"])}


def logit() -> Example:
    """E11: logit(x slope) on the data of E10, slope ~ N(0, 2^2). Laplace errs by -0.0251, a Gaussian ELBO by -0.0133."""
    return _logit("E11", "logistic regression through the origin", SIX_POINTS, 2.0, -3.601498708374)


def separated_classes() -> Example:
    """Logistic regression on successes alone, slope ~ N(0, 100^2): no peak, and a likelihood of e^-1000 on half of the prior.

    E_beta[log L] rises by hundreds of nats within the first hundredth of the way, and its variance falls by a thousand within one
    step of a ladder that suits the weights.
    """
    data = (np.linspace(0.2, 2.0, 12), np.ones(12))
    return _logit("separated-classes", "logistic regression on separated classes", data, 100.0, -0.741141852045, "stress")


def _logit(id: str, title: str, data: Any, scale: float, log_evidence: float, *tags: str) -> Example:
    def log_likelihood(params: Any, data: Any) -> Any:
        x, y = data
        return log_bernoulli_logit(y, x * params["slope"])

    return Example(
        id=id,
        title=title,
        model=Model(log_likelihood, _slope, data=data, hyper={"scale": scale}, name=id, latent=("slope",)),
        log_evidence=log_evidence,
        formula="one-dimensional quadrature",
        source=SOURCE,
        tags=("one-dimensional", "skewed", *tags),
    )


def logit_with_intercept() -> Example:
    """E12: logit(intercept + slope x) on the data of E10, both N(0, 2^2); skewed and correlated."""

    def log_likelihood(params: Any, data: Any) -> Any:
        x, y = data
        return log_bernoulli_logit(y, params["intercept"] + params["slope"] * x)

    def prior(hyper: Any) -> Any:
        return {"intercept": dist.Normal(0.0, hyper["scale"]), "slope": dist.Normal(0.0, hyper["scale"])}

    return Example(
        id="E12",
        title="logistic regression with intercept",
        model=Model(log_likelihood, prior, data=SIX_POINTS, hyper={"scale": 2.0}, name="E12", latent=("intercept", "slope")),
        log_evidence=-4.304041094829,
        formula="two-dimensional quadrature",
        source=SOURCE,
        tags=("two-dimensional", "skewed", "correlated"),
    )
