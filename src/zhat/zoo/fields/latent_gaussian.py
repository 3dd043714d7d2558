"""Latent Gaussian models with known evidence: random effects, smoothers of counts, states in noise, stochastic volatility.

The truths are quadratures that do not use Laplace's method: exact inner integrals on grids (a filter over a grid of states for the
walks, the Kalman filter for Gaussian observations), two grids each, and importance sampling in all dimensions as a second way.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpyro.distributions as dist
from numpyro.distributions import constraints, transforms

from zhat.model.fields.build import model
from zhat.model.fields.observations import Binomial, Gaussian, Poisson, StochasticVolatility
from zhat.model.fields.terms import AR1, IID, RW1, Fixed, Intercept
from zhat.model.model import Model
from zhat.zoo._example import Example
from zhat.zoo.fields import series

SEEDS_LOG_EVIDENCE = {"main": -72.505043, "interaction": -74.839189}


def seeds(effects: str) -> Example:
    """Germination on 21 plates: binomial, logit link, covariates and a random effect of the plate."""
    variety, extract = series.SEEDS_VARIETY, series.SEEDS_EXTRACT
    columns = [variety, extract, variety * extract][: 3 if effects == "interaction" else 2]
    wide = math.sqrt(1000.0)
    terms = [
        Intercept(name="alpha0", sd=wide),
        Fixed(name="alpha", columns=np.stack(columns, axis=1), sd=wide),
        IID(name="b", precision=dist.Gamma(0.5, 0.0164)),
    ]
    return Example(
        id=f"seeds-{effects}",
        title=f"germination of seeds with random effects, {effects}",
        model=model(series.SEEDS_GERMINATED, terms, Binomial(series.SEEDS_PLANTED), name=f"seeds-{effects}"),
        log_evidence=SEEDS_LOG_EVIDENCE[effects],
        formula="quadrature over the precision and the effects, two grids to 1e-6",
        source="Crowder (1978), priors of the INLA case study",
        tags=("many-dimensional", "hierarchical"),
    )


def walk(name: str) -> RW1:
    """A random walk on the log or logit scale: first value N(0, 2^2), steps of a standard deviation Exp(log 100)."""
    return RW1(name=name, sd=dist.Exponential(math.log(100.0)), start=2.0)


def coal() -> Example:
    """Coal-mining disasters 1851-1962: Poisson counts whose log rate is a random walk."""
    return Example(
        id="coal-smooth",
        title="random-walk smoother of coal-mining disasters",
        model=model(series.COAL, [walk("x")], Poisson(), name="coal-smooth"),
        log_evidence=-177.46531,
        formula="filter over a grid of states and Gauss-Legendre in the standard deviation, two sets of nodes to 6e-7",
        source="Jarrett (1979)",
        tags=("many-dimensional", "hierarchical", "correlated"),
    )


def tokyo() -> Example:
    """Rain in Tokyo, 366 days of two years: binomial counts whose logit is a random walk."""
    return Example(
        id="tokyo",
        title="random-walk smoother of rain in Tokyo",
        model=model(series.TOKYO, [walk("x")], Binomial(series.TOKYO_TRIALS), name="tokyo"),
        log_evidence=-320.47301,
        formula="filter over a grid of states and Gauss-Legendre in the standard deviation, two sets of nodes to 5e-7",
        source="Kitagawa (1987)",
        tags=("many-dimensional", "hierarchical", "correlated"),
    )


def noisy_ar() -> Example:
    """A stationary autoregression in noise, with unknown coefficient and both standard deviations."""
    terms = [AR1(name="x", sd=dist.HalfNormal(1.0), coefficient=dist.Uniform(-1.0, 1.0))]
    return Example(
        id="noisy-ar",
        title="states of an autoregression in noise, three unknown hyperparameters",
        model=model(series.NOISY_AR, terms, Gaussian(dist.HalfNormal(1.0)), name="noisy-ar"),
        log_evidence=-44.30173,
        formula="Kalman filter and Gauss-Legendre, 1e-6; trapezoid rule; dense covariance",
        source="simulated for zhat",
        tags=("many-dimensional", "hierarchical", "correlated"),
    )


def logit_coefficient(mean: float, sd: float) -> Any:
    """The prior of a coefficient phi in (-1, 1) with log((1 + phi) / (1 - phi)) ~ N(mean, sd^2)."""
    parts = [transforms.SigmoidTransform(), transforms.AffineTransform(-1.0, 2.0, domain=constraints.unit_interval)]
    return dist.TransformedDistribution(dist.Normal(mean, sd), parts)


def volatility_model(returns: Any, name: str = "stochastic-volatility") -> Model:
    """Returns N(0, exp(mu + x_t)), x a stationary autoregression."""
    path = AR1(name="x", precision=dist.Gamma(1.0, 0.1), coefficient=logit_coefficient(3.0, 1.0))
    return model(returns, [Intercept(name="mu", sd=1.0), path], StochasticVolatility(), name=name)


def stochastic_volatility() -> Example:
    """Fifty daily returns of the pound in dollars, 1981: stochastic volatility."""
    return Example(
        id="stochastic-volatility",
        title="stochastic volatility of fifty pound-dollar returns",
        model=volatility_model(series.POUND_DOLLAR),
        log_evidence=-62.55874,
        formula="filter over a grid of states and a trapezoid rule in three dimensions, two grids to 1e-6",
        source="Harvey, Ruiz & Shephard (1994), priors after Rue, Martino & Chopin (2009)",
        tags=("many-dimensional", "hierarchical", "correlated"),
    )
