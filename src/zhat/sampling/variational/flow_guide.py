"""A normalising flow as guide: the best Gaussian, bent by autoregressive layers (Kingma et al. 2016; Durkan et al. 2019).

    u = m + L f(z),     f = f_4 o ... o f_1,     each f_i an affine map of every coordinate whose shift and scale depend on those before it
                                                 (a small network), then a monotone spline of every coordinate, then the order reversed.

It starts at the best Gaussian of full rank, with f nearly the identity, and follows funnels, skewed and curved posteriors. Fixed noise does
not work for thousands of parameters: the training is stochastic (Adam in double precision; fresh antithetic noise at each step, a rate that falls to
zero over a round), and a round follows another until it gains less than the tolerance, on fresh noise that the training has not seen. Where a round
has lost, the guide before it stays: the bound is at least the Gaussian's.

Needs flowjax (``pip install 'zhat[flow]'``), which is imported when a flow is fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from zhat.errors import BadInput
from zhat.model.model import Core, Model
from zhat.results.records import Array
from zhat.sampling.backend.compiled import JaxBackend, compiled, compiled_on
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.proposals import Proposal, StudentT
from zhat.sampling.variational.families import FullRank
from zhat.sampling.variational.guide import (
    FALL_ERRORS,
    FRESH_SETS,
    Fresh,
    Guide,
    Start,
    expected_log_density,
    finished,
    fresh,
    spread,
)
from zhat.sampling.variational.maps import Affine, Mapped
from zhat.seeding import Key

# Layers, width of their networks, knots of the splines and the end of their range: two layers leave five times the gap of four on two modes
# of a mixture (E16a: 0.072 and 0.013).
LAYERS, WIDTH, KNOTS, RANGE = 4, 32, 8, 5.0
# The networks start at a fifth of the usual size: near the identity, and with a gradient.
FIRST = 0.2
# Steps in one compiled call, calls in a round, draws a step, rounds at most; Adam's first rate, and the norm at which a gradient is cut.
STEPS, CALLS, BATCH, ROUNDS, RATE, LONGEST = 100, 20, 128, 3, 5e-3, 10.0


@dataclass(frozen=True)
class FlowGuide:
    """A normalising flow over the best Gaussian: curved, skewed and funnel-shaped posteriors; needs flowjax and some seconds of training."""

    def __post_init__(self) -> None:
        """Check that flowjax is there."""
        if find_spec("flowjax") is None:
            raise BadInput("FlowGuide() needs flowjax: pip install 'zhat[flow]'; or give zhat.settings.FullRank().")

    def fitted(self, model: Model, starts: list[Start], tolerance: float, key: Key, loop: Loop) -> Guide | None:
        """See `Family`."""
        gaussian = FullRank().fitted(model, starts, tolerance, key, loop)
        if gaussian is None:
            return None
        assert isinstance(gaussian.map, Affine)
        best = fresh(model, gaussian.map, range(FRESH_SETS), key.child("flow", "fresh"), loop)
        if best is None:
            return gaussian
        weights, rise, settled = _first(gaussian.map.n_dimensions), np.inf, False
        for round in range(ROUNDS):
            weights = _trained(model, weights, gaussian.map, key.child("flow", round), loop)
            found = fresh(model, Flowed(gaussian.map, weights, model.core), range(FRESH_SETS), key.child("flow", "fresh"), loop)
            if found is None:
                break
            rise, se = _gain(best, found)
            settled = rise + se < tolerance
            if rise < -FALL_ERRORS * se:
                break
            best = found
            if settled:
                break
        return finished(model, best, 0, max(rise, 0.0), settled, tolerance, key.child("flow", "fresh"), loop)


def _gain(before: Fresh, after: Fresh) -> tuple[float, float]:
    """Nats that the bound rose on the same noise, and their standard error."""
    by_set = after.sets - before.sets
    return float(by_set.mean()), spread(by_set)


@dataclass(frozen=True)
class Flowed:
    """An affine map of a trained flow."""

    affine: Affine
    weights: Array
    core: Core

    @property
    def n_dimensions(self) -> int:
        """See `Map`."""
        return self.affine.n_dimensions

    @property
    def is_regular(self) -> bool:
        """See `Map`."""
        return bool(np.isfinite(self.weights).all()) and self.affine.is_regular

    def forward(self, noise: Array) -> tuple[Array, Array]:
        """See `Map`."""
        bent, log_slope = self._by("transform_and_log_det", noise)
        position, log_determinant = self.affine.forward(bent)
        return position, log_slope + log_determinant

    def inverse(self, position: Array) -> tuple[Array, Array]:
        """See `Map`."""
        bent, log_determinant = self.affine.inverse(position)
        noise, log_slope = self._by("inverse_and_log_det", bent)
        return noise, log_determinant - log_slope

    def heavy_tailed(self, degrees_of_freedom: float, widen: float) -> Proposal:
        """See `Map`."""
        d = self.n_dimensions
        return Mapped(StudentT(np.zeros(d), widen * np.eye(d), degrees_of_freedom), self)

    def _by(self, direction: str, points: Array) -> tuple[Array, Array]:
        d = self.n_dimensions

        def apply(weights: Any, points: Any) -> Any:
            return jax.vmap(getattr(_flow(d)[1](weights), direction))(points)

        moved, log_slope = compiled_on(self.core, ("flow", direction, d, len(points)), apply, self.weights, points)
        return np.asarray(moved), np.asarray(log_slope)


def _first(d: int) -> Array:
    return _flow(d)[0]


@cache
def _flow(d: int) -> tuple[Array, Callable[[Any], Any]]:
    """The first weights of a flow in d dimensions as one vector, and the bijection of a vector of weights."""
    import equinox
    import paramax
    from flowjax.bijections import Affine as Shift
    from flowjax.bijections import Chain, MaskedAutoregressive, Permute, RationalQuadraticSpline, Scan, Vmap
    from jax.flatten_util import ravel_pytree

    def layer(key: Any) -> Any:
        bend = MaskedAutoregressive(key, transformer=Shift(), dim=d, nn_width=WIDTH, nn_depth=1, nn_activation=jnp.tanh)
        splines = equinox.filter_vmap(lambda: RationalQuadraticSpline(knots=KNOTS, interval=RANGE), axis_size=d)()
        return Chain([bend, Vmap(splines, in_axes=equinox.if_array(0)), Permute(jnp.arange(d)[::-1])])

    with jax.enable_x64(True):
        layers = Scan(equinox.filter_vmap(layer)(jax.random.split(jax.random.key(0), LAYERS)))
        weights, rest = equinox.partition(
            layers, equinox.is_inexact_array, is_leaf=lambda leaf: isinstance(leaf, paramax.NonTrainable)
        )
        flat, back = ravel_pytree(weights)
        first = FIRST * np.asarray(flat)
    return first, lambda vector: paramax.unwrap(equinox.combine(back(vector), rest))


def _trained(model: Model, weights: Array, affine: Affine, key: Key, loop: Loop) -> Array:
    """The weights after one round."""
    d, rng = affine.n_dimensions, key.generator()
    moments = np.zeros((2, len(weights)))
    for call in range(CALLS):
        loop.tick("variational flow")
        half = rng.standard_normal((STEPS, BATCH // 2, d))
        noise = np.concatenate([half, -half], axis=1)
        rates = 0.5 * RATE * (1.0 + np.cos(np.pi * (call + np.arange(STEPS) / STEPS) / CALLS))
        count = call * STEPS + np.arange(1.0, STEPS + 1.0)
        weights, moments = compiled(
            model, ("flow", d), _steps(d), weights, moments, affine.centre, affine.factor, noise, rates, count
        )
        loop.count(n_gradient=STEPS * BATCH)
    return np.asarray(weights)


def _steps(d: int) -> Any:
    def body(
        backend: JaxBackend, weights: Any, moments: Any, centre: Any, factor: Any, noise: Any, rates: Any, count: Any
    ) -> Any:
        def bent(weights: Any, noise: Any) -> Any:
            moved, log_slope = jax.vmap(_flow(d)[1](weights).transform_and_log_det)(noise)
            return centre + moved @ factor.T, jnp.mean(log_slope)

        def step(carry: Any, given: Any) -> Any:
            weights, moments = carry
            noise, rate, t = given
            (position, _), back = jax.vjp(lambda w: bent(w, noise), weights)
            _, gradient = expected_log_density(backend, position)
            (uphill,) = back((gradient, 1.0))
            return _adam(weights, moments, jnp.where(jnp.isfinite(uphill).all(), -uphill, 0.0), rate, t), None

        return jax.lax.scan(step, (weights, moments), (noise, rates, count))[0]

    return body


def _adam(weights: Any, moments: Any, slope: Any, rate: Any, t: Any) -> tuple[Any, Any]:
    """One step of Adam (Kingma & Ba 2015), the gradient cut at a norm."""
    slope = slope * jnp.minimum(1.0, LONGEST / (jnp.linalg.norm(slope) + 1e-300))
    moments = jnp.stack([0.9 * moments[0] + 0.1 * slope, 0.999 * moments[1] + 0.001 * slope**2])
    first, second = moments[0] / (1.0 - 0.9**t), moments[1] / (1.0 - 0.999**t)
    return weights - rate * first / (jnp.sqrt(second) + 1e-8), moments
