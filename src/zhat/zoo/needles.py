"""Traps for the default: scales and widths so different that one family of methods misses part of the posterior, and says nothing.

Each breaks one family and leaves another intact, so that an answer needs two views: a spike inside a broad mode (tempering passes it
by), Neal's funnel under flat priors (proposals and tempered populations miss its neck), two modes of equal mass and unequal width
(searches from few starts miss the narrow basin), a mixture on tied data (its likelihood is unbounded where a component collapses),
and a thousand mirrored modes (a proposal at each of them takes minutes).
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from zhat.model.model import Model
from zhat.zoo._example import Example
from zhat.zoo.parts.densities import LOG_TWO_PI, log_normal
from zhat.zoo.parts.quadrature import log_integral_over_positive

SOURCE = "exact set of zhat"
# Two modes at these places of every coordinate, in Uniform(-5, 5)^d.
BROAD_AT, NARROW_AT, HALF_WIDTH = -1.0, 2.5, 5.0
# (dimensions, width of the broad mode, width of the narrow mode): its basin holds about a thousandth of the prior.
UNEQUAL_WIDTHS = {"unequal-widths-5": (5, 0.5, 0.1), "unequal-widths-6": (6, 0.5, 0.125)}
# The same for black boxes: their narrow basins hold about a hundredth of the prior.
UNEQUAL_WIDTHS_BLACK_BOX = {"unequal-widths-4": (4, 0.6, 0.15), "unequal-widths-8": (8, 0.5, 0.25)}
TIED = np.array([-1.3, 0.4, 0.4, 0.4, 1.9, 2.6])
SIGNS_DIMENSIONS = 10


def _uniform(half_width: float, d: int) -> Any:
    return lambda: {"x": dist.Uniform(-half_width, half_width).expand([d]).to_event(1)}


def soft_spike(d: int = 5) -> Example:
    """A spike of width 0.1 with a hundred times the mass of the unit normal around it, in Uniform(-5, 5)^d."""

    def log_likelihood(params: Any) -> Any:
        spike = math.log(100.0) + jnp.sum(log_normal(params["x"], 0.0, 0.1))
        return jnp.logaddexp(spike, jnp.sum(log_normal(params["x"], 0.0, 1.0)))

    inside = d * math.log(math.erf(HALF_WIDTH / math.sqrt(2.0)))
    return Example(
        id=f"soft-spike-{d}",
        title=f"a spike inside a broad mode in {d} dimensions",
        model=Model(log_likelihood, _uniform(HALF_WIDTH, d), name=f"soft-spike-{d}"),
        log_evidence=math.log(100.0 + math.exp(inside)) - d * math.log(2.0 * HALF_WIDTH),
        formula="log(100 + erf(5/sqrt 2)^d) - d log 10",
        source="after Skilling (2006)",
        tags=("many-dimensional", "multimodal", "bounded", "stress"),
    )


def flat_funnel(d: int = 9) -> Example:
    """Neal's funnel as a likelihood: v ~ N(0, 3^2), x_i ~ N(0, e^v), under flat priors v in (-10, 10), x_i in (-30, 30)."""

    def log_likelihood(params: Any) -> Any:
        v, x = params["v"], params["x"]
        return log_normal(v, 0.0, 3.0) + jnp.sum(log_normal(x, 0.0, jnp.exp(0.5 * v)))

    def prior() -> Any:
        return {"v": dist.Uniform(-10.0, 10.0), "x": dist.Uniform(-30.0, 30.0).expand([d]).to_event(1)}

    return Example(
        id="flat-funnel",
        title="Neal's funnel as a likelihood under flat priors",
        model=Model(log_likelihood, prior, name="flat-funnel"),
        log_evidence=_funnel_log_evidence(d),
        formula="one-dimensional quadrature over v of N(v; 0, 3^2) times erf(30 e^(-v/2) / sqrt 2)^9",
        source="after Neal (2003)",
        tags=("many-dimensional", "skewed", "bounded", "stress"),
    )


def _funnel_log_evidence(d: int) -> float:
    nodes, weights = np.polynomial.legendre.leggauss(400)
    v = 10.0 * nodes
    inside = np.array([math.erf(30.0 * math.exp(-0.5 * value) / math.sqrt(2.0)) for value in v])
    density = np.exp(-0.5 * (v / 3.0) ** 2) / (3.0 * math.sqrt(2.0 * math.pi)) * inside**d
    return float(np.log(10.0 * (weights @ density))) - math.log(20.0) - d * math.log(60.0)


def unequal_widths(d: int, broad: float, narrow: float, id: str | None = None, black_box: bool = False) -> Example:
    """Two Gaussian modes of equal mass at -1 and 2.5 in every coordinate of Uniform(-5, 5)^d, of these widths."""

    def log_likelihood(params: Any, xp: Any = jnp) -> Any:
        x = params["x"]

        def at(centre: float, width: float) -> Any:
            squared = xp.sum(((x - centre) / width) ** 2, axis=-1)
            return -0.5 * squared - d * (math.log(width) + 0.5 * LOG_TWO_PI)

        return xp.logaddexp(at(BROAD_AT, broad), at(NARROW_AT, narrow)) - math.log(2.0)

    id = id or f"unequal-widths-{d}-{broad:g}-{narrow:g}"
    if black_box:
        model = Model.black_box(lambda params: log_likelihood(params, np), _uniform(HALF_WIDTH, d), batched=True, name=id)
    else:
        model = Model(log_likelihood, _uniform(HALF_WIDTH, d), name=id)
    inside = [
        d * math.log(sum(math.erf((HALF_WIDTH + s * centre) / (width * math.sqrt(2.0))) for s in (1, -1)) / 2.0)
        for centre, width in ((BROAD_AT, broad), (NARROW_AT, narrow))
    ]
    return Example(
        id=id,
        title=f"two modes of equal mass and widths {broad:g} and {narrow:g} in {d} dimensions",
        model=model,
        log_evidence=float(np.logaddexp(inside[0], inside[1])) - math.log(2.0) - d * math.log(2.0 * HALF_WIDTH),
        formula="mean over the modes of their share inside the box, less d log 10",
        source=SOURCE,
        tags=("two-dimensional" if d == 2 else "many-dimensional", "multimodal", "bounded", "stress"),
    )


def tied_mixture() -> Example:
    """Two normal components on six numbers of which three are equal: the likelihood is unbounded where one collapses on them.

    mu_j ~ N(0, 2^2), sigma_j ~ Gamma(3, rate 2), even weights: the prior makes the evidence finite (near sigma = 0 the likelihood,
    integrated over mu, grows like 1/sigma^2, and the prior density falls like sigma^2).
    """

    def log_likelihood(params: Any, y: Any) -> Any:
        each = log_normal(y[:, None], params["mu"][None, :], params["sigma"][None, :])
        return jnp.sum(jax.scipy.special.logsumexp(each, axis=1)) - y.shape[0] * math.log(2.0)

    def prior() -> Any:
        return {
            "mu": dist.Normal(0.0, 2.0).expand([2]).to_event(1),
            "sigma": dist.Gamma(3.0, 2.0).expand([2]).to_event(1),
        }

    return Example(
        id="tied-mixture",
        title="two components on tied data",
        model=Model(log_likelihood, prior, data=TIED, name="tied-mixture"),
        log_evidence=_tied_log_evidence(TIED),
        formula="sum over the 2^6 allocations of two one-dimensional quadratures over sigma",
        source=SOURCE,
        tags=("many-dimensional", "multimodal", "skewed", "bounded", "stress"),
    )


def _tied_log_evidence(y: np.ndarray) -> float:
    parts: dict[tuple[int, ...], float] = {(): 0.0}

    def part(members: tuple[int, ...]) -> float:
        if members not in parts:
            some = y[list(members)]
            n, mean = len(some), float(some.mean())
            scatter = float(((some - mean) ** 2).sum())

            def log_integrand(sigma: np.ndarray) -> np.ndarray:
                # The mean of n values given mu has variance sigma^2 / n, and mu has variance 4.
                variance = sigma**2 / n + 4.0
                inside = -0.5 * scatter / sigma**2 - (n - 1) * np.log(sigma) - 0.5 * (n - 1) * LOG_TWO_PI - 0.5 * np.log(n)
                between = -0.5 * mean**2 / variance - 0.5 * np.log(variance) - 0.5 * LOG_TWO_PI
                log_prior = 3.0 * math.log(2.0) - math.lgamma(3.0) + 2.0 * np.log(sigma) - 2.0 * sigma
                return np.asarray(inside + between + log_prior)

            parts[members] = log_integral_over_positive(log_integrand)
        return parts[members]

    terms = []
    for allocation in product((0, 1), repeat=len(y)):
        sides = [tuple(i for i, side in enumerate(allocation) if side == j) for j in (0, 1)]
        terms.append(part(sides[0]) + part(sides[1]))
    return float(np.logaddexp.reduce(terms)) - len(y) * math.log(2.0)


def mirrored_signs(d: int = SIGNS_DIMENSIONS) -> Example:
    """|x_i| is observed with noise 0.3 as 2 for every i, x_i ~ N(0, 3^2): 2^d mirrored modes."""

    def log_likelihood(params: Any, y: Any) -> Any:
        return jnp.sum(log_normal(y, jnp.abs(params["x"]), 0.3))

    def prior() -> Any:
        return {"x": dist.Normal(0.0, 3.0).expand([d]).to_event(1)}

    grid = np.linspace(0.0, 12.0, 200_001)
    density = np.exp(-0.5 * ((2.0 - grid) / 0.3) ** 2) / 0.3 * np.exp(-0.5 * (grid / 3.0) ** 2) / 3.0 / (2.0 * np.pi)
    return Example(
        id=f"mirrored-signs-{d}",
        title=f"{2**d:,} mirrored modes in {d} dimensions",
        model=Model(log_likelihood, prior, data=np.full(d, 2.0), name=f"mirrored-signs-{d}"),
        log_evidence=d * math.log(2.0 * float(np.trapezoid(density, grid))),
        formula="d times the log of a one-dimensional quadrature",
        source=SOURCE,
        tags=("many-dimensional", "multimodal", "stress"),
    )
