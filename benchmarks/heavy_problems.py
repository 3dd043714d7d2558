"""Models of 5 to 101 parameters with cheap likelihoods on which the default needs more than one family of methods.

Truths are known where they can be computed; where not, agreement of the families is what there is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

import zhat
from zhat import zoo


def _log_normal(x: Any, mean: Any, sd: Any) -> Any:
    return -0.5 * ((x - mean) / sd) ** 2 - jnp.log(sd) - 0.5 * math.log(2.0 * math.pi)


def _box(half_width: float, d: int) -> Any:
    return dist.Uniform(-half_width, half_width).expand([d]).to_event(1)


def ridge() -> tuple[Any, float | None]:
    """Rosenbrock's function in ten dimensions, each coordinate tied to the square of the one before; uniform on [-5, 5]."""

    def log_likelihood(params: Any) -> Any:
        x = params["x"]
        return -jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    return zhat.Model(log_likelihood, {"x": _box(5.0, 10)}, name="ridge"), None


def ridge_normal() -> tuple[Any, float | None]:
    """A gentler ridge, ten times as wide, under normal priors."""

    def log_likelihood(params: Any) -> Any:
        x = params["x"]
        return -jnp.sum(5.0 * (x[1:] - x[:-1] ** 2) ** 2)

    return zhat.Model(log_likelihood, {"x": dist.Normal(1.0, 0.7).expand([10]).to_event(1)}, name="ridge-normal"), None


def local_level() -> tuple[Any, float | None]:
    """Fifty levels of a random walk seen with noise, and the two standard deviations; truth: Kalman filter and quadrature."""
    rng = np.random.default_rng(1)
    level = np.cumsum(0.5 * rng.standard_normal(50))
    y = level + rng.standard_normal(50)

    def prior() -> Any:
        return {
            "noise": dist.HalfNormal(2.0),
            "drift": dist.HalfNormal(1.0),
            "step": dist.Normal(0.0, 1.0).expand([50]).to_event(1),
        }

    def log_likelihood(params: Any, y: Any) -> Any:
        level = params["drift"] * jnp.cumsum(params["step"])
        return jnp.sum(_log_normal(y, level, params["noise"]))

    return zhat.Model(log_likelihood, prior, data=y, name="local-level"), _local_level_truth(y)


def _local_level_truth(y: np.ndarray) -> float:
    """Quadrature over the two standard deviations of the normal density of y."""
    n = len(y)
    walk = np.minimum(np.arange(1, n + 1)[:, None], np.arange(1, n + 1)[None, :]).astype(float)
    values, vectors = np.linalg.eigh(walk)
    z2 = (vectors.T @ y) ** 2
    nodes, weights = np.polynomial.legendre.leggauss(400)
    noise, drift = 4.0 * (nodes + 1.0), 2.5 * (nodes + 1.0)
    variance = drift[None, :, None] ** 2 * values + noise[:, None, None] ** 2
    log = -0.5 * np.sum(z2 / variance + np.log(2.0 * np.pi * variance), axis=2)
    log += 2.0 * math.log(2.0) - math.log(2.0 * np.pi) - math.log(2.0) - noise[:, None] ** 2 / 8.0 - drift[None, :] ** 2 / 2.0
    top = log.max()
    return float(top + np.log(4.0 * 2.5 * np.einsum("i,j,ij->", weights, weights, np.exp(log - top))))


def logistic_100() -> tuple[Any, float | None]:
    """A logistic regression: 500 rows, 100 coefficients, N(0, 1) priors."""
    return logistic(500, 100), None


def logistic(n: int, d: int, prior_sd: float = 1.0) -> Any:
    """A simulated logistic regression with N(0, prior_sd^2) priors."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((n, d))
    truth = rng.standard_normal(d) / math.sqrt(d)
    sign = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * x @ truth)), -1.0, 1.0)

    def log_likelihood(params: Any, data: Any) -> Any:
        x, sign = data
        eta = sign * (x @ params["theta"])
        return -jnp.sum(jnp.log1p(jnp.exp(-jnp.abs(eta))) + jnp.maximum(eta, 0.0))

    prior = {"theta": dist.Normal(0.0, prior_sd).expand([d]).to_event(1)}
    return zhat.Model(log_likelihood, prior, data=(x, sign), name=f"logistic-{n}-{d}")


def two_normals() -> tuple[Any, float | None]:
    """A mixture of two normals on 1,000 data: ordered means N(0, 2^2), half-normal sds, a Beta(5, 5) share.

    Ordered means are their sum and difference over sqrt(2): a normal and a half-normal.
    """
    rng = np.random.default_rng(3)
    first = rng.random(1000) < 0.375
    y = np.where(first, -2.75 + rng.standard_normal(1000), 2.75 + rng.standard_normal(1000))

    def prior() -> Any:
        return {
            "sum": dist.Normal(0.0, 2.0),
            "difference": dist.HalfNormal(2.0),
            "sigma": dist.HalfNormal(2.0).expand([2]).to_event(1),
            "theta": dist.Beta(5.0, 5.0),
        }

    def log_likelihood(params: Any, y: Any) -> Any:
        low, high = ((params["sum"] + s * params["difference"]) / math.sqrt(2.0) for s in (-1.0, 1.0))
        sigma, theta = params["sigma"], params["theta"]
        return jnp.sum(
            jnp.logaddexp(jnp.log(theta) + _log_normal(y, low, sigma[0]), jnp.log1p(-theta) + _log_normal(y, high, sigma[1]))
        )

    return zhat.Model(log_likelihood, prior, data=y, name="two-normals"), None


def two_bananas() -> tuple[Any, float | None]:
    """Two curved ridges in two dimensions, uniform on [-8, 8]^2; truth: a grid."""

    def at(x: Any, y: Any, xp: Any) -> Any:
        one = -0.5 * (x / 2.0) ** 2 - 0.5 * ((y - 4.0 + 0.5 * x**2) / 0.15) ** 2
        other = -0.5 * (x / 2.0) ** 2 - 0.5 * ((y + 4.0 - 0.5 * x**2) / 0.15) ** 2
        return xp.logaddexp(one, other)

    def log_likelihood(params: Any) -> Any:
        return at(params["x"][0], params["x"][1], jnp)

    grid = np.linspace(-8.0, 8.0, 6401)
    values = at(grid[:, None], grid[None, :], np)
    truth = float(np.log(np.trapezoid(np.trapezoid(np.exp(values), grid, axis=1), grid)) - 2.0 * math.log(16.0))
    return zhat.Model(log_likelihood, {"x": _box(8.0, 2)}, name="two-bananas"), truth


def gaussian_process() -> tuple[Any, float | None]:
    """Forty values of a Gaussian process as whitened parameters, with its length, height and noise."""
    rng = np.random.default_rng(4)
    x = np.linspace(0.0, 5.0, 40)
    y = np.sin(2.0 * x) + 0.3 * rng.standard_normal(40)
    squared = (x[:, None] - x[None, :]) ** 2

    def prior() -> Any:
        return {
            "length": dist.LogNormal(0.0, 0.5),
            "height": dist.HalfNormal(2.0),
            "noise": dist.HalfNormal(1.0),
            "white": dist.Normal(0.0, 1.0).expand([40]).to_event(1),
        }

    def log_likelihood(params: Any, data: Any) -> Any:
        y, squared = data
        covariance = params["height"] ** 2 * jnp.exp(-0.5 * squared / params["length"] ** 2) + 1e-6 * jnp.eye(40)
        return jnp.sum(_log_normal(y, jnp.linalg.cholesky(covariance) @ params["white"], params["noise"]))

    return zhat.Model(log_likelihood, prior, data=(y, squared), name="gaussian-process"), _gaussian_process_truth(y, squared)


def _gaussian_process_truth(y: np.ndarray, squared: np.ndarray) -> float:
    """Quadrature over length, height and noise of the normal density of y."""
    nodes, weights = np.polynomial.legendre.leggauss(100)
    log_length = 2.5 * nodes  # five standard deviations of the prior
    height, noise = 5.0 * (nodes + 1.0), 2.0 * (nodes + 1.0)
    log = np.empty((len(nodes),) * 3)
    for i, one in enumerate(log_length):
        values, vectors = np.linalg.eigh(np.exp(-0.5 * squared / np.exp(2.0 * one)))
        z2 = (vectors.T @ y) ** 2
        variance = height[:, None, None] ** 2 * np.maximum(values, 0.0) + 1e-6 + noise[None, :, None] ** 2
        log[i] = -0.5 * np.sum(z2 / variance + np.log(2.0 * np.pi * variance), axis=2) - 0.5 * (one / 0.5) ** 2
    log += -0.5 * math.log(2.0 * math.pi * 0.25) + 2.0 * math.log(2.0) - math.log(2.0 * math.pi) - math.log(2.0)
    log -= 0.5 * (height[None, :, None] / 2.0) ** 2 + 0.5 * noise[None, None, :] ** 2
    top = log.max()
    return float(top + np.log(2.5 * 5.0 * 2.0 * np.einsum("i,j,k,ijk->", weights, weights, weights, np.exp(log - top))))


def mirrored_signs() -> tuple[Any, float | None]:
    """1,024 mirrored modes in ten dimensions."""
    example = zoo.example("mirrored-signs-10")
    return example.model, example.log_evidence


PROBLEMS: dict[str, Callable[[], tuple[Any, float | None]]] = {
    "ridge": ridge,
    "ridge-normal": ridge_normal,
    "local-level": local_level,
    "logistic-100": logistic_100,
    "two-normals": two_normals,
    "two-bananas": two_bananas,
    "gaussian-process": gaussian_process,
    "mirrored-signs": mirrored_signs,
}
