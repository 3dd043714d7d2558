"""Latent Gaussian models with known evidence: random effects, smoothers of counts, states in noise, stochastic volatility.

The truths are quadratures that do not use Laplace's method: exact inner integrals on grids (a filter over a grid of states for the
walks, the Kalman filter for Gaussian observations), two grids each, and importance sampling in all dimensions as a second way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpyro.distributions as dist
from numpyro.distributions import constraints, transforms

from zhat.model.fields.build import model
from zhat.model.fields.observations import Binomial, Gaussian, Observation, Poisson, StochasticVolatility
from zhat.model.fields.terms import AR1, IID, RW1, Fixed, Intercept, Term
from zhat.model.model import Model
from zhat.zoo._example import Example
from zhat.zoo.fields import series

Parts = tuple[Any, list[Term], Observation]
BY_FILTER = "filter over a grid of states and Gauss-Legendre in the standard deviation, two sets of nodes to 6e-7"


def _seeds(interaction: bool) -> Parts:
    """Germination on 21 plates: binomial, logit link, covariates and a random effect of the plate."""
    variety, extract = series.SEEDS_VARIETY, series.SEEDS_EXTRACT
    columns = [variety, extract, variety * extract][: 3 if interaction else 2]
    wide = math.sqrt(1000.0)
    terms = [
        Intercept(name="alpha0", sd=wide),
        Fixed(name="alpha", columns=np.stack(columns, axis=1), sd=wide),
        IID(name="b", precision=dist.Gamma(0.5, 0.0164)),
    ]
    return series.SEEDS_GERMINATED, terms, Binomial(series.SEEDS_PLANTED)


def _walk() -> list[Term]:
    """A random walk on the log or logit scale: first value N(0, 2^2), steps of a standard deviation Exp(log 100)."""
    return [RW1(name="x", sd=dist.Exponential(math.log(100.0)), start=2.0)]


def _coal() -> Parts:
    return series.COAL, _walk(), Poisson()


def _tokyo() -> Parts:
    return series.TOKYO, _walk(), Binomial(series.TOKYO_TRIALS)


def _noisy_ar() -> Parts:
    terms: list[Term] = [AR1(name="x", sd=dist.HalfNormal(1.0), coefficient=dist.Uniform(-1.0, 1.0))]
    return series.NOISY_AR, terms, Gaussian(dist.HalfNormal(1.0))


def logit_coefficient(mean: float, sd: float) -> Any:
    """The prior of a coefficient phi in (-1, 1) with log((1 + phi) / (1 - phi)) ~ N(mean, sd^2)."""
    parts = [transforms.SigmoidTransform(), transforms.AffineTransform(-1.0, 2.0, domain=constraints.unit_interval)]
    return dist.TransformedDistribution(dist.Normal(mean, sd), parts)


def _volatility() -> Parts:
    path = AR1(name="x", precision=dist.Gamma(1.0, 0.1), coefficient=logit_coefficient(3.0, 1.0))
    return series.POUND_DOLLAR, [Intercept(name="mu", sd=1.0), path], StochasticVolatility()


# Id, parts, log evidence, where it comes from, whose data, title.
_TABLE: dict[str, tuple[Callable[[], Parts], float, str, str, str]] = {
    "seeds-main": (
        partial(_seeds, False),
        -72.505043,
        "quadrature over the precision and the effects, two grids to 1e-11",
        "Crowder (1978), priors of the INLA case study",
        "germination of seeds with random effects of the plates",
    ),
    "seeds-interaction": (
        partial(_seeds, True),
        -74.839189,
        "quadrature over the precision and the effects, two grids to 1e-11",
        "Crowder (1978), priors of the INLA case study",
        "germination of seeds with random effects of the plates and an interaction",
    ),
    "coal-smooth": (_coal, -177.46531, BY_FILTER, "Jarrett (1979)", "random-walk smoother of coal-mining disasters, 1851-1962"),
    "tokyo": (_tokyo, -320.47301, BY_FILTER, "Kitagawa (1987)", "random-walk smoother of rain in Tokyo, 366 days"),
    "noisy-ar": (
        _noisy_ar,
        -44.30173,
        "Kalman filter and Gauss-Legendre, 1e-6; trapezoid rule; dense covariance",
        "simulated for zhat",
        "states of an autoregression in noise, three unknown hyperparameters",
    ),
    "stochastic-volatility": (
        _volatility,
        -62.55874,
        "filter over a grid of states and a trapezoid rule in three dimensions, two grids to 1e-6",
        "Harvey, Ruiz & Shephard (1994), priors after Rue, Martino & Chopin (2009)",
        "stochastic volatility of fifty pound-dollar returns",
    ),
}
IDS = tuple(_TABLE)


def latent_gaussian(id: str) -> Example:
    """The example of this id; its model declares its latents."""
    parts, log_evidence, formula, source, title = _TABLE[id]
    tags = ("many-dimensional", "hierarchical", *(() if id.startswith("seeds") else ("correlated",)))
    return Example(id, title, model(*parts(), name=id), log_evidence, formula, source, tags)


def from_noise(id: str) -> Model:
    """The same model with its effects written as functions of standard noise, for samplers; the evidence is the same."""
    return model(*_TABLE[id][0](), name=f"{id} from noise", from_noise=True)
