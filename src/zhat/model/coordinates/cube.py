"""The unit cube of a prior: coordinates in which the prior is uniform, or nearly so.

A parameter whose prior has a distribution function F and its inverse has the coordinate F(value): with the values of its parents
given, as in the program of the prior, this is the transform of Rosenblatt (1952), and the prior of all such coordinates is
uniform on the cube, whatever they depend on. Other parameters (a simplex, a correlation matrix) have as coordinates a logistic
distribution function of their unconstrained coordinates. There the prior has a density q in the cube, which is known at every
point:

    log q = sum over these parameters of  log prior(u) - log |dc/du|.

A space that is no program of NumPyro statements has such coordinates throughout.

`quantiles_at` is the one-way map that needs no density, where every parameter has a quantile function, be it an approximate one. Points that
fill the cube evenly then fill the prior evenly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpyro.distributions as dist
from numpyro import handlers

from zhat.model.program import ProgramSpace, base_of, has_quantiles, sites_of
from zhat.model.space import Params, Space
from zhat.seeding import key_shape


@dataclass(frozen=True)
class CubeMap:
    """The maps between the unconstrained vector and the cube, by a logistic distribution function of every coordinate.

    `exact` names the parameters that have distribution functions of their own: none here.
    """

    space: Space
    exact: frozenset[str] = frozenset()

    @property
    def is_uniform(self) -> bool:
        """Whether the prior is uniform in the cube."""
        return len(self.exact) == len(self.space.sites)

    def without(self, names: set[str]) -> CubeMap:
        """The same where these parameters have the coordinates of the logistic."""
        return replace(self, exact=self.exact - names)

    def to_cube(self, u: Any, location: Any, scale: Any, data: Any, hyper: Any) -> tuple[Any, Any]:
        """The coordinates of a vector u in the cube, and log q there; `location` and `scale` are those of the logistic."""
        unit = (u - location) / scale
        return jax.nn.sigmoid(unit), self.space.constrain(u, data, hyper)[1] - _log_slope(unit, scale)

    def from_cube(self, c: Any, location: Any, scale: Any, data: Any, hyper: Any) -> tuple[Any, Any]:
        """The vector u at a point of the cube, and log q there."""
        unit = _logit(c)
        u = location + scale * unit
        return u, self.space.constrain(u, data, hyper)[1] - _log_slope(unit, scale)


@dataclass(frozen=True)
class ProgramCube(CubeMap):
    """The maps for a program of NumPyro statements: by distribution functions where its distributions have them."""

    space: ProgramSpace
    exact: frozenset[str] = frozenset()

    def to_cube(self, u: Any, location: Any, scale: Any, data: Any, hyper: Any) -> tuple[Any, Any]:
        """See `CubeMap`."""
        free, middle, width = self.space.split(u), self.space.split(location), self.space.split(scale)

        def site(name: str, fn: Any) -> tuple[Any, Any, Any]:
            z = free[name]
            transform = self.space.transform(name, fn)
            value = transform(z)
            if name in self.exact:
                return value, base_of(fn).cdf(value), 0.0
            unit = (z - middle[name]) / width[name]
            return value, jax.nn.sigmoid(unit), _log_q(fn, transform, z, value) - _log_slope(unit, width[name])

        _, parts, log_q = self._through(site, data, hyper)
        return jnp.concatenate([jnp.ravel(parts[name]) for name in self.space.names]), log_q

    def from_cube(self, c: Any, location: Any, scale: Any, data: Any, hyper: Any) -> tuple[Any, Any]:
        """See `CubeMap`."""
        cube, middle, width = self.space.split(c), self.space.split(location), self.space.split(scale)

        def site(name: str, fn: Any) -> tuple[Any, Any, Any]:
            transform = self.space.transform(name, fn)
            if name in self.exact:
                value = base_of(fn).icdf(cube[name])
                return value, transform.inv(value), 0.0
            unit = _logit(cube[name])
            z = middle[name] + width[name] * unit
            value = transform(z)
            return value, z, _log_q(fn, transform, z, value) - _log_slope(unit, width[name])

        _, parts, log_q = self._through(site, data, hyper)
        return jnp.concatenate([jnp.ravel(parts[name]) for name in self.space.names]), log_q

    def _through(self, site: Callable[..., Any], data: Any, hyper: Any) -> tuple[Params, Params, Any]:
        """Run the program of the prior with the value that `site` gives each parameter; what else it gives, by name."""
        values: Params = {}
        parts: Params = {}
        log_q = [jnp.float64(0.0)]

        def substitute(msg: dict[str, Any]) -> Any:
            name = msg["name"]
            if msg["type"] != "sample" or name not in self.space.names:
                return None
            values[name], parts[name], log_density = site(name, msg["fn"])
            log_q.append(log_density)
            return values[name]

        sites_of(handlers.seed(handlers.substitute(self.space.program, substitute_fn=substitute), 0), data, hyper)
        return values, parts, sum(log_q)


def cube_map(space: Space, data: Any, hyper: Any) -> CubeMap:
    """The cube of a space: which of its parameters have a distribution function and an inverse; nothing is compiled."""
    if not isinstance(space, ProgramSpace):
        return CubeMap(space)
    exact: set[str] = set()

    def shapes_only(key: Any, data: Any, hyper: Any) -> int:
        for name, msg in sites_of(handlers.seed(space.program, key), data, hyper).items():
            if name in space.names and has_quantiles(msg["fn"], msg["value"]):
                exact.add(name)
        return 0

    with jax.enable_x64(True):
        jax.eval_shape(shapes_only, key_shape(), data, hyper)
    return ProgramCube(space, frozenset(exact))


def _logit(c: Any) -> Any:
    return jnp.log(c) - jnp.log1p(-c)


def _log_q(fn: Any, transform: Any, z: Any, value: Any) -> Any:
    """Log prior density of a site's coordinates."""
    return jnp.sum(fn.log_prob(value)) + jnp.sum(transform.log_abs_det_jacobian(z, value))


def quantiles_at(space: Space, c: Any, data: Any, hyper: Any) -> Any:
    """The quantiles of the prior at a point c of the cube, as a flat vector; all of its parameters have some (`Space.has_quantiles`)."""
    assert isinstance(space, ProgramSpace)
    cube = space.split(c)

    def substitute(msg: dict[str, Any]) -> Any:
        name = msg["name"]
        if msg["type"] != "sample" or name not in space.names:  # a deterministic site has no distribution
            return None
        base = base_of(msg["fn"])
        return _near_gamma_quantile(cube[name], base) if isinstance(base, dist.Gamma) else base.icdf(cube[name])

    trace = sites_of(handlers.seed(handlers.substitute(space.program, substitute_fn=substitute), 0), data, hyper)
    return space.unconstrain({name: trace[name]["value"] for name in space.names}, data, hyper)


def _near_gamma_quantile(c: Any, fn: Any) -> Any:
    """The quantile of a gamma to a few per cent, at a fiftieth of the price of a draw: by Wilson & Hilferty (1931), near zero by x^a."""
    a = fn.concentration
    middle = a * jnp.maximum(1.0 - 1.0 / (9.0 * a) + jax.scipy.special.ndtri(c) / (3.0 * jnp.sqrt(a)), 0.0) ** 3
    near_zero = jnp.exp((jnp.log(c) + jax.scipy.special.gammaln(a + 1.0)) / a)
    return jnp.maximum(middle, near_zero) / fn.rate


def _log_slope(unit: Any, width: Any) -> Any:
    """Log derivative of the logistic distribution function, summed over coordinates."""
    return jnp.sum(jax.nn.log_sigmoid(unit) + jax.nn.log_sigmoid(-unit) - jnp.log(width))
