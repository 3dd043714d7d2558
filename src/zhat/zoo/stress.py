"""The stress set: integrands made to break a family of methods, each with the truth.

Most have no data: the likelihood is a function on a box with a uniform prior, and the parameter is a vector `x`.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.zoo._example import Example
from zhat.zoo.parts.densities import log_normal

SPIKE_AND_SLAB = {20: 4.615120403, 5: 4.615120488}
WEDDING_CAKE = {2: -1.335301919, 5: -2.098452889}
CONSTANT = 3.7


def _box(low: float, high: float, d: int) -> Any:
    # A function, so that the distribution is made under float64: 10 pi would lose half its digits otherwise.
    return lambda: {"x": dist.Uniform(low, high).expand([d]).to_event(1)}


def _dimension_tag(d: int) -> str:
    return {1: "one-dimensional", 2: "two-dimensional"}.get(d, "many-dimensional")


def spike_and_slab(d: int = 20) -> Example:
    """S1: 100 narrow Gaussian + wide Gaussian on [-1/2, 1/2]^d: a first-order phase transition.

    Along a tempering path the mass jumps from the slab to the spike (around beta = 0.9 for d = 20). A ladder
    sampler stays in the slab and reports a log evidence near 0 with a small error: it must flag or solve this.
    """
    _check_dimension(d, SPIKE_AND_SLAB)

    def log_likelihood(params: Any) -> Any:
        spike = math.log(100.0) + jnp.sum(log_normal(params["x"], 0.0, 0.01))
        slab = jnp.sum(log_normal(params["x"], 0.0, 0.1))
        return jnp.logaddexp(spike, slab)

    id = f"S1-d{d}"
    return Example(
        id=id,
        title=f"spike and slab in {d} dimensions",
        model=Model(log_likelihood, _box(-0.5, 0.5, d), name=id),
        log_evidence=SPIKE_AND_SLAB[d],
        formula="log(100 erf(50/sqrt 2)^d + erf(5/sqrt 2)^d)",
        source="after Skilling (2006)",
        tags=(_dimension_tag(d), "multimodal", "bounded", "stress"),
    )


def eggbox() -> Example:
    """S2: log L = (2 + cos(x0/2) cos(x1/2))^5 on [0, 10 pi]^2: eighteen equal peaks, some cut by the box."""

    def log_likelihood(params: Any) -> Any:
        return (2.0 + jnp.prod(jnp.cos(0.5 * params["x"]))) ** 5

    return Example(
        id="S2",
        title="eggbox",
        model=Model(log_likelihood, _box(0.0, 10.0 * math.pi, 2), name="S2"),
        log_evidence=235.855940332,
        formula="two-dimensional quadrature",
        source="Feroz, Hobson & Bridges (2009)",
        tags=("two-dimensional", "multimodal", "bounded", "stress"),
    )


def gaussian_shells() -> Example:
    """S3: two thin rings (radius 2, width 0.1, centres (-3.5, 0) and (3.5, 0)) in [-6, 6]^2: curved and bimodal."""

    def log_likelihood(params: Any) -> Any:
        x = params["x"]
        # hypot with a floor: the distance has no gradient at a centre, where the likelihood is e^-200 anyway.
        distances = [jnp.sqrt((x[0] - c) ** 2 + x[1] ** 2 + 1e-300) for c in (-3.5, 3.5)]
        return jnp.logaddexp(*[log_normal(r, 2.0, 0.1) for r in distances])

    return Example(
        id="S3",
        title="two Gaussian shells",
        model=Model(log_likelihood, _box(-6.0, 6.0, 2), name="S3"),
        log_evidence=-1.745641885,
        formula="radial quadrature, 2 rings over an area of 144",
        source="Feroz & Hobson (2008)",
        tags=("two-dimensional", "multimodal", "correlated", "bounded", "stress"),
    )


def wedding_cake(d: int = 2) -> Example:
    """S4: a likelihood that is constant on infinitely many nested square rings of [0, 1]^d.

    Every live point of a nested sampler ties with others, and there is no gradient anywhere. The i-th ring holds the
    prior mass (1 - alpha) alpha^i and the likelihood exp(-r_i^2 / (2 sigma^2)), r_i = alpha^(i/d) / 2.
    """
    _check_dimension(d, WEDDING_CAKE)
    alpha, sigma = 0.7, 0.2

    def log_likelihood(params: Any) -> Any:
        side = 2.0 * jnp.max(jnp.abs(params["x"] - 0.5))
        ring = jnp.floor(d * jnp.log(side) / math.log(alpha))
        return -(alpha ** (2.0 * ring / d)) / (8.0 * sigma**2)

    id = f"S4-d{d}"
    return Example(
        id=id,
        title=f"wedding cake in {d} dimensions",
        model=Model(log_likelihood, _box(0.0, 1.0, d), name=id),
        log_evidence=WEDDING_CAKE[d],
        formula="sum over rings of (1 - alpha) alpha^i exp(-alpha^(2i/d) / (8 sigma^2))",
        source="Fowlie, Handley & Su (2020)",
        tags=(_dimension_tag(d), "plateau", "bounded", "stress"),
    )


def zero_corner() -> Example:
    """S5: L = max(x0 - 0.9, 0) on [0, 1]^2: the likelihood is zero, log L = -inf, on 90 % of the prior."""

    def log_likelihood(params: Any) -> Any:
        height = params["x"][0] - 0.9
        inside = height > 0.0
        # The inner where keeps the gradient free of NaN on the branch that is not taken.
        return jnp.where(inside, jnp.log(jnp.where(inside, height, 1.0)), -jnp.inf)

    return Example(
        id="S5",
        title="zero likelihood on nine tenths of the prior",
        model=Model(log_likelihood, _box(0.0, 1.0, 2), name="S5"),
        log_evidence=-5.298317367,
        formula="log 0.005",
        source="after dynesty's and nautilus' tests",
        tags=("two-dimensional", "plateau", "bounded", "skewed", "stress"),
    )


def singular_line() -> Example:
    """S6: L = 1/max(|x0|, 1e-8) on [-1, 1]^2: an almost non-integrable ridge; half the evidence lies within 1e-4."""

    def log_likelihood(params: Any) -> Any:
        return -jnp.log(jnp.maximum(jnp.abs(params["x"][0]), 1e-8))

    return Example(
        id="S6",
        title="one over the distance to a line",
        model=Model(log_likelihood, _box(-1.0, 1.0, 2), name="S6"),
        log_evidence=2.966338516,
        formula="log(1 - log 1e-8)",
        source="after dynesty's tests",
        tags=("two-dimensional", "skewed", "bounded", "stress"),
    )


def cauchy_location() -> Example:
    """S7: four Cauchy observations at -4, -3.5, 3.5, 4: two far modes that a local sampler does not connect."""

    def log_likelihood(params: Any, y: Any) -> Any:
        scale = 0.5
        return jnp.sum(-jnp.log(math.pi * scale) - jnp.log1p(((y - params["theta"]) / scale) ** 2))

    def prior() -> Any:
        return {"theta": dist.Normal(0.0, 5.0)}

    return Example(
        id="S7",
        title="Cauchy location with two modes",
        model=Model(log_likelihood, prior, data=np.array([-4.0, -3.5, 3.5, 4.0]), name="S7", latent=("theta",)),
        log_evidence=-15.154840177,
        formula="one-dimensional quadrature",
        source="exact set of zhat",
        tags=("one-dimensional", "multimodal", "stress"),
    )


def funnel() -> Example:
    """S8: v ~ N(0, 3^2), x_i ~ N(0, variance e^v) for nine i, and y_i = 0 seen with unit noise: Neal's funnel."""

    def log_likelihood(params: Any, y: Any) -> Any:
        return jnp.sum(log_normal(y, params["x"], 1.0))

    def prior() -> None:
        v = numpyro.sample("v", dist.Normal(0.0, 3.0))
        numpyro.sample("x", dist.Normal(0.0, jnp.exp(0.5 * v)).expand([9]).to_event(1))

    return Example(
        id="S8",
        title="funnel",
        model=Model(log_likelihood, prior, data=np.zeros(9), name="S8", latent=("x",)),
        log_evidence=-9.554290443,
        formula="one-dimensional quadrature over v of N(0; 0, 1 + e^v)^9",
        source="after Neal (2003)",
        tags=("many-dimensional", "hierarchical", "skewed", "stress"),
    )


def correlated_gaussian_in_box() -> Example:
    """S9: a normalised three-dimensional Gaussian with correlations 0.95 in the box [-10, 10]^3: long and thin."""
    covariance = np.full((3, 3), 0.95) + 0.05 * np.eye(3)
    precision = np.linalg.inv(covariance)
    log_constant = -0.5 * (3.0 * math.log(2.0 * math.pi) + float(np.linalg.slogdet(covariance)[1]))

    def log_likelihood(params: Any) -> Any:
        x = params["x"]
        return log_constant - 0.5 * x @ (jnp.asarray(precision) @ x)

    return Example(
        id="S9",
        title="correlated Gaussian in a box",
        model=Model(log_likelihood, _box(-10.0, 10.0, 3), name="S9"),
        log_evidence=-8.987196821,
        formula="-3 log 20: all of the Gaussian lies in the box",
        source="after dynesty's tests",
        tags=("many-dimensional", "correlated", "bounded", "stress"),
    )


def constant() -> Example:
    """S10: the likelihood is e^3.7 everywhere: every method must return 3.7, and none may divide by a variance of 0."""

    def log_likelihood(params: Any) -> Any:
        return jnp.asarray(CONSTANT)

    return Example(
        id="S10",
        title="constant likelihood",
        model=Model(log_likelihood, _box(-1.0, 1.0, 2), name="S10"),
        log_evidence=CONSTANT,
        formula="the constant itself",
        source="exact set of zhat",
        tags=("two-dimensional", "plateau", "bounded", "stress"),
    )


def _check_dimension(d: int, known: dict[int, float]) -> None:
    if d not in known:
        raise BadInput(f"d={d!r}: this example's evidence is kept for d = {' and '.join(map(str, known))}.")
