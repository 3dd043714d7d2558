"""The guide: the Gaussian of a family that maximises the evidence lower bound, found with fixed noise and a quasi-Newton method.

    ELBO(m, L) = E_z[ log prior x likelihood at m + L z ] + log det L + (d/2) (1 + log 2 pi)  <=  log Z.

The expectation is an average over noise that is drawn once (sample average approximation: Giordano, Ingram & Broderick 2024), so that the
objective is an ordinary function and L-BFGS maximises it to rounding; there is no learning rate, and one seed gives one answer. The
noise is a scrambled Sobol sequence with its mirror image, transformed so that its mean is zero and its covariance the unit
matrix exactly: for a Gaussian posterior the optimum is then exact whatever the number of points.

At the optimum of fixed noise the objective is too large (it was fitted to that noise), so the bound is estimated on fresh sets of such
noise, and its standard error from their scatter.
With fewer points than dimensions a full covariance is unbounded; the number of points grows with the dimensions, and is doubled until
the bound on fresh draws no longer rises by more than its error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # its modules are imported when they are used
from scipy.special import ndtri

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.compiled import JaxBackend, compiled, over_points
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.proposals import Gaussian
from zhat.sampling.variational.families import Family
from zhat.seeding import Key

# Points of noise at first: at least this many, and this many a dimension; and how often they are doubled.
FEWEST_POINTS = 1024
POINTS_A_DIMENSION = 20
MOST_DOUBLINGS = 2
# Fresh sets of noise for the bound itself, and points of each: its standard error is that of the sets.
FRESH_SETS, FRESH_POINTS = 8, 4096
# A rise of the bound by fewer of its standard errors than this, or by fewer nats, is none.
RISE_ERRORS, RISE = 2.0, 5e-4
# L-BFGS: iterations, and the gain in nats of one below which it ends.
ITERATIONS = 400
GAIN = 1e-9


@dataclass(frozen=True)
class Guide:
    """A fitted Gaussian and its bound, from fresh noise."""

    gaussian: Gaussian
    factor: Array
    elbo: float
    elbo_se: float
    log_ratio: Array  # log prior x likelihood - log guide at the fresh draws
    n_points: int
    converged: bool


@dataclass(frozen=True)
class Start:
    """Where an optimisation begins."""

    mean: Array
    covariance: Array


def fit(model: Model, family: Family, starts: list[Start], key: Key, loop: Loop) -> Guide | None:
    """The guide with the highest bound over all starts; None where the bound is -inf at each."""
    guides = [_from(model, family, start, key.child(i), loop) for i, start in enumerate(starts)]
    found = [guide for guide in guides if guide is not None]
    return max(found, key=lambda guide: guide.elbo) if found else None


def _from(model: Model, family: Family, start: Start, key: Key, loop: Loop) -> Guide | None:
    d = len(start.mean)
    n_points = max(FEWEST_POINTS, POINTS_A_DIMENSION * d)
    parameters = np.zeros(d + family.n_parameters(d))
    scale = family.scale_of(start.covariance)
    best: Guide | None = None
    for doubling in range(MOST_DOUBLINGS + 1):
        noise = _noise(n_points << doubling, d, key.child("noise", doubling))
        parameters, converged = _optimise(model, family, start.mean, scale, parameters, noise, loop)
        guide = _judge(model, family, start.mean, scale, parameters, key.child("fresh"), loop, len(noise), converged)
        if guide is None or (best is not None and guide.elbo < best.elbo + max(RISE_ERRORS * guide.elbo_se, RISE)):
            break
        best = guide
        if guide.elbo_se == 0.0:
            break
    return best


def _noise(n: int, d: int, key: Key) -> Array:
    """n points (a power of two, half of them mirrored) with mean zero and unit covariance."""
    half = 1 << max(int(np.ceil(np.log2(n))) - 1, 1)
    uniform = scipy.stats.qmc.Sobol(d, scramble=True, rng=key.generator()).random(half)
    z = ndtri(np.clip(uniform, 1e-12, 1.0 - 1e-12))
    both = np.concatenate([z, -z])
    return both @ np.linalg.inv(np.linalg.cholesky(both.T @ both / len(both))).T


def _optimise(
    model: Model, family: Family, mean: Array, scale: Array, parameters: Array, noise: Array, loop: Loop
) -> tuple[Array, bool]:
    def downhill(p: Array) -> tuple[float, Array]:
        loop.tick("variational bound")
        value, slope = compiled(model, ("elbo", family, len(noise)), _objective(family), p, mean, scale, noise)
        loop.count(n_gradient=len(noise))
        if not np.isfinite(value) or not np.isfinite(slope).all():
            return 1e15, np.zeros_like(p)
        return -float(value), -np.asarray(slope)

    bounds = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS, "maxcor": 20, "gtol": 1e-7, "ftol": 0.0}
    first, _ = downhill(parameters)
    shrunk = parameters.copy()
    for _ in range(6):  # a Gaussian that reaches where the density is zero is made narrower
        if first < 1e15:
            break
        shrunk[len(mean) : 2 * len(mean)] -= 0.5
        first, _ = downhill(shrunk)
    last = [first]

    def little_gain(intermediate_result: Any) -> None:
        value = float(intermediate_result.fun)
        if last[-1] - value < GAIN * max(1.0, abs(value) * 1e-3):
            raise StopIteration
        last.append(value)

    found = scipy.optimize.minimize(downhill, shrunk, jac=True, method="L-BFGS-B", options=bounds, callback=little_gain)
    return np.asarray(found.x), len(last) < ITERATIONS


def _objective(family: Family) -> Any:
    def body(backend: JaxBackend, parameters: Any, mean: Any, scale: Any, noise: Any) -> Any:
        d = noise.shape[1]

        def bound(p: Any) -> Any:
            inner = family.factor(p[d:], d)

            def one(z: Any) -> Any:
                u = mean + scale @ (p[:d] + inner @ z)
                return sum(backend.core.log_densities(u, backend.data, backend.hyper))

            average = jnp.mean(over_points(one, noise, backend.block))
            return average + jnp.sum(jnp.log(jnp.abs(jnp.diagonal(inner))))

        return jax.value_and_grad(bound)(parameters)

    return body


def _judge(
    model: Model,
    family: Family,
    mean: Array,
    scale: Array,
    parameters: Array,
    key: Key,
    loop: Loop,
    n_points: int,
    converged: bool,
) -> Guide | None:
    """The guide of these parameters with its bound on fresh sets of noise."""
    d = len(mean)
    with jax.enable_x64(True):
        factor = scale @ np.asarray(family.factor(jnp.asarray(parameters[d:]), d))
    centre = mean + scale @ parameters[:d]
    covariance = factor @ factor.T
    noise = np.concatenate([_noise(FRESH_POINTS, d, key.child(i)) for i in range(FRESH_SETS)])
    log_prior, log_likelihood = log_densities(model, centre + noise @ factor.T, loop)
    log_guide = -0.5 * (noise**2).sum(axis=1) - 0.5 * d * np.log(2.0 * np.pi) - np.linalg.slogdet(factor)[1]
    log_ratio = log_prior + log_likelihood - log_guide
    if not np.isfinite(log_ratio).all():
        return None
    sets = log_ratio.reshape(FRESH_SETS, -1).mean(axis=1)
    elbo, se = float(sets.mean()), float(sets.std(ddof=1) / np.sqrt(FRESH_SETS))
    se = 0.0 if se < 1e-10 * max(1.0, abs(elbo)) else se
    try:
        gaussian = Gaussian(centre, 0.5 * (covariance + covariance.T))
    except ValueError:  # the covariance is singular: the bound has run away
        return None
    return Guide(gaussian, factor, elbo, se, log_ratio, n_points, converged)
