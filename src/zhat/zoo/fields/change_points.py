"""Segments of a series with parameters of their own, and models with a change point in them (Wyse, Friel & Rue 2011).

Each function gives the matrix S of log evidences of all segments, for `numerics.fields.change_points`:

* `poisson_segments`: independent counts with a rate Ga(2, 1): a closed form.
* `walk_segments`: counts whose log rate is a random walk that begins anew in each segment, with a standard deviation of its own: a
  filter over a grid of states, for all segments with one start together, and Gauss-Legendre in the standard deviation.
* `ar_segments`: a level with AR(1) errors; level and variance in closed form, the coefficient by Gauss-Legendre.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import gammaln, logsumexp
from scipy.special import gammaln as log_gamma

from zhat.model.model import Model
from zhat.numerics._checks import FloatArray
from zhat.zoo._example import Example
from zhat.zoo.fields import series

# Log evidences for k = 0, 1, ... change points, computed independently.
COAL_INDEPENDENT = (-205.919727, -176.467899, -175.618959, -175.371757, -175.249607)
COAL_WALK = (-177.465, -177.426, -177.571, -177.957, -178.416)
AR_ERRORS = (-58.056326, -51.204793, -52.145196)
# Observations of the shortest segment with AR(1) errors.
SHORTEST = 5


def poisson_segments(y: FloatArray, shape: float = 2.0, rate: float = 1.0) -> FloatArray:
    """log of the integral of prod Poisson(y_i; lambda) Ga(lambda; shape, rate), for every segment."""
    total = np.concatenate([[0.0], np.cumsum(y)])
    constants = np.concatenate([[0.0], np.cumsum(log_gamma(y + 1.0))])
    start, end = np.triu_indices(len(y))
    a, m = shape + total[end + 1] - total[start], end - start + 1.0
    out = np.full((len(y), len(y)), -np.inf)
    out[start, end] = (
        shape * math.log(rate) - log_gamma(shape) + log_gamma(a) - a * np.log(rate + m) - constants[end + 1] + constants[start]
    )
    return out


def walk_segments(
    y: FloatArray, first_sd: float = 2.0, rate: float = math.log(100.0), n_states: int = 280, n_nodes: int = 20
) -> FloatArray:
    """Poisson counts, log rate a random walk: first value N(0, first_sd^2), steps N(0, sd^2), sd ~ Exp(rate)."""
    n = len(y)
    states = np.linspace(-9.0, 5.0, n_states)  # beyond, the counts or the prior leave nothing
    step = states[1] - states[0]
    log_density = y[:, None] * states - np.exp(states) - log_gamma(y + 1.0)[:, None]
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    # u = 1 - exp(-rate sd) is uniform beforehand; in sqrt(u) the integrand is smooth at zero.
    v = 0.5 * (nodes + 1.0)
    sds, shares = -np.log1p(-(v**2)) / rate, weights * v
    first = np.exp(-0.5 * (states / first_sd) ** 2) * step / (first_sd * math.sqrt(2.0 * math.pi))
    total = np.full((n_nodes, n, n), -np.inf)
    for k, sd in enumerate(sds):
        # A step finer than the grid is spread over it so that its variance is right.
        kernel = np.exp(-0.5 * ((states[:, None] - states) / max(sd, step)) ** 2)
        kernel /= kernel.sum(axis=1, keepdims=True)
        if sd < step:
            stay = 1.0 - (sd / step) ** 2 / float(kernel[n_states // 2] @ ((states - states[n_states // 2]) / step) ** 2)
            kernel = stay * np.eye(n_states) + (1.0 - stay) * kernel
        alive = np.zeros((n, n_states))
        log_scale = np.zeros(n)
        for t in range(n):
            alive[:t] = alive[:t] @ kernel
            alive[t] = first
            alive[: t + 1] *= np.exp(log_density[t])
            mass = alive[: t + 1].sum(axis=1)
            alive[: t + 1] /= mass[:, None]
            log_scale[: t + 1] += np.log(mass)
            total[k, : t + 1, t] = log_scale[: t + 1]
    top = total.max(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(top), top + np.log(np.einsum("k,kst->st", shares, np.exp(total - top))), -np.inf)


def ar_segments(y: FloatArray, shortest: int = SHORTEST, n_nodes: int = 400) -> FloatArray:
    """A level beta ~ N(0, 10 v) with stationary AR(1) errors of innovation variance v ~ IG(2, 1), coefficient ~ U(-1, 1)."""
    n = len(y)
    squares = np.concatenate([[0.0], np.cumsum(y**2)])
    products = np.concatenate([[0.0], np.cumsum(y[1:] * y[:-1])])
    sums = np.concatenate([[0.0], np.cumsum(y)])
    start, end = np.triu_indices(n, k=shortest - 1)
    m = (end - start + 1.0)[:, None]
    phi, weights = np.polynomial.legendre.leggauss(n_nodes)
    square = (squares[end + 1] - squares[start])[:, None]
    product = (products[end] - products[start])[:, None]
    ends, total = (y[start] + y[end])[:, None], (sums[end + 1] - sums[start])[:, None]
    yy = (1.0 + phi**2) * square - phi**2 * (y[start] ** 2 + y[end] ** 2)[:, None] - 2.0 * phi * product
    ones = m * (1.0 + phi**2) - 2.0 * phi**2 - 2.0 * phi * (m - 1.0)
    cross = (1.0 - phi) ** 2 * total + phi * (1.0 - phi) * ends
    quadratic = yy - 10.0 * cross**2 / (1.0 + 10.0 * ones)
    log_determinant = np.log1p(10.0 * ones) - np.log1p(-(phi**2))
    a = 2.0 + 0.5 * m
    value = (
        log_gamma(a) - log_gamma(2.0) - a * np.log1p(0.5 * quadratic) - 0.5 * log_determinant - 0.5 * m * math.log(2.0 * math.pi)
    )
    top = value.max(axis=1, keepdims=True)
    out = np.full((n, n), -np.inf)
    out[start, end] = top[:, 0] + np.log(np.exp(value - top) @ (0.5 * weights))
    return out


def coal_one_change() -> Example:
    """Coal-mining disasters with one change of the rate; its place is summed out of the likelihood."""

    def log_likelihood(params: Any, y: Any) -> Any:
        rate = params["rate"]
        before = jnp.cumsum(y * jnp.log(rate[0]) - rate[0])[:-1]
        after = jnp.cumsum((y * jnp.log(rate[1]) - rate[1])[::-1])[::-1][1:]
        return logsumexp(before + after) - jnp.log(y.shape[0] - 1.0) - jnp.sum(gammaln(y + 1.0))

    def prior() -> Any:
        return {"rate": dist.Gamma(2.0, 1.0).expand([2]).to_event(1)}

    return Example(
        id="coal-one-change",
        title="coal-mining disasters, one change of the rate",
        model=Model(log_likelihood, prior, data=series.COAL, name="coal-one-change"),
        log_evidence=COAL_INDEPENDENT[1],
        formula="sum over the 111 places of products of gamma functions",
        source="Jarrett (1979)",
        tags=("two-dimensional", "skewed"),
    )


def ar_errors() -> Example:
    """A level with AR(1) errors, forty values: the segment of no change."""

    def log_likelihood(params: Any, y: Any) -> Any:
        phi, variance, level = params["phi"], params["variance"], params["level"]
        errors = y - level
        innovations = errors[1:] - phi * errors[:-1]
        squares = jnp.sum(innovations**2) + (1.0 - phi) * (1.0 + phi) * errors[0] ** 2
        n = y.shape[0]
        return -0.5 * (n * jnp.log(2.0 * jnp.pi * variance) - jnp.log1p(-(phi**2)) + squares / variance)

    def prior() -> None:
        numpyro.sample("phi", dist.Uniform(-1.0, 1.0))
        variance = numpyro.sample("variance", dist.InverseGamma(2.0, 1.0))
        numpyro.sample("level", dist.Normal(0.0, jnp.sqrt(10.0 * variance)))

    return Example(
        id="ar-errors",
        title="a level with autoregressive errors",
        model=Model(log_likelihood, prior, data=series.AR_CHANGE, name="ar-errors", latent=("level",)),
        log_evidence=AR_ERRORS[0],
        formula="closed form in level and variance, quadrature in the coefficient; brute force in three dimensions to 7e-7",
        source="simulated for zhat, after Wyse, Friel & Rue (2011)",
        tags=("many-dimensional", "correlated", "bounded"),
    )
