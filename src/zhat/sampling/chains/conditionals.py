"""A model's full conditionals at many points at once: densities, draws, and a check that they are normalised and of this model.

Two mistakes are classic. A conditional without its normalising constant is harmless in a Gibbs sampler and biases Chib's method.
It is detected where the block is one number, by comparing the density's mass between two quantiles of the block's own draws with
the share of draws there, and where it is several unbounded ones, by averaging the ratio of a known density to it. A conditional
of another model than the one written down (a misprint in a derivation) has the wrong shape: for two values of a block, with the
rest held, its log ratio must be that of prior x likelihood, whatever its dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
import scipy  # its modules are imported when they are used

from zhat.model.model import Conditional, Model
from zhat.numerics.weights import Weights
from zhat.results.records import Array
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.compiled import JaxBackend, compiled, over_points
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.proposals import Gaussian

# Points in a batch: one size, so that each of the functions below is compiled once.
AT_ONCE = 256
N_DRAWS = 2048
# Standard errors (of a share of draws) by which the mass may differ from the share; and the rounding of log densities.
LIMIT = 5.0
NARROW = 0.8
ROUNDING = 1e-9
# From this Pareto k on the variance of an average may be infinite, and nothing is concluded from it.
HEAVY = 0.5

Params = dict[str, Any]


def log_ordinates(model: Model, conditional: Conditional, stars: Params, position: Array, loop: Loop) -> Array:
    """Log density of each of K values of a block given the other parameters at each of n points: (K, n).

    `stars` holds the block's parameters, with a leading axis K.
    """
    chosen = {name: np.asarray(stars[name]) for name in conditional.block}

    def body(backend: JaxBackend, stars: Params, points: Any) -> Any:
        data, hyper = backend.data, backend.hyper

        def of(star: Params) -> Any:
            def at(u: Any) -> Any:
                params, _ = backend.core.space.constrain(u, data, hyper)
                return conditional.log_density({**params, **star}, 1.0, data, hyper)

            return over_points(at, points, backend.block)

        return jax.lax.map(of, stars)

    out = compiled(model, ("ordinates", conditional), body, chosen, position)
    loop.count(n_likelihood=out.size)  # a conditional reads the data about once, like a likelihood
    return np.asarray(out, dtype=np.float64)


def log_conditional(model: Model, conditional: Conditional, params: Params) -> Array:
    """Log density of the block at n whole points (leading axis n)."""

    def body(backend: JaxBackend, params: Params) -> Any:
        return jax.vmap(lambda p: conditional.log_density(p, 1.0, backend.data, backend.hyper))(params)

    return _padded(model, ("log_conditional", conditional), body, params)


def log_joint(model: Model, params: Params, loop: Loop) -> Array:
    """Log prior (of the parameters themselves) plus log likelihood at n whole points."""
    out = _padded(model, "log_joint", _log_joint, params)
    loop.count(n_likelihood=len(out))
    return out


def _log_joint(backend: JaxBackend, params: Params) -> Any:
    core, data, hyper = backend.core, backend.data, backend.hyper

    def one(params: Params) -> Any:
        return core.space.log_prior(params, data, hyper) + jax.numpy.reshape(core.log_likelihood(params, data, hyper), ())

    return jax.vmap(one)(params)


def draws_given(model: Model, conditional: Conditional, params: Params, n: int, rng: np.random.Generator) -> Params:
    """n draws of the block given the other parameters of one point."""

    def body(backend: JaxBackend, noise: Any, params: Params) -> Any:
        return jax.vmap(lambda one: conditional.draw(one, params, 1.0, backend.data, backend.hyper))(noise)

    noise = conditional.noise(rng, (n,), 1.0, model.data, model.hyper)
    drawn = compiled(model, ("draws_given", conditional), body, noise, params)
    return {name: np.asarray(value, dtype=np.float64) for name, value in drawn.items()}


# -- checks of conditionals --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ConditionalCheck:
    """Result of the checks of one conditional.

    Attributes
    ----------
    block : tuple of str
    shape_gap : float
        By how much its log ratios differ from those of prior x likelihood, beyond rounding.
    log_factor : float or None
        Log of the factor by which its density exceeds that of its own draws; None where no difference is significant.
    """

    block: tuple[str, ...]
    shape_gap: float
    log_factor: float | None = None


def check_conditionals(model: Model, position: Array, rng: np.random.Generator, loop: Loop) -> list[ConditionalCheck]:
    """Check the shape and the normalising constant of every conditional, at some posterior draws (n, d)."""
    params, _ = constrain_batch(model, position[rng.permutation(len(position))[:32]])
    checks = []
    for conditional in model.conditionals:
        gap, factor = _shape_gap(model, conditional, params, loop), None
        if gap == 0.0:
            factor = _missing_factor(model, conditional, params, rng)
            factor = _missing_factor_of_vector(model, conditional, params, rng) if factor is None else factor
        checks.append(ConditionalCheck(tuple(conditional.block), gap, None if factor is None else float(np.log(factor))))
    return checks


def _shape_gap(model: Model, conditional: Conditional, params: Params, loop: Loop) -> float:
    """By how much the conditional's log ratios differ from the joint's beyond rounding; zero when they do not."""
    moved = {**params, **{name: np.roll(params[name], 1, axis=0) for name in conditional.block}}
    joint = [log_joint(model, one, loop) for one in (params, moved)]
    block = [log_conditional(model, conditional, one) for one in (params, moved)]
    with np.errstate(invalid="ignore"):
        gap = np.abs((joint[1] - joint[0]) - (block[1] - block[0]))
        size = 1.0 + np.abs(joint[0]) + np.abs(joint[1]) + np.abs(block[0]) + np.abs(block[1])
    known = np.isfinite(gap)
    beyond = known & (gap > 1e3 * ROUNDING * size)
    return float(gap[beyond].max()) if beyond.any() else 0.0


def _missing_factor(model: Model, conditional: Conditional, params: Params, rng: np.random.Generator) -> float | None:
    """The mass of a one-number block's density over the share of its draws there, where they differ; else None."""
    if len(conditional.block) != 1 or np.ndim(params[conditional.block[0]]) != 1:
        return None
    (name,) = conditional.block
    state = {key: value[0] for key, value in params.items()}
    draws = draws_given(model, conditional, state, N_DRAWS, rng)[name]
    low, high = np.quantile(draws[: N_DRAWS // 2], [0.1, 0.9])
    rest = draws[N_DRAWS // 2 :]
    share = float(np.mean((low < rest) & (rest < high)))
    if not (high > low and 0.0 < share < 1.0):
        return None
    grid = np.linspace(low, high, AT_ONCE - 1)
    batch = {key: np.broadcast_to(value, (len(grid), *np.shape(value))) for key, value in state.items()}
    mass = float(scipy.integrate.simpson(np.exp(log_conditional(model, conditional, {**batch, name: grid})), x=grid))
    error = np.sqrt((1.0 - share) / (share * len(rest)))
    return mass / share if not abs(np.log(mass / share)) <= LIMIT * error else None


def _missing_factor_of_vector(model: Model, conditional: Conditional, params: Params, rng: np.random.Generator) -> float | None:
    """The same for a block of several unbounded numbers: the average of f / density over its draws is one.

    f is a normal somewhat narrower than the draws; where the average has no standard error, the result is None.
    """
    sites = [site for site in model.space.sites if site.name in conditional.block]
    size = sum(site.size for site in sites)
    if size < 2 or not all("Real" in site.support for site in sites):
        return None
    state = {key: value[0] for key, value in params.items()}
    draws = draws_given(model, conditional, state, N_DRAWS, rng)
    flat = np.concatenate([draws[name].reshape(N_DRAWS, -1) for name in conditional.block], axis=1)
    half = N_DRAWS // 2
    narrow = Gaussian(flat[:half].mean(axis=0), NARROW * np.cov(flat[:half].T))
    logs = []
    for start in range(half, N_DRAWS, AT_ONCE):
        rows = slice(start, start + AT_ONCE)
        batch = {key: np.broadcast_to(value, (AT_ONCE, *np.shape(value))) for key, value in state.items()}
        logs.append(log_conditional(model, conditional, {**batch, **{name: draws[name][rows] for name in conditional.block}}))
    weights = Weights.of(narrow.log_density(flat[half:]) - np.concatenate(logs))
    off = float(weights.log_mean)
    if weights.pareto_k >= HEAVY or abs(off) <= LIMIT * float(weights.log_mean_se) + ROUNDING:
        return None
    return float(np.exp(-off))


def _padded(model: Model, purpose: Any, body: Callable[..., Any], params: Params) -> Array:
    """A compiled function of `AT_ONCE` points at fewer of them, the last one repeated."""
    n = len(next(iter(params.values())))
    assert n <= AT_ONCE
    rows = np.minimum(np.arange(AT_ONCE), n - 1)
    filled = {name: np.asarray(value, dtype=np.float64)[rows] for name, value in params.items()}
    return np.asarray(compiled(model, purpose, body, filled), dtype=np.float64)[:n]
