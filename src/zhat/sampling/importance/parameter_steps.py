"""Newton steps in the parameters themselves, beside those in their unconstrained coordinates.

A normal posterior inside a box is quadratic in the parameters and far from it in their unconstrained coordinates: from a start in its tails a
Newton search in the latter follows a bent valley for a hundred steps, or leaves the basin. Where each parameter x_i is a function t of one
coordinate u_i, a log density with gradient g and negative Hessian P in the coordinates has, in the parameters,

    gradient  g_i / t'(u_i),     negative Hessian  (P_ij + delta_ij g_i t''(u_i) / t'(u_i)) / (t'(u_i) t'(u_j)).

A step with these ends at parameters that are mapped back to coordinates; outside of the support there are none.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from zhat.model.model import Model
from zhat.model.space import Site
from zhat.results.records import Array
from zhat.sampling.backend.compiled import compiled

# Points of a call: one program for any number of them.
AT_ONCE = 64
# Supports with two ends, near which coordinates are stretched most; and others whose coordinates are functions of one parameter each.
TWO_ENDS = ("Interval", "UnitInterval", "Circular")
OTHERS = ("Real", "RealVector", "Positive", "Nonnegative", "GreaterThan", "GreaterThanEq", "LessThan", "LessThanEq")


def has_parameter_steps(model: Model) -> bool:
    """Whether every parameter is a function of one coordinate, and some have a support with two ends."""
    kinds = [_kind(site) for site in model.space.sites]
    return all(kind in (*TWO_ENDS, *OTHERS) for kind in kinds) and any(kind in TWO_ENDS for kind in kinds)


def _kind(site: Site) -> str:
    """The name of the support of one number; empty where it, or the coordinates, depend on other parameters."""
    if site.depends or site.shape != site.free_shape or "Traced" in site.support:
        return ""
    return site.support.removeprefix("IndependentConstraint(").partition("(")[0]


def in_parameters(model: Model, position: Array, gradient: Array, precision: Array) -> tuple[Array, Array, Array]:
    """The parameters at these points as flat vectors, and the gradient and negative Hessian of the log density there."""
    x, slope, bend = _in_parts(model, "parameters", _with_derivatives, position)
    with np.errstate(all="ignore"):
        curved = precision + np.einsum("ki,ij->kij", gradient * bend / slope, np.eye(position.shape[1]))
        return x, gradient / slope, curved / (slope[:, :, None] * slope[:, None, :])


def positions_at(model: Model, x: Array) -> Array:
    """The unconstrained coordinates of parameters as flat vectors; not numbers outside of the support."""
    (position,) = _in_parts(model, "coordinates of parameters", _coordinates, x)
    return position


def _in_parts(model: Model, purpose: str, body: Any, points: Array) -> tuple[Array, ...]:
    filled = np.concatenate([points, np.broadcast_to(points[:1], (-len(points) % AT_ONCE, points.shape[1]))])
    parts = [compiled(model, purpose, body, filled[i : i + AT_ONCE], quick=True) for i in range(0, len(filled), AT_ONCE)]
    return tuple(np.concatenate([np.asarray(part) for part in each])[: len(points)] for each in zip(*parts, strict=True))


def _with_derivatives(backend: Any, points: Any) -> Any:
    """The parameters, and the first and second derivative of each by its own coordinate."""
    space, data, hyper = backend.core.space, backend.data, backend.hyper

    def values(u: Any) -> Any:
        params = space.constrain(u, data, hyper)[0]
        return jnp.concatenate([jnp.ravel(params[name]) for name in space.names])

    def slopes(u: Any) -> Any:
        return jax.jvp(values, (u,), (jnp.ones_like(u),))

    def all_three(u: Any) -> Any:
        (x, slope), (_, bend) = jax.jvp(slopes, (u,), (jnp.ones_like(u),))
        return x, slope, bend

    return jax.vmap(all_three)(points)


def _coordinates(backend: Any, x: Any) -> Any:
    space, data, hyper = backend.core.space, backend.data, backend.hyper
    params, begin = {}, 0
    for site in space.sites:
        params[site.name] = x[:, begin : begin + site.size].reshape(-1, *site.shape)
        begin += site.size
    return (jax.vmap(lambda params: space.unconstrain(params, data, hyper))(params),)
