"""Two-component normal mixtures: the label-switching trap.

The two modes are mirror images. A method that stays in one is off by at most log 2 = 0.693: small enough to be
believed, which is the danger.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from evidentia.model import Model
from evidentia.zoo._densities import log_normal
from evidentia.zoo._example import Example

FIVE_NUMBERS = np.array([-1.5, -0.7, 0.4, 1.1, 2.0])
SOURCE = "exact set of evidentia, after Neal (1999) on Chib's method and label switching"


def mixture() -> Example:
    """E16a: components N(mu_j, 1), mu_j ~ N(0, 2^2), weight ~ Be(1, 1): two mirrored modes, merging into ridges."""

    def log_likelihood(params: Any, y: Any) -> Any:
        first = jnp.log(params["weight"]) + log_normal(y, params["mu"][0], 1.0)
        second = jnp.log1p(-params["weight"]) + log_normal(y, params["mu"][1], 1.0)
        return jnp.sum(jnp.logaddexp(first, second))

    def prior(hyper: Any) -> Any:
        return {"weight": dist.Beta(1.0, 1.0), "mu": dist.Normal(0.0, hyper["scale"]).expand([2]).to_event(1)}

    return Example(
        id="E16a",
        title="two-component mixture, unknown weight",
        model=Model(log_likelihood, prior, data=FIVE_NUMBERS, hyper={"scale": 2.0}, name="E16a"),
        log_evidence=-9.686853757443,
        formula="sum over the 32 allocations of B(1+n1, 1+n2) times two normal marginals",
        source=SOURCE,
        tags=("many-dimensional", "multimodal", "correlated", "bounded"),
    )


def mixture_even() -> Example:
    """E16b: the same with both weights one half: two dimensions, so the mirror can be drawn."""

    def log_likelihood(params: Any, y: Any) -> Any:
        first, second = log_normal(y, params["mu"][0], 1.0), log_normal(y, params["mu"][1], 1.0)
        return jnp.sum(jnp.logaddexp(first, second)) - y.shape[0] * jnp.log(2.0)

    def prior(hyper: Any) -> Any:
        return {"mu": dist.Normal(0.0, hyper["scale"]).expand([2]).to_event(1)}

    return Example(
        id="E16b",
        title="two-component mixture, even weights",
        model=Model(log_likelihood, prior, data=FIVE_NUMBERS, hyper={"scale": 2.0}, name="E16b"),
        log_evidence=-9.539542479961,
        formula="sum over the 32 allocations of 2^-5 times two normal marginals",
        source=SOURCE,
        tags=("two-dimensional", "multimodal", "correlated"),
    )
