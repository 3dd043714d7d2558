"""The parameters themselves as coordinates, beside the unconstrained ones: the maps, and derivatives of a density in them.

A normal posterior inside a box is normal in the parameters and bent in their unconstrained coordinates: from a start in its tails a Newton search
in the latter follows a bent valley for a hundred steps, or leaves the basin; and no normal or t in the coordinates fits it where it is
thin. Where each parameter x_i is a function t of one coordinate u_i, a log density with gradient g and negative Hessian P in the
coordinates has, as a function of the parameters,

    gradient  g_i / t'(u_i),     negative Hessian  (P_ij + delta_ij g_i t''(u_i) / t'(u_i)) / (t'(u_i) t'(u_j)).

Newton steps with these end at parameters that are mapped back to coordinates; outside of the support there are none.
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

# Points of a call: a program for a few, and one for many.
FEW, MANY = 64, 4096
# Supports with two ends, near which coordinates are stretched most; and others whose coordinates are functions of one parameter each.
TWO_ENDS = ("Interval", "UnitInterval", "Circular")
OTHERS = ("Real", "RealVector", "Positive", "Nonnegative", "GreaterThan", "GreaterThanEq", "LessThan", "LessThanEq")


def are_coordinates(model: Model) -> bool:
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
    x, slope, bend, _ = with_derivatives(model, position)
    with np.errstate(all="ignore"):
        curved = precision + diagonal(gradient * bend / slope)
        return x, gradient / slope, curved / (slope[:, :, None] * slope[:, None, :])


def with_derivatives(model: Model, position: Array) -> tuple[Array, ...]:
    """The parameters at these points as flat vectors, and the first three derivatives of each by its own coordinate."""
    return _in_parts(model, "parameters", _derivatives, position)


def positions_at(model: Model, x: Array) -> Array:
    """The unconstrained coordinates of parameters as flat vectors; not numbers outside of the support."""
    (position,) = _in_parts(model, "coordinates of parameters", _coordinates, x)
    return position


def diagonal(values: Array) -> Array:
    """A diagonal matrix for each row."""
    return np.einsum("ki,ij->kij", values, np.eye(values.shape[1]))


def _in_parts(model: Model, purpose: str, body: Any, points: Array) -> tuple[Array, ...]:
    size = FEW if len(points) <= FEW else MANY
    filled = np.concatenate([points, np.broadcast_to(points[:1], (-len(points) % size, points.shape[1]))])
    parts = [compiled(model, purpose, body, filled[i : i + size], quick=True) for i in range(0, len(filled), size)]
    return tuple(np.concatenate([np.asarray(part) for part in each])[: len(points)] for each in zip(*parts, strict=True))


def _derivatives(backend: Any, points: Any) -> Any:
    space, data, hyper = backend.core.space, backend.data, backend.hyper

    def along(function: Any) -> Any:
        return lambda u: jax.jvp(function, (u,), (jnp.ones_like(u),))

    def values(u: Any) -> Any:
        params = space.constrain(u, data, hyper)[0]
        return jnp.concatenate([jnp.ravel(params[name]) for name in space.names])

    def all_four(u: Any) -> Any:
        ((x, slope), (_, bend)), (_, (_, third)) = along(along(along(values)))(u)
        return x, slope, bend, third

    return jax.vmap(all_four)(points)


def _coordinates(backend: Any, x: Any) -> Any:
    space, data, hyper = backend.core.space, backend.data, backend.hyper
    params, begin = {}, 0
    for site in space.sites:
        params[site.name] = x[:, begin : begin + site.size].reshape(-1, *site.shape)
        begin += site.size
    return (jax.vmap(lambda params: space.unconstrain(params, data, hyper))(params),)
