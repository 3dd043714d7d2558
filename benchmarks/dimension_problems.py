"""Posteriors of 10 to 1,000 dimensions: a Gaussian, a logistic regression, and latent fields of counts.

A log-Gaussian Cox process with a known covariance is a plain NumPyro model whose posterior is log-concave; its truth is a filter over a grid
of states. The field is a random walk whose steps have an unknown standard deviation, as a plain NumPyro model and declared with
`zhat.latent`; its truth is such a filter and Gauss-Legendre in that standard deviation. The logistic regression has no truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from heavy_problems import logistic as logistic_regression

import zhat
from zhat import zoo

# Prior of the field: first value N(0, 2^2), steps of a standard deviation Exp(mean 0.2).
START, RATE = 2.0, 5.0
# The Cox process: mean, standard deviation and correlation length of the log rate, on (0, 1).
MEAN, HEIGHT, LENGTH = 1.0, 0.7, 0.1

Problem = tuple[Any, float | None]


def gaussian(d: int) -> Problem:
    """A Gaussian whose coordinates are all correlated by 0.9; truth: exact."""
    example = zoo.gaussian(d)
    return example.model, example.log_evidence


def logistic(d: int) -> Problem:
    """Five rows a coefficient, N(0, 1) priors."""
    return logistic_regression(5 * d, d), None


def counts(d: int) -> np.ndarray:
    """Simulated counts of a field of d sites."""
    rng = np.random.default_rng(5)
    return rng.poisson(np.exp(1.0 + 0.8 * np.sin(6.0 * np.pi * np.arange(d) / d) + 0.1 * rng.standard_normal(d)))


def cox(d: int) -> Problem:
    """Counts in d cells of (0, 1), their log rate a stationary Gaussian process with an exponential covariance, as standard noise."""
    y = counts(d)
    at = (np.arange(d) + 0.5) / d
    covariance = HEIGHT**2 * np.exp(-np.abs(at[:, None] - at[None, :]) / LENGTH)
    root = np.linalg.cholesky(covariance)

    def model(y: Any, root: Any) -> None:
        with numpyro.plate("cells", d):
            noise = numpyro.sample("noise", dist.Normal(0.0, 1.0))
        numpyro.sample("y", dist.Poisson(jnp.exp(MEAN + root @ noise)), obs=y)

    return zhat.Model.from_numpyro(model, y=y, root=root, name=f"cox-{d}"), cox_truth(y)


def cox_truth(y: np.ndarray, n_states: int = 2000) -> float:
    """A filter over a grid of log rates: the covariance is that of an autoregression of first order."""
    correlation = math.exp(-1.0 / (len(y) * LENGTH))
    grid = np.linspace(MEAN - 7.0 * HEIGHT, MEAN + 7.0 * HEIGHT, n_states)
    gap, centred = grid[1] - grid[0], grid - MEAN
    sd = HEIGHT * math.sqrt(1.0 - correlation**2)
    step = np.exp(-0.5 * ((centred[:, None] - correlation * centred) / sd) ** 2) / (sd * math.sqrt(2.0 * math.pi)) * gap
    first = np.exp(-0.5 * (centred / HEIGHT) ** 2) / (HEIGHT * math.sqrt(2.0 * math.pi)) * gap
    return _filtered(_log_poisson(y, grid), step, first)


def _log_poisson(y: np.ndarray, log_rate: np.ndarray) -> np.ndarray:
    return np.asarray(y[:, None] * log_rate - np.exp(log_rate) - np.array([math.lgamma(v + 1.0) for v in y])[:, None])


def _filtered(log_likelihood: np.ndarray, step: np.ndarray, first: np.ndarray) -> float:
    total, state = 0.0, first
    for row, at in enumerate(log_likelihood):
        state = (state if row == 0 else step @ state) * np.exp(at - at.max())
        total += at.max() + math.log(state.sum())
        state = state / state.sum()
    return float(total)


def field(d: int) -> Problem:
    """The field as a plain NumPyro model of its standardised steps and their standard deviation."""
    y = counts(d)

    def model(y: Any) -> None:
        sd = numpyro.sample("sd", dist.Exponential(RATE))
        first = numpyro.sample("first", dist.Normal(0.0, START))
        with numpyro.plate("steps", d - 1):
            step = numpyro.sample("step", dist.Normal(0.0, 1.0))
        path = first + sd * jnp.concatenate([jnp.zeros(1), jnp.cumsum(step)])
        numpyro.sample("y", dist.Poisson(jnp.exp(path)), obs=y)

    return zhat.Model.from_numpyro(model, y=y, name=f"field-{d}"), field_truth(y)


def declared_field(d: int) -> Problem:
    """The same field declared as latent Gaussian."""
    y = counts(d)
    walk = zhat.latent.RW1(name="x", sd=dist.Exponential(RATE), start=START)
    return zhat.latent.model(y, [walk], zhat.latent.Poisson(), name=f"declared-field-{d}"), field_truth(y)


def field_truth(y: np.ndarray, n_states: int = 600, n_sds: int = 100) -> float:
    """Filter over a grid of states, for each of some standard deviations of the steps; quadrature over these.

    A sum over the grid is exact for a normal as narrow as its gap. Below that standard deviation the field is a constant as far as the
    likelihood knows: the prior's mass there counts at the value of the edge.
    """
    grid = np.linspace(-3.0, 5.0, n_states)
    gap = grid[1] - grid[0]
    log_likelihood = _log_poisson(y, grid)
    first = np.exp(-0.5 * (grid / START) ** 2) / (START * math.sqrt(2.0 * math.pi)) * gap

    def log_evidence(sd: float) -> float:
        step = np.exp(-0.5 * ((grid[:, None] - grid) / sd) ** 2) / (sd * math.sqrt(2.0 * math.pi)) * gap
        return _filtered(log_likelihood, step, first)

    nodes, weights = np.polynomial.legendre.leggauss(n_sds)
    low, high = math.log(gap), math.log(1.5)
    log_sd = 0.5 * (high - low) * (nodes + 1.0) + low
    terms = [log_evidence(math.exp(at)) + math.log(RATE) - RATE * math.exp(at) + at for at in log_sd]
    terms = np.asarray(terms) + np.log(0.5 * (high - low) * weights)
    below = log_evidence(gap) + math.log(-math.expm1(-RATE * gap))
    return float(np.logaddexp.reduce([*terms, below]))


PROBLEMS: dict[str, Callable[[int], Problem]] = {
    "gaussian": gaussian,
    "logistic": logistic,
    "cox": cox,
    "field": field,
    "declared-field": declared_field,
}
