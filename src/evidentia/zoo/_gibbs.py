"""Blocks of tempered Gibbs samplers: a scalar normal and a scalar gamma, from their moments.

Noise is standard (its law knows beta, never the parameters), so a whole run's noise is drawn at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpyro.distributions as dist

from evidentia.model import Conditional


def normal_block(name: str, moments: Callable[..., tuple[Any, Any]]) -> Conditional:
    """A scalar with a normal conditional; ``moments(params, beta, data, hyper)`` gives mean and precision."""

    def noise(rng: Any, shape: tuple[int, ...], beta: Any, data: Any, hyper: Any) -> Any:
        return rng.standard_normal(shape)

    def draw(noise: Any, params: Any, beta: Any, data: Any, hyper: Any) -> dict[str, Any]:
        mean, precision = moments(params, beta, data, hyper)
        return {name: mean + noise / jnp.sqrt(precision)}

    def log_density(params: Any, beta: Any, data: Any, hyper: Any) -> Any:
        mean, precision = moments(params, beta, data, hyper)
        return dist.Normal(mean, 1.0 / jnp.sqrt(precision)).log_prob(params[name])

    return Conditional((name,), noise, draw, log_density)


def gamma_block(name: str, shape_of: Callable[..., Any], rate_of: Callable[..., Any]) -> Conditional:
    """A scalar with a gamma conditional: ``shape_of(beta, data, hyper)``, ``rate_of(params, beta, data, hyper)``."""

    def noise(rng: Any, shape: tuple[int, ...], beta: Any, data: Any, hyper: Any) -> Any:
        return rng.standard_gamma(shape_of(beta, data, hyper), shape)

    def draw(noise: Any, params: Any, beta: Any, data: Any, hyper: Any) -> dict[str, Any]:
        return {name: noise / rate_of(params, beta, data, hyper)}

    def log_density(params: Any, beta: Any, data: Any, hyper: Any) -> Any:
        concentration, rate = shape_of(beta, data, hyper), rate_of(params, beta, data, hyper)
        return dist.Gamma(concentration, rate).log_prob(params[name])

    return Conditional((name,), noise, draw, log_density)
