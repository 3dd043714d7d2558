"""A space without a prior: the parameters of a model of which only the joint density is known.

Stan's programs and the `log_prob` that emcee takes give log prior + log likelihood as one number. The maps between parameters and
the unconstrained vector are then all that a space can have. What takes the place of the log prior is the log-Jacobian alone, so that
"prior" x "likelihood" is the joint density, of the unconstrained vector as everywhere. Nothing can be drawn from it
(`has_prior` is False), and methods that start from the prior refuse such a model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.distributions import constraints
from numpyro.distributions.transforms import biject_to

from zhat.errors import BadInput, BadType
from zhat.model.space import Params, Site, Space

# The name of the parameter of a model that is a function of one vector.
VECTOR = "theta"


@dataclass(frozen=True)
class FlatSpace(Space):
    """Named parameters with their supports (NumPyro's constraints), and no prior."""

    sites: tuple[Site, ...]
    supports: tuple[Any, ...]
    has_prior: ClassVar[bool] = False

    def constrain(self, u: jax.Array, data: Any, hyper: Any) -> tuple[Params, jax.Array]:
        """Parameters at `u`, and the log-Jacobian."""
        params, log_jacobian = self._at(u)
        finite = jnp.isfinite(u).all()
        for value in params.values():
            finite &= jnp.isfinite(value).all()
        return params, jnp.where(finite, log_jacobian.sum(), -jnp.inf)

    def log_priors(self, u: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """The log-Jacobians of the sites."""
        return self._at(u)[1]

    def log_prior(self, params: Params, data: Any, hyper: Any) -> jax.Array:
        """Zero: the density of the parameters themselves is all in the joint one."""
        return jnp.zeros((), jnp.float64)

    def coordinates(self, params: Params, data: Any, hyper: Any) -> list[jax.Array]:
        """See `Space`."""
        pairs = zip(self.sites, self.supports, strict=True)
        return [jnp.ravel(biject_to(support).inv(params[site.name])) for site, support in pairs]

    def sample_prior(self, key: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """Refused: there is none."""
        raise BadInput("only the joint density of this model is known, and nothing can be drawn from its prior.")

    def for_data(self, data: Any, hyper: Any) -> Space:
        """The same: parameters and supports do not depend on the data."""
        return self

    def _at(self, u: jax.Array) -> tuple[Params, jax.Array]:
        free, params, log_jacobians = self.split(u), {}, []
        for site, support in zip(self.sites, self.supports, strict=True):
            transform = biject_to(support)
            z = free[site.name]
            value = transform(z)
            params[site.name] = value
            log_jacobians.append(jnp.sum(transform.log_abs_det_jacobian(z, value)))
        return params, jnp.stack([jnp.asarray(x, jnp.float64) for x in log_jacobians])


def flat_space(parameters: Any, bounds: Mapping[str, Any] | None) -> FlatSpace:
    """The space of `parameters`, names and shapes or the length of one vector, within `bounds`."""
    shapes = _shapes(parameters)
    bounds = {} if bounds is None else bounds
    if not isinstance(bounds, Mapping):
        raise BadType(
            f"bounds is a {type(bounds).__name__}: give a dict of names and (low, high), such as {{'sigma': (0.0, None)}}."
        )
    for name in bounds:
        if name not in shapes:
            raise BadInput(f"bounds has {name!r}, which is not among the parameters {', '.join(map(repr, shapes))}.")
    supports = {name: _support(name, bounds.get(name)) for name in shapes}
    sites = []
    with jax.enable_x64(True):
        for name, shape in shapes.items():
            try:
                free = jax.eval_shape(biject_to(supports[name]).inv, jax.ShapeDtypeStruct(shape, jnp.float64)).shape
            except (TypeError, ValueError, IndexError) as error:
                raise BadInput(f"parameters[{name!r}] has shape {shape}, which does not fit bounds[{name!r}].") from error
            sites.append(Site(name, shape, tuple(free), str(supports[name])))
    return FlatSpace(tuple(sites), tuple(supports.values()))


def joint_density(fn: Callable[..., Any], takes_vector: bool, takes_data: bool, xp: Any) -> Callable[[Params, Any, Any], Any]:
    """The function as a model calls it; `xp` is its array module.

    A density that is +inf counts as NaN, that is, as zero unless it is near the posterior: at absurd points the terms of a prior
    overflow, and here these cannot be told from a likelihood that is unbounded.
    """

    def call(params: Params, data: Any, hyper: Any) -> Any:
        own = params[VECTOR] if takes_vector else params
        value = fn(own, data) if takes_data else fn(own)
        if not hasattr(value, "dtype") and not isinstance(value, int | float):
            return value  # refused, with a sentence, by the checks of values
        return xp.where(xp.asarray(value) == xp.inf, xp.nan, value)

    return call


def _shapes(parameters: Any) -> dict[str, tuple[int, ...]]:
    if isinstance(parameters, int | np.integer) and not isinstance(parameters, bool):
        if parameters < 1:
            raise BadInput(f"parameters={parameters}: the length of the parameter vector is 1 at least.")
        return {VECTOR: (int(parameters),)}
    if not isinstance(parameters, Mapping):
        raise BadType(
            f"parameters is a {type(parameters).__name__}: give a dict of names and shapes, such as {{'mu': (), 'theta': (8,)}}, or the "
            "length of the vector that log_density takes."
        )
    if not parameters:
        raise BadInput("parameters is empty: a model needs at least one.")
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in parameters.items():
        if not isinstance(name, str) or not name.strip():
            raise BadInput(f"parameters has the name {name!r}: names must be non-empty strings.")
        whole = (shape,) if isinstance(shape, int | np.integer) and not isinstance(shape, bool) else shape
        if not isinstance(whole, tuple | list) or not all(isinstance(n, int | np.integer) and n > 0 for n in whole):
            raise BadType(f"parameters[{name!r}] is {shape!r}: give its shape, () for one number, 8 or (8,) for a vector.")
        shapes[name] = tuple(int(n) for n in whole)
    return shapes


def _support(name: str, bounds: Any) -> Any:
    """The constraint for (low, high), either of which may be None or infinite; NumPyro's constraints are taken as they are."""
    if bounds is None:
        return constraints.real
    if isinstance(bounds, constraints.Constraint):
        if bounds.is_discrete:
            raise BadInput(f"bounds[{name!r}] is {bounds}: discrete parameters must be summed out of the density first.")
        return bounds
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise BadType(
            f"bounds[{name!r}] is {bounds!r}: give (low, high), with None where there is no bound, or a NumPyro constraint."
        )
    low, high = (-np.inf if bounds[0] is None else float(bounds[0])), (np.inf if bounds[1] is None else float(bounds[1]))
    if not low < high:
        raise BadInput(f"bounds[{name!r}] = ({low}, {high}): the lower bound must be below the upper.")
    if np.isfinite(low) and np.isfinite(high):
        return constraints.interval(low, high)
    if np.isfinite(low):
        return constraints.greater_than(low)
    return constraints.less_than(high) if np.isfinite(high) else constraints.real
