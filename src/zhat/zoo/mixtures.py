"""Normal mixtures: the label-switching trap.

The modes are mirror images. A method that stays in one of k! is off by log k!, 0.693 for two components and 1.79 for three:
small enough to be believed, which is the danger.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.zoo._example import Example
from zhat.zoo.parts.densities import log_normal

FIVE_NUMBERS = np.array([-1.5, -0.7, 0.4, 1.1, 2.0])
SOURCE = "exact set of zhat, after Neal (1999) on Chib's method and label switching"


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


CLUSTERS = {
    2: np.array([-4.3, -4.0, -3.6, 3.7, 4.1, 4.2]),
    3: np.array([-8.2, -8.0, -7.7, -0.3, 0.1, 0.2, 7.8, 8.1, 8.2]),
}


def label_switching(k: int) -> Example:
    """k well separated components N(mu_j, 1) with even weights, mu_j ~ N(0, 6^2): k! mirrored modes that no step joins."""
    if k not in CLUSTERS:
        raise BadInput(f"k={k}: the separated mixtures are kept for k = 2 and 3.")

    def log_likelihood(params: Any, y: Any) -> Any:
        each = log_normal(y[:, None], params["mu"][None, :], 1.0)
        return jnp.sum(jax.scipy.special.logsumexp(each, axis=1)) - y.shape[0] * jnp.log(float(k))

    def prior(hyper: Any) -> Any:
        return {"mu": dist.Normal(0.0, hyper["scale"]).expand([k]).to_event(1)}

    y = CLUSTERS[k]
    return Example(
        id=f"label-switching-{k}",
        title=f"{k} separated components, {k}! mirrored modes",
        model=Model(log_likelihood, prior, data=y, hyper={"scale": 6.0}, name=f"label-switching-{k}"),
        log_evidence=allocation_log_evidence(y, k, 6.0),
        formula=f"sum over the {k}^{len(y)} allocations of {k} normal marginals",
        source=SOURCE,
        tags=("two-dimensional" if k == 2 else "many-dimensional", "multimodal", "stress"),
    )


# Modes that are easily lost: (weight, centre in every coordinate, width), in so many dimensions.
HIDDEN_MODES = {
    "unequal-modes-10": (10, ((0.5, -3.0, 0.7), (0.5, 3.0, 0.4))),
    "unequal-modes-20": (20, ((0.66, -3.86, 3.5), (0.34, 3.86, 2.0))),
    "unequal-modes-30": (30, ((0.71, -4.76, 3.5), (0.29, 4.76, 2.0))),
    "small-mode-10": (10, ((0.97, 0.0, 1.0), (0.03, 3.0, 0.5))),
    "three-modes-3": (3, ((0.2, -8.0, 0.3), (0.3, 0.0, 1.0), (0.5, 7.0, 0.3))),
}


def hidden_modes(name: str) -> Example:
    """A likelihood that is a sum of normal densities, under N(0, 10^2 I): modes whose share far from the posterior is small.

    The narrower of two modes in ten dimensions has half of the posterior and less than a hundredth of what is on the way there;
    in twenty, a thousandth, and a basin that draws of the prior do not reach; in thirty, a twenty thousandth. In `small-mode-10`
    it has but two hundredths of the posterior: little, and many times the error of an importance sample.
    """
    d, modes = HIDDEN_MODES[name]
    weight, centre, width = (np.array(column) for column in zip(*modes, strict=True))

    def log_likelihood(params: Any, data: Any) -> Any:
        each = jnp.sum(log_normal(params["x"][:, None], data["centre"], data["width"]), axis=0)
        return jax.scipy.special.logsumexp(jnp.log(data["weight"]) + each)

    def prior(hyper: Any) -> Any:
        return {"x": dist.Normal(0.0, hyper["scale"]).expand([d]).to_event(1)}

    variance = width**2 + 100.0
    terms = np.log(weight) - 0.5 * d * (np.log(2.0 * np.pi * variance) + centre**2 / variance)
    return Example(
        id=name,
        title=f"{len(modes)} modes of unequal width in {d} dimensions",
        model=Model(
            log_likelihood, prior, data={"weight": weight, "centre": centre, "width": width}, hyper={"scale": 10.0}, name=name
        ),
        log_evidence=float(np.logaddexp.reduce(terms)),
        formula="sum over the modes of weight times N(centre; 0, width^2 + 10^2) in every coordinate",
        source="exact set of zhat",
        tags=("many-dimensional", "multimodal", "stress"),
    )


def allocation_log_evidence(y: np.ndarray, k: int, scale: float) -> float:
    """Even mixture of k components N(mu_j, 1), mu_j ~ N(0, scale^2): the sum over all allocations of the observations."""
    n = len(y)
    allocation = np.stack(np.meshgrid(*[np.arange(k)] * n, indexing="ij"), axis=-1).reshape(-1, n)
    total = np.full(len(allocation), -n * np.log(k) - 0.5 * n * np.log(2.0 * np.pi) - 0.5 * np.sum(y**2))
    for j in range(k):
        members = allocation == j
        count, sums = members.sum(axis=1), members @ y
        # The observations of a component, jointly normal with covariance I + scale^2 11'.
        total += -0.5 * np.log1p(count * scale**2) + 0.5 * sums**2 * scale**2 / (1.0 + count * scale**2)
    top = total.max()
    return float(top + np.log(np.sum(np.exp(total - top))))
