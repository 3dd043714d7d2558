"""Standard coordinates of a PyMC model: location and scale of priors that depend on other parameters are taken out.

The reasons are those of `model.coordinates.standard`. On the coordinates of PyMC's own transforms the map is u = a + b z for every family:
a location and a scale where the parameter is its own coordinate, and of a positive parameter, whose coordinate is its logarithm, the
logarithm of the scale. PyMC lists its variables in an order in which parents stand before children, so that the coordinates follow one after
the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from zhat.adapters.pymc_model.graphs import Graph, widened
from zhat.model.space import Params, Site, Space

# For each distribution, by the class of its operation: from its arguments to a and b on the coordinates that PyMC gives it by default.
Shift = Callable[..., tuple[Any, Any]]


def _families() -> dict[str, tuple[str, Shift]]:
    """The transform that a family has by default, and its shift."""
    import pytensor.tensor as pt

    def first_two(location: Any, scale: Any, *_: Any) -> tuple[Any, Any]:
        return location, scale

    def last_two(*arguments: Any) -> tuple[Any, Any]:
        return arguments[-2], arguments[-1]

    def by_scale(*arguments: Any) -> tuple[Any, Any]:
        return pt.log(arguments[-1]), pt.ones(())

    on_the_line = dict.fromkeys(("NormalRV", "CauchyRV", "LaplaceRV", "LogisticRV", "GumbelRV"), ("", first_two))
    positive = dict.fromkeys(
        ("HalfNormalRV", "HalfCauchyRV", "HalfStudentTRV", "ExponentialRV", "GammaRV", "InvGammaRV"), ("log", by_scale)
    )
    return {**on_the_line, "StudentTRV": ("", last_two), "LogNormalRV": ("log", first_two), **positive}


@dataclass(frozen=True)
class Standard:
    """The maps between the coordinates u of PyMC and the standard ones z.

    `outward` takes all z to all u and to the sum of log b of each site; `shifts` takes the parameters to a and b of each site.
    """

    outward: Graph
    shifts: Graph


@dataclass(frozen=True)
class StandardSpace(Space):
    """The free variables of a PyMC model in standard coordinates; see `Space` for the methods."""

    own: Any  # the PymcSpace
    maps: Standard
    standard: ClassVar[bool] = True

    @property
    def sites(self) -> tuple[Site, ...]:  # type: ignore[override]
        """Those of PyMC's own coordinates."""
        return self.own.sites

    @property
    def other_coordinates(self) -> Space | None:
        """See `Space`."""
        return self.own

    def constrain(self, u: jax.Array, data: Any, hyper: Any) -> tuple[Params, jax.Array]:
        """See `Space`."""
        own, log_scales = self._outward(u, data)
        params, log_prior = self.own.constrain(own, data, hyper)
        total = log_prior + jnp.sum(log_scales)
        return params, jnp.where(jnp.isfinite(u).all() & jnp.isfinite(total), total, -jnp.inf)

    def log_priors(self, u: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """See `Space`."""
        own, log_scales = self._outward(u, data)
        return jnp.asarray(self.own.log_priors(own, data, hyper)) + log_scales

    def log_prior(self, params: Params, data: Any, hyper: Any) -> jax.Array:
        """See `Space`."""
        return jnp.asarray(self.own.log_prior(params, data, hyper))

    def coordinates(self, params: Params, data: Any, hyper: Any) -> list[jax.Array]:
        """See `Space`."""
        return self._inward(self.own.coordinates(params, data, hyper), self.own.values(params), data)

    def sample_prior(self, key: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """See `Space`."""
        own = self.own.sample_prior(key, data, hyper)
        values = self.own.graphs.constrained(*self.split(own).values(), *self.own.given(data))
        return jnp.concatenate(self._inward([jnp.ravel(x) for x in self.split(own).values()], values, data))

    def for_data(self, data: Any, hyper: Any) -> Space:
        """See `Space`."""
        return self.own.for_data(data, hyper)

    def _outward(self, u: jax.Array, data: Any) -> tuple[jax.Array, jax.Array]:
        n = len(self.sites)
        out = self.maps.outward(*self.split(u).values(), *self.own.given(data))
        return jnp.concatenate([jnp.ravel(x) for x in out[:n]]), jnp.stack([jnp.sum(x) for x in out[n:]])

    def _inward(self, own: list[Any], values: list[Any], data: Any) -> list[jax.Array]:
        shifts = self.maps.shifts(*values, *self.own.given(data))
        coordinates = []
        for site, u, a, b in zip(self.sites, own, shifts[::2], shifts[1::2], strict=True):
            coordinates.append(jnp.ravel((u.reshape(site.free_shape) - a) / b))
        return coordinates


def standard_maps(model: Any, parameters: list[Any], inputs: list[Any], replace: dict[Any, Any]) -> Standard | None:
    """The maps, as graphs of `parameters` or coordinates and of the data `inputs`; None where no prior depends on other parameters."""
    import pytensor.tensor as pt
    from pytensor.graph.replace import clone_replace

    free = model.free_RVs
    found = {x: shift for x in free if (shift := _shift(model, x)) is not None}
    if not found:
        return None
    zero, one = pt.zeros(()), pt.ones(())
    own = {model.rvs_to_values[x]: model.rvs_to_values[x].type(name=x.name) for x in free}
    coordinates: dict[Any, Any] = {}
    log_scales = []
    for x in free:
        value = model.rvs_to_values[x]
        coordinates[value] = own[value]
        log_scales.append(zero)
        if x in found:
            at_coordinates = model.replace_rvs_by_values(list(found[x]))
            a, b = clone_replace(at_coordinates, coordinates, rebuild_strict=False)
            log_scales[-1] = pt.sum(pt.log(b) + pt.zeros_like(own[value]))
            coordinates[value] = a + b * own[value]
    at_parameters = dict(zip(free, parameters, strict=True))
    shifts = [part for x in free for part in found.get(x, (zero, one))]
    return Standard(
        Graph([*own.values(), *inputs], widened([*coordinates.values(), *log_scales], replace)),
        Graph([*parameters, *inputs], widened(clone_replace(shifts, at_parameters, rebuild_strict=False), replace)),
    )


def _shift(model: Any, variable: Any) -> tuple[Any, Any] | None:
    """a and b of a variable whose location or scale depends on other free variables, on the coordinates of its default transform."""
    from pytensor.graph.traversal import ancestors

    node, transform = variable.owner, model.rvs_to_transforms[variable]
    name, shift = _families().get(type(node.op).__name__, ("", None))
    if shift is None or (transform.name if transform is not None else "") != name or not hasattr(node.op, "dist_params"):
        return None
    a, b = shift(*node.op.dist_params(node))
    depends = set(ancestors([a, b])) & (set(model.free_RVs) - {variable})
    return (a, b) if depends else None
