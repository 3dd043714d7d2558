"""Importance sampling of many variants of one model at once: the same likelihood and prior, data that differ in one array.

All subsets of covariates are such a family: one model whose data hold a mask. Modes are climbed to by Newton steps for all
variants together, and draws from a t at every mode are weighed in a few compiled calls; nothing is compiled for one alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from evidentia.model import Model
from evidentia.numerics.weights import Weights
from evidentia.records import Array
from evidentia.sampling.loop import Loop
from evidentia.seeding import Key

MAX_STEPS = 50
TOLERANCE = 1e-6
# Light tails cost little in many dimensions (a t of five degrees of freedom doubled the error on the Pima models); weights that
# they do not suit are refused by their Pareto k.
DEGREES_OF_FREEDOM = 12.0
# Draws evaluated together, over variants.
AT_ONCE = 60_000


@dataclass(frozen=True)
class Variants:
    """What importance sampling says of every variant: M of each."""

    log_evidence: Array
    se: Array
    ess: Array
    pareto_k: Array
    mode: Array  # (M, d), unconstrained
    mean: Array  # (M, d), posterior means of the unconstrained coordinates
    climbed: NDArray[np.bool_]  # whether a peak was reached


def importance_of_all(model: Model, name: str, variants: Array, n_draws: int, key: Key, loop: Loop) -> Variants:
    """Every row of `variants` in the place of ``data[name]``; n_draws weighted draws each."""
    with jax.enable_x64(True):
        mode, factor, climbed = (np.asarray(part) for part in _climb(model, name)(variants, model.data, model.hyper))
    loop.count(n_gradient=len(variants) * 10)
    m, d = mode.shape
    rng = key.generator()
    nu = DEGREES_OF_FREEDOM
    found = [np.empty(m) for _ in range(4)]
    mean = np.empty((m, d))
    log_det = np.log(np.abs(np.einsum("mii->mi", factor))).sum(axis=1)
    constant = gammaln(0.5 * (nu + d)) - gammaln(0.5 * nu) - 0.5 * d * np.log(nu * np.pi)
    at_once = max(1, AT_ONCE // n_draws)
    for begin in range(0, m, at_once):
        some = np.minimum(np.arange(begin, begin + at_once), m - 1)  # the last call is filled up: one program for all
        noise = rng.standard_normal((at_once, n_draws, d))
        noise *= np.sqrt(0.5 * nu / rng.standard_gamma(0.5 * nu, (at_once, n_draws, 1)))
        position = mode[some][:, None, :] + noise @ factor[some].swapaxes(1, 2)
        squared = np.einsum("knd,knd->kn", noise, noise)
        log_proposal = constant - log_det[some][:, None] - 0.5 * (nu + d) * np.log1p(squared / nu)
        with jax.enable_x64(True):
            log_target = np.asarray(_densities(model, name)(position, variants[some], model.data, model.hyper))
        log_weight = np.where(np.isnan(log_target), -np.inf, log_target) - log_proposal
        loop.count(n_likelihood=at_once * n_draws)
        loop.tick(f"{min(begin + at_once, m)} of {m} models")
        for k, i in enumerate(some):
            if k and i == some[k - 1]:
                break
            weights = Weights.of(log_weight[k])
            for array, value in zip(found, (weights.log_mean, weights.log_mean_se, weights.ess, weights.pareto_k), strict=True):
                array[i] = value
            share = np.exp(log_weight[k] - log_weight[k].max())
            mean[i] = share @ position[k] / share.sum()
    return Variants(found[0], found[1], found[2], found[3], mode, mean, climbed.astype(bool))


def _log_density(model: Model, name: str) -> Callable[..., Any]:
    core = model.core

    def log_density(u: Any, variant: Any, data: Any, hyper: Any) -> Any:
        log_prior, log_likelihood = core.log_densities(u, {**data, name: variant}, hyper)
        return log_prior + log_likelihood

    return log_density


def _densities(model: Model, name: str) -> Callable[..., Any]:
    def build() -> Callable[..., Any]:
        one = _log_density(model, name)

        def run(position: Any, variants: Any, data: Any, hyper: Any) -> Any:
            def variant(given: Any) -> Any:
                points, mask = given
                return jax.vmap(lambda u: one(u, mask, data, hyper))(points)

            return jax.lax.map(variant, (position, variants))

        return run

    return model.core.compiled(("many densities", name), build)


def _climb(model: Model, name: str) -> Callable[..., Any]:
    """Newton's method from the origin with halved steps, for all variants together; Cholesky factors of the inverse curvature."""

    def build() -> Callable[..., Any]:
        one = _log_density(model, name)

        def climb(variant: Any, data: Any, hyper: Any) -> Any:
            def f(u: Any) -> Any:
                return one(u, variant, data, hyper)

            halves = 0.5 ** jnp.arange(10.0)
            eye = jnp.eye(model.n_dimensions)

            def step(carry: Any) -> Any:
                u, _, count = carry
                slope, curvature = jax.grad(f)(u), -jax.hessian(f)(u)
                direction = jnp.linalg.solve(curvature + 1e-10 * eye, slope)
                tried = jax.vmap(lambda h: f(u + h * direction))(halves)
                tried = jnp.where(jnp.isfinite(tried), tried, -jnp.inf)
                best = jnp.argmax(tried)
                better = tried[best] > f(u)
                decrement = jnp.where(better, slope @ direction, 0.0)
                return jnp.where(better, u + halves[best] * direction, u), decrement, count + 1

            def more(carry: Any) -> Any:
                _, decrement, count = carry
                return (count < MAX_STEPS) & (jnp.abs(decrement) > TOLERANCE)

            u, _, _ = jax.lax.while_loop(more, step, (jnp.zeros(model.n_dimensions), jnp.inf, 0))
            curvature = -jax.hessian(f)(u)
            slope = jax.grad(f)(u)
            root = jnp.linalg.cholesky(curvature)
            factor = jnp.linalg.cholesky(jnp.linalg.solve(curvature, eye))
            fine = jnp.isfinite(root).all() & jnp.isfinite(factor).all()
            arrived = jnp.abs(slope @ jnp.linalg.solve(curvature + 1e-10 * eye, slope)) < 1e-3
            return u, jnp.where(fine, factor, eye), fine & arrived

        return lambda variants, data, hyper: jax.vmap(lambda v: climb(v, data, hyper))(variants)

    return model.core.compiled(("many modes", name), build)
