"""Coordinates in which the prior of a parameter does not depend on the other parameters: its location and scale are taken out.

A hierarchical prior such as theta ~ N(mu, tau^2) narrows without end as tau goes to zero (Neal's funnel): the joint density has no
mode, and no step length suits both ends. In the coordinate z = (theta - mu) / tau the prior is a standard normal whatever mu and tau are
(the non-centred parametrisation of Papaspiliopoulos, Roberts & Skold 2007). The evidence is the same: the map is one-to-one given
the other parameters, and the density of z includes its Jacobian.

Where the data say more about theta than its prior does, theta itself is the better coordinate; so both are there, and the default of
`zhat.evidence` tries both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpyro.distributions as dist
from numpyro.distributions import constraints, transforms


class Accumulated(transforms.ParameterFreeTransform):
    """Sums along the last axis: the path of a random walk from its steps."""

    domain = constraints.real_vector
    codomain = constraints.real_vector

    def __call__(self, x: Any) -> Any:
        """The path."""
        return jnp.cumsum(x, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return jnp.diff(y, axis=-1, prepend=jnp.zeros_like(y[..., :1]))

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        """Zero: every step counts once."""
        return jnp.zeros(jnp.shape(x)[:-1])


def _location_scale(fn: Any) -> Any:
    return transforms.AffineTransform(fn.loc, fn.scale)


def _scaled(scale: Any) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(0.0, scale)])


def _log_location_scale(fn: Any) -> Any:
    return transforms.ComposeTransform([transforms.AffineTransform(fn.loc, fn.scale), transforms.ExpTransform()])


def _cholesky(fn: Any) -> Any:
    return transforms.LowerCholeskyAffine(fn.loc, fn.scale_tril)


def _walk(fn: Any) -> Any:
    scale = jnp.asarray(fn.scale)[..., None]
    return transforms.ComposeTransform(
        [transforms.IndependentTransform(transforms.AffineTransform(0.0, scale), 1), Accumulated()]
    )


# For each distribution: the arguments that are taken out, and the map from the standard coordinate to the parameter.
FAMILIES: dict[type, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
    dist.Cauchy: (("loc", "scale"), _location_scale),
    dist.Gumbel: (("loc", "scale"), _location_scale),
    dist.Laplace: (("loc", "scale"), _location_scale),
    dist.Logistic: (("loc", "scale"), _location_scale),
    dist.Normal: (("loc", "scale"), _location_scale),
    dist.StudentT: (("loc", "scale"), _location_scale),
    dist.LogNormal: (("loc", "scale"), _log_location_scale),
    dist.HalfCauchy: (("scale",), lambda fn: _scaled(fn.scale)),
    dist.HalfNormal: (("scale",), lambda fn: _scaled(fn.scale)),
    dist.Exponential: (("rate",), lambda fn: _scaled(1.0 / fn.rate)),
    dist.Gamma: (("rate",), lambda fn: _scaled(1.0 / fn.rate)),
    dist.InverseGamma: (("rate",), lambda fn: _scaled(fn.rate)),
    dist.MultivariateNormal: (("loc", "scale_tril"), _cholesky),
    dist.GaussianRandomWalk: (("scale",), _walk),
}


def taken_out(base: Any) -> list[Any]:
    """The arguments of a distribution that its standard coordinates take out; none where it has no such coordinates."""
    names, _ = FAMILIES.get(type(base), ((), None))
    return [jnp.asarray(getattr(base, name)) for name in names]


def standard_transform(base: Any) -> Any:
    """The map from the standard coordinate of a distribution of `FAMILIES` to its parameter."""
    return FAMILIES[type(base)][1](base)


def depend_on_first(function: Callable[..., list[Any]], *args: Any) -> list[bool]:
    """Which of the arrays that a function returns depend on its first argument; it is traced and not evaluated."""
    jaxpr = jax.make_jaxpr(function)(*args).jaxpr
    n_first = len(jax.tree.leaves(args[0]))
    reached = {id(var) for var in jaxpr.invars[:n_first]}
    for equation in jaxpr.eqns:
        if any(id(var) in reached for var in equation.invars):
            reached |= {id(var) for var in equation.outvars}
    return [id(var) in reached for var in jaxpr.outvars]
