"""What PyTensor has no translation to JAX for, and PyMC's distributions need: two special functions, and draws from six distributions.

They are added to PyTensor's tables where these have none. (PyTensor takes the special functions from TensorFlow Probability, if that is
installed; then it stays so.)
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import log_ndtr, ndtri

Sampler = Callable[..., Any]


def add_what_is_missing() -> None:
    """Register the functions and samplers below with PyTensor, except where it has one."""
    _add_functions()
    _add_samplers()


def _add_functions() -> None:
    from pytensor.link.jax.dispatch import jax_funcify
    from pytensor.scalar.math import Erfcinv, Erfcx

    if importlib.util.find_spec("tensorflow_probability") is None:
        for operation, function in ((Erfcx, erfcx), (Erfcinv, erfcinv)):
            jax_funcify.register(operation, lambda op, function=function, **_: function)


def erfcx(x: Any) -> Any:
    """exp(x^2) erfc(x)."""
    return 2.0 * jnp.exp(x**2 + log_ndtr(-np.sqrt(2.0) * x))


def erfcinv(x: Any) -> Any:
    """The inverse of erfc."""
    return -ndtri(0.5 * x) / np.sqrt(2.0)


def _add_samplers() -> None:
    from pymc.distributions import continuous
    from pytensor.link.jax.dispatch.random import jax_sample_fn
    from pytensor.tensor.random import basic

    for name, sampler in SAMPLERS.items():
        operation = getattr(continuous, name, None) or getattr(basic, name, None)
        if operation is not None and jax_sample_fn.dispatch(operation) is jax_sample_fn.dispatch(object):
            jax_sample_fn.register(operation, lambda op, node, sampler=sampler: _for_node(sampler))


def _for_node(sampler: Sampler) -> Sampler:
    def sample(key: Any, size: Any, dtype: Any, *parameters: Any) -> Any:
        parameters = tuple(jnp.asarray(x, dtype) for x in parameters)
        shape = jnp.broadcast_shapes(*(x.shape for x in parameters)) if size is None else tuple(size)
        return sampler(key, shape, dtype, *parameters)

    return sample


def truncated_normal(key: Any, shape: Any, dtype: Any, mu: Any, sigma: Any, lower: Any, upper: Any) -> Any:
    """Between lower and upper."""
    return mu + sigma * jax.random.truncated_normal(key, (lower - mu) / sigma, (upper - mu) / sigma, shape, dtype)


def weibull(key: Any, shape: Any, dtype: Any, alpha: Any) -> Any:
    """With scale one, by which PyMC builds its own."""
    return jax.random.exponential(key, shape, dtype) ** (1.0 / alpha)


def triangular(key: Any, shape: Any, dtype: Any, lower: Any, mode: Any, upper: Any) -> Any:
    """Between lower and upper with this mode."""
    return jax.random.triangular(key, lower, mode, upper, shape, dtype)


def skew_normal(key: Any, shape: Any, dtype: Any, mu: Any, sigma: Any, alpha: Any) -> Any:
    """By Azzalini (1985): delta |z0| + sqrt(1 - delta^2) z1 with delta = alpha / sqrt(1 + alpha^2)."""
    first, second = jax.random.split(key)
    delta = alpha / jnp.sqrt(1.0 + alpha**2)
    z = delta * jnp.abs(jax.random.normal(first, shape, dtype)) + jnp.sqrt(1.0 - delta**2) * jax.random.normal(
        second, shape, dtype
    )
    return mu + sigma * z


def moyal(key: Any, shape: Any, dtype: Any, mu: Any, sigma: Any) -> Any:
    """The negative logarithm of a chi squared with one degree of freedom."""
    return mu - sigma * jnp.log(jax.random.normal(key, shape, dtype) ** 2)


def wald(key: Any, shape: Any, dtype: Any, mu: Any, lam: Any, alpha: Any) -> Any:
    """An inverse Gaussian with mean mu and shape lam, shifted by alpha."""
    return alpha + lam * jax.random.wald(key, jnp.broadcast_to(mu / lam, shape), shape, dtype)


SAMPLERS: dict[str, Sampler] = {
    "TruncatedNormalRV": truncated_normal,
    "WeibullRV": weibull,
    "TriangularRV": triangular,
    "SkewNormalRV": skew_normal,
    "MoyalRV": moyal,
    "WaldRV": wald,
}
