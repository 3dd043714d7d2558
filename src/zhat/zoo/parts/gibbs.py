"""Blocks of tempered Gibbs samplers: normals, one or many at once, and a scalar gamma, from their moments.

The distribution of the noise depends on beta, never on the parameters, so a whole run's noise is drawn at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.scipy.linalg import solve_triangular

from zhat.model.model import Conditional
from zhat.zoo.parts.densities import LOG_TWO_PI


def normal_block(name: str, moments: Callable[..., tuple[Any, Any]]) -> Conditional:
    """A scalar with a normal conditional; ``moments(params, beta, data, hyper)`` gives mean and precision."""

    def noise(rng: Any, shape: tuple[int, ...], beta: Any, data: Any, hyper: Any) -> Any:
        return rng.standard_normal(shape)

    def noise_into(rng: Any, out: Any, betas: Any, data: Any, hyper: Any) -> None:
        rng.standard_normal(out=out)

    def draw(noise: Any, params: Any, beta: Any, data: Any, hyper: Any) -> dict[str, Any]:
        mean, precision = moments(params, beta, data, hyper)
        # The root of the reciprocal: noise / sqrt(precision) is compiled to a reciprocal root, four times as slow on a CPU.
        return {name: mean + noise * jnp.sqrt(1.0 / precision)}

    def log_density(params: Any, beta: Any, data: Any, hyper: Any) -> Any:
        mean, precision = moments(params, beta, data, hyper)
        return dist.Normal(mean, 1.0 / jnp.sqrt(precision)).log_prob(params[name])

    return Conditional((name,), noise, draw, log_density, noise_into)


def normal_vector_block(name: str, size: int, moments: Callable[..., tuple[Any, Any]]) -> Conditional:
    """A vector with a normal conditional; ``moments(params, beta, data, hyper)`` gives precision times mean, and precision."""

    def mean_and_factor(params: Any, beta: Any, data: Any, hyper: Any) -> tuple[Any, Any]:
        pull, precision = moments(params, beta, data, hyper)
        factor = jnp.linalg.cholesky(precision)
        half = solve_triangular(factor, pull, lower=True)
        return solve_triangular(factor, half, lower=True, trans="T"), factor

    def noise(rng: Any, shape: tuple[int, ...], beta: Any, data: Any, hyper: Any) -> Any:
        return rng.standard_normal((*shape, size))

    def noise_into(rng: Any, out: Any, betas: Any, data: Any, hyper: Any) -> None:
        rng.standard_normal(out=out)

    def draw(noise: Any, params: Any, beta: Any, data: Any, hyper: Any) -> dict[str, Any]:
        mean, factor = mean_and_factor(params, beta, data, hyper)
        # Inverted once where it is the same for all points; solving for each point's noise would take ten times as long.
        inverse = solve_triangular(factor, jnp.eye(size), lower=True)
        return {name: mean + noise @ inverse}

    def log_density(params: Any, beta: Any, data: Any, hyper: Any) -> Any:
        mean, factor = mean_and_factor(params, beta, data, hyper)
        standard = factor.T @ (params[name] - mean)
        return jnp.sum(jnp.log(jnp.diagonal(factor))) - 0.5 * (size * LOG_TWO_PI + standard @ standard)

    return Conditional((name,), noise, draw, log_density, noise_into)


def gamma_block(name: str, shape_of: Callable[..., Any], rate_of: Callable[..., Any]) -> Conditional:
    """A scalar with a gamma conditional: ``shape_of(beta, data, hyper)``, ``rate_of(params, beta, data, hyper)``."""

    def noise(rng: Any, shape: tuple[int, ...], beta: Any, data: Any, hyper: Any) -> Any:
        return rng.standard_gamma(shape_of(beta, data, hyper), shape)

    def noise_into(rng: Any, out: Any, betas: Any, data: Any, hyper: Any) -> None:
        for row, concentration in zip(out, np.broadcast_to(shape_of(betas, data, hyper), len(out)), strict=True):
            rng.standard_gamma(concentration, out=row)

    def draw(noise: Any, params: Any, beta: Any, data: Any, hyper: Any) -> dict[str, Any]:
        return {name: noise / rate_of(params, beta, data, hyper)}

    def log_density(params: Any, beta: Any, data: Any, hyper: Any) -> Any:
        concentration, rate = shape_of(beta, data, hyper), rate_of(params, beta, data, hyper)
        return dist.Gamma(concentration, rate).log_prob(params[name])

    return Conditional((name,), noise, draw, log_density, noise_into)
