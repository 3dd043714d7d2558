"""The Gaussian guide: the member of a family that maximises the evidence lower bound, found with fixed noise and a quasi-Newton method.

    ELBO(m, L) = E_z[ log prior x likelihood at m + L z ] + log det L + (d/2) (1 + log 2 pi)  <=  log Z.

The expectation is an average over noise that is drawn once (sample average approximation: Giordano, Ingram & Broderick 2024), so that the
objective is an ordinary function and L-BFGS maximises it to rounding; there is no learning rate, and one seed gives one answer. The
noise is a scrambled Sobol sequence with its mirror image, transformed so that its mean is zero and its covariance the unit
matrix exactly: for a Gaussian posterior the optimum is then exact whatever the number of points.

At the optimum of fixed noise the objective is too large (it was fitted to that noise), so the bound is estimated on fresh sets of such
noise, and its standard error from their scatter.
With fewer points than dimensions a full covariance is unbounded; the number of points grows with the dimensions, and is doubled until
the bound no longer rises by more than a tolerance. Both bounds are taken on the same fresh noise, so their difference is known far
better than either. The loss by fitting to fixed noise is inverse to the number of points: after a doubling about as much is left as
the doubling gained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

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
from zhat.sampling.variational.maps import Affine, Map
from zhat.seeding import Key

# Points of noise at first: at least this many, and this many a dimension; and how often they are doubled.
FEWEST_POINTS = 1024
POINTS_A_DIMENSION = 20
MOST_DOUBLINGS = 4
# Points a parameter of the guide before which doubling does not end, and this many points at most: the loss by fitting to fixed noise
# is half the number of parameters over that of points, times the variance of the log ratio beyond quadratic terms (0.1 on E15n).
POINTS_A_PARAMETER, ENOUGH_POINTS = 64, 8192
# Fresh sets of noise for the bound itself, and points of each: its standard error is that of the sets. Unit covariance of a set biases
# the bound by a term inverse to its points: +2e-4 on E2 with 4,096.
FRESH_SETS, FRESH_POINTS = 8, 8192
# Where that standard error is more than this many tolerances, the final guide gets up to so many times the sets.
FINAL_ERROR, MOST_FINAL = 0.5, 4
# A doubling whose bound is lower by more of its standard errors than this is not used.
FALL_ERRORS = 2.0
# L-BFGS: iterations, and the gain in nats of one below which it ends.
ITERATIONS = 400
GAIN = 1e-9


@dataclass(frozen=True)
class Guide:
    """A fitted density and its bound, from fresh noise.

    Attributes
    ----------
    map : Map
        From standard normal noise to draws of the guide.
    elbo, elbo_se : float
        The bound, and how well it is known.
    log_ratio : (n,) array
        Log prior x likelihood - log guide at the fresh draws.
    n_points : int
        Points of fixed noise; 0 where every step of the optimisation has its own.
    last_rise : float
        Nats that the last doubling of the points (the last round of training) gained: about as much is left.
    converged : bool
        Whether the optimiser ended by itself and the last rise is below the tolerance.
    """

    map: Map
    elbo: float
    elbo_se: float
    log_ratio: Array
    n_points: int
    last_rise: float
    converged: bool


@dataclass(frozen=True)
class Start:
    """Where an optimisation begins."""

    mean: Array
    covariance: Array


class Factors(Protocol):
    """Which factors L a Gaussian may have, in coordinates that are scaled by `scale_of`."""

    def scale_of(self, covariance: Array) -> Array:
        """A factor of the covariance that the family contains: the start of the optimisation is u = m + scale z."""
        ...

    def n_parameters(self, d: int) -> int:
        """Parameters beside the mean, in d dimensions."""
        ...

    def factor(self, parameters: Any, d: int) -> Any:
        """The factor, from parameters that are zero at the start (a unit matrix); for compiled code."""
        ...


@dataclass(frozen=True)
class Fresh:
    """A guide by its map, and the log ratios at fresh sets of noise, one a row."""

    map: Map
    log_ratio: Array

    @property
    def sets(self) -> Array:
        """The bound by each set."""
        return np.asarray(self.log_ratio.mean(axis=1))


def fit(model: Model, family: Factors, starts: list[Start], tolerance: float, key: Key, loop: Loop) -> Guide | None:
    """The guide with the highest bound over all starts; None where the bound is -inf at each.

    `tolerance`: nats of the bound by which the last doubling of the fixed noise may still rise.
    """
    guides = [_from(model, family, start, tolerance, key.child(i), loop) for i, start in enumerate(starts)]
    found = [guide for guide in guides if guide is not None]
    return max(found, key=lambda guide: guide.elbo) if found else None


def _from(model: Model, family: Factors, start: Start, tolerance: float, key: Key, loop: Loop) -> Guide | None:
    d = len(start.mean)
    n_points = max(FEWEST_POINTS, POINTS_A_DIMENSION * d)
    parameters = np.zeros(d + family.n_parameters(d))
    scale = family.scale_of(start.covariance)
    best: Fresh | None = None
    rise, settled, n_best = np.inf, False, 0
    enough = min(POINTS_A_PARAMETER * len(parameters), ENOUGH_POINTS)
    for doubling in range(MOST_DOUBLINGS + 1):
        noise = standard_noise(n_points << doubling, d, key.child("noise", doubling))
        parameters, ended = _optimise(model, family, start.mean, scale, parameters, noise, loop)
        found = _fresh(model, family, start.mean, scale, parameters, range(FRESH_SETS), key.child("fresh"), loop)
        if found is None:
            break
        by_set = np.zeros(FRESH_SETS) if best is None else found.sets - best.sets
        rise, se = np.inf if best is None else float(by_set.mean()), spread(by_set)
        settled = ended and ((len(noise) >= enough and rise + se < tolerance) or spread(found.sets) == 0.0)
        if rise > -FALL_ERRORS * se:  # more points are better unless they are seen to be worse
            best, n_best = found, len(noise)
        if settled:
            break
    if best is None:
        return None
    return finished(model, best, n_best, max(rise, 0.0), settled, tolerance, key.child("fresh"), loop)


def spread(sets: Array) -> float:
    """The standard error of the mean of the sets; zero where they are equal to rounding."""
    se = float(sets.std(ddof=1) / np.sqrt(len(sets)))
    return 0.0 if se < 1e-10 * max(1.0, abs(float(sets.mean()))) else se


def finished(
    model: Model, found: Fresh, n_points: int, rise: float, settled: bool, tolerance: float, key: Key, loop: Loop
) -> Guide | None:
    """The guide, its bound on more sets of noise where it is not known well enough."""
    log_ratio = found.log_ratio
    while spread(log_ratio.mean(axis=1)) > FINAL_ERROR * tolerance and len(log_ratio) < MOST_FINAL * FRESH_SETS:
        more = _log_ratio(model, found.map, range(len(log_ratio), 2 * len(log_ratio)), key, loop)
        log_ratio = np.concatenate([log_ratio, more])
    if not np.isfinite(log_ratio).all() or not found.map.is_regular:
        return None
    sets = log_ratio.mean(axis=1)
    return Guide(found.map, float(sets.mean()), spread(sets), log_ratio.ravel(), n_points, rise, settled)


def standard_noise(n: int, d: int, key: Key) -> Array:
    """n points (a power of two, half of them mirrored) with mean zero and unit covariance."""
    half = 1 << max(int(np.ceil(np.log2(n))) - 1, 1)
    uniform = scipy.stats.qmc.Sobol(d, scramble=True, rng=key.generator()).random(half)
    z = ndtri(np.clip(uniform, 1e-12, 1.0 - 1e-12))
    both = np.concatenate([z, -z])
    return both @ np.linalg.inv(np.linalg.cholesky(both.T @ both / len(both))).T


def _optimise(
    model: Model, family: Factors, mean: Array, scale: Array, parameters: Array, noise: Array, loop: Loop
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


def _objective(family: Factors) -> Any:
    def body(backend: JaxBackend, parameters: Any, mean: Any, scale: Any, noise: Any) -> Any:
        d = noise.shape[1]

        def position(p: Any) -> Any:
            inner = family.factor(p[d:], d)
            return mean + (p[:d] + noise @ inner.T) @ scale.T, jnp.sum(jnp.log(jnp.abs(jnp.diagonal(inner))))

        (u, log_determinant), back = jax.vjp(position, parameters)
        average, gradient = expected_log_density(backend, u)
        return average + log_determinant, back((gradient, 1.0))[0]

    return body


def expected_log_density(backend: JaxBackend, position: Any) -> tuple[Any, Any]:
    """The mean of log prior + log likelihood over these points, and its derivative at each.

    Point by point, so that only one block of points keeps what backward differentiation needs.
    """

    def one(u: Any) -> Any:
        return sum(backend.core.log_densities(u, backend.data, backend.hyper))

    value, slope = over_points(jax.value_and_grad(one), position, backend.block)
    return jnp.mean(value), slope / len(position)


def _fresh(
    model: Model, family: Factors, mean: Array, scale: Array, parameters: Array, sets: range, key: Key, loop: Loop
) -> Fresh | None:
    """The Gaussian of these parameters with its log ratios on fresh sets of noise."""
    d = len(mean)
    with jax.enable_x64(True):
        factor = scale @ np.asarray(family.factor(jnp.asarray(parameters[d:]), d))
    return fresh(model, Affine(mean + scale @ parameters[:d], factor), sets, key, loop)


def fresh(model: Model, map: Map, sets: range, key: Key, loop: Loop) -> Fresh | None:
    """The log ratios of a guide on fresh sets of noise; None where one of them is not finite."""
    log_ratio = _log_ratio(model, map, sets, key, loop)
    return Fresh(map, log_ratio) if np.isfinite(log_ratio).all() else None


def _log_ratio(model: Model, map: Map, sets: range, key: Key, loop: Loop) -> Array:
    """Log prior x likelihood - log guide at these sets of noise, one a row."""
    d = map.n_dimensions
    noise = np.concatenate([standard_noise(FRESH_POINTS, d, key.child(i)) for i in sets])
    position, log_slope = map.forward(noise)
    log_prior, log_likelihood = log_densities(model, position, loop)
    log_guide = -0.5 * (noise**2).sum(axis=1) - 0.5 * d * np.log(2.0 * np.pi) - log_slope
    return np.asarray((log_prior + log_likelihood - log_guide).reshape(len(sets), -1))
