"""Models with latent variables: a Gaussian process, time series and the eight schools.

The latent variables are sampled, not integrated out: that is what makes them many-dimensional and correlated.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

from zhat.model.model import Model
from zhat.zoo._example import Example
from zhat.zoo.parts.densities import LOG_TWO_PI, log_normal

SERIES = np.array([0.3, 1.1, 0.4, -0.6, -1.4, -0.2, 0.9, 1.7])
SCHOOLS = (
    np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0]),
    np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0]),
)
SCHOOLS_LOG_EVIDENCE = -31.311347352293
SCHOOLS_FORMULA = "one-dimensional quadrature over tau of N(y; 0, diag(sigma^2 + tau^2) + 25 11')"


def gaussian_process() -> Example:
    """E13: five values of a smooth function seen with small noise; the prior is nearly singular (condition 3e3)."""
    x = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    factor = np.linalg.cholesky(np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2))

    def log_likelihood(params: Any, y: Any) -> Any:
        return jnp.sum(log_normal(y, params["f"], 0.1))

    def prior() -> Any:
        return {"f": dist.MultivariateNormal(np.zeros(5), scale_tril=jnp.asarray(factor))}

    return Example(
        id="E13",
        title="Gaussian process at five points",
        model=Model(log_likelihood, prior, data=np.array([0.1, 0.5, 0.9, 0.8, 0.2]), name="E13", latent=("f",)),
        log_evidence=-1.735532586117,
        formula="log N(y; 0, K + 0.01 I)",
        source="exact set of zhat",
        tags=("many-dimensional", "correlated"),
    )


def noisy_autoregression() -> Example:
    """E14a: a stationary AR(1) path (coefficient 0.8, innovation variance 1) seen with noise of sd 0.5; eight states."""
    times = np.arange(len(SERIES))
    covariance = 0.8 ** np.abs(times[:, None] - times[None, :]) / (1.0 - 0.8**2)
    factor = np.linalg.cholesky(covariance)

    def log_likelihood(params: Any, y: Any) -> Any:
        return jnp.sum(log_normal(y, params["x"], 0.5))

    def prior() -> Any:
        return {"x": dist.MultivariateNormal(np.zeros(len(times)), scale_tril=jnp.asarray(factor))}

    return Example(
        id="E14a",
        title="states of a noisy autoregression",
        model=Model(log_likelihood, prior, data=SERIES, name="E14a", latent=("x",)),
        log_evidence=-11.314840530073,
        formula="Kalman filter, or log N(y; 0, Sigma + 0.25 I)",
        source="exact set of zhat",
        tags=("many-dimensional", "correlated"),
    )


def autoregression() -> Example:
    """E14b: the series itself is a stationary AR(1) with unknown coefficient; skewed against the bounds at -1 and 1."""

    def log_likelihood(params: Any, y: Any) -> Any:
        phi = params["phi"]
        stationary_precision = (1.0 - phi) * (1.0 + phi)
        start = 0.5 * (jnp.log(stationary_precision) - LOG_TWO_PI - stationary_precision * y[0] ** 2)
        return start + jnp.sum(log_normal(y[1:], phi * y[:-1], 1.0))

    def prior() -> Any:
        return {"phi": dist.Uniform(-1.0, 1.0)}

    return Example(
        id="E14b",
        title="coefficient of a stationary autoregression",
        model=Model(log_likelihood, prior, data=SERIES, name="E14b"),
        log_evidence=-11.166137023792,
        formula="one-dimensional quadrature",
        source="exact set of zhat",
        tags=("one-dimensional", "bounded", "skewed"),
    )


def eight_schools() -> Example:
    """E15: eight schools, centred: theta_i ~ N(mu, tau^2), mu ~ N(0, 5^2), tau ~ C+(0, 5): a mild funnel at tau = 0."""

    def log_likelihood(params: Any, data: Any) -> Any:
        y, sigma = data
        return jnp.sum(log_normal(y, params["theta"], sigma))

    def prior() -> None:
        mu = numpyro.sample("mu", dist.Normal(0.0, 5.0))
        tau = numpyro.sample("tau", dist.HalfCauchy(5.0))
        numpyro.sample("theta", dist.Normal(mu, tau).expand([8]).to_event(1))

    return Example(
        id="E15",
        title="eight schools, centred",
        model=Model(log_likelihood, prior, data=SCHOOLS, name="E15", latent=("mu", "theta")),
        log_evidence=SCHOOLS_LOG_EVIDENCE,
        formula=SCHOOLS_FORMULA,
        source="Rubin (1981), priors of Stan's reference posterior",
        tags=("many-dimensional", "hierarchical", "correlated"),
    )


def eight_schools_noncentred() -> Example:
    """E15n: the same model with theta_i = mu + tau z_i: another geometry, the same evidence to the last digit."""

    def log_likelihood(params: Any, data: Any) -> Any:
        y, sigma = data
        return jnp.sum(log_normal(y, params["mu"] + params["tau"] * params["z"], sigma))

    def prior() -> Any:
        return {
            "mu": dist.Normal(0.0, 5.0),
            "tau": dist.HalfCauchy(5.0),
            "z": dist.Normal(0.0, 1.0).expand([8]).to_event(1),
        }

    return Example(
        id="E15n",
        title="eight schools, non-centred",
        model=Model(log_likelihood, prior, data=SCHOOLS, name="E15n", latent=("mu", "z")),
        log_evidence=SCHOOLS_LOG_EVIDENCE,
        formula=SCHOOLS_FORMULA,
        source="Rubin (1981), priors of Stan's reference posterior",
        tags=("many-dimensional", "hierarchical"),
    )
