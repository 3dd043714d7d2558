"""The latent field of a model: its coordinates, and the joint log density with derivatives in the latents.

A point is a pair (x, theta): x the latent coordinates in the declared order, theta the other unconstrained coordinates. Second
derivatives in x come from products with a few probing vectors (`numerics.fields.arrow`), so that a banded field costs a fixed number of
gradients however long it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from zhat.errors import UnsupportedModel
from zhat.model.fields.declared import Latent
from zhat.model.model import Model
from zhat.numerics.fields.arrow import Arrow, Shape, arrow_from_products, arrows_from_products
from zhat.results.records import Array
from zhat.sampling.backend.compiled import JaxBackend, compiled
from zhat.sampling.backend.loop import Loop

# Numbers (points x products x coordinates) of one compiled call, and points at most.
NUMBERS_AT_ONCE = 400_000
MOST_AT_ONCE = 64
# Second derivatives of a Gaussian log prior are constant to rounding; a relative difference above this is another prior.
CONSTANT = 1e-7


@dataclass(frozen=True)
class Field:
    """Which coordinates are latent, in which order, and the shape of their matrix of second derivatives."""

    model: Model
    latent: NDArray[np.int64]
    rest: NDArray[np.int64]
    shape: Shape
    log_concave: bool
    quadratic: bool
    with_likelihood: bool = True

    @property
    def prior(self) -> Field:
        """The field without its likelihood: given the rest it is Gaussian, so the inner integral is the prior density of the rest."""
        return replace(self, quadratic=True, with_likelihood=False)

    @staticmethod
    def of(model: Model) -> Field:
        """The field that the model declares."""
        declared = model.latent
        assert isinstance(declared, Latent)
        is_latent = np.concatenate([np.full(site.size, site.name in declared.names) for site in model.space.sites])
        starts = np.cumsum([0, *(site.size for site in model.space.sites)])
        of_site = {site.name: np.arange(a, a + site.size) for site, a in zip(model.space.sites, starts, strict=False)}
        latent = np.concatenate([of_site[name] for name in declared.names])
        latent = latent[np.array(declared.order)] if declared.order else latent
        shape = Shape(declared.line, declared.half_width, len(latent) - declared.line)
        return Field(model, latent, np.flatnonzero(~is_latent), shape, declared.log_concave, declared.quadratic)

    @property
    def at_once(self) -> int:
        """Points of one compiled call."""
        return int(np.clip(NUMBERS_AT_ONCE // max((self.shape.n_probes + 1) * self.shape.size, 1), 1, MOST_AT_ONCE))

    def position(self, x: Array, theta: Array) -> Array:
        """The unconstrained vectors of points (n, size), (n, m) or (m,)."""
        out = np.empty((len(x), len(self.latent) + len(self.rest)))
        out[:, self.latent], out[:, self.rest] = x, theta
        return out

    def derivatives(self, x: Array, theta: Array, loop: Loop) -> tuple[Array, Array, list[Arrow]]:
        """Log prior + log likelihood at n points, its gradient in x, and minus its second derivatives in x."""
        n, size = len(x), self.at_once
        value, gradient, arrows = np.empty(n), np.empty((n, self.shape.size)), []
        for start in range(0, n, size):
            rows = slice(start, min(start + size, n))
            missing = size - (rows.stop - start)
            padded = [np.concatenate([a[rows], np.repeat(a[rows][:1], missing, axis=0)]) for a in (x, theta)]
            key = ("latent derivatives", self.model.latent, self.with_likelihood)
            parts = compiled(self.model, key, _joint(self, self.with_likelihood), *padded, self.shape.probes())
            part = [np.asarray(p)[: rows.stop - start] for p in parts]
            value[rows], gradient[rows] = part[0], part[1]
            arrows += arrows_from_products(self.shape, -part[2])
            loop.count(n_gradient=rows.stop - start, n_hessian=rows.stop - start)
        return np.where(np.isnan(value), -np.inf, value), gradient, arrows

    def prior_products(self, x: Array, theta: Array, probes: Array) -> Array:
        """Second derivatives of the log prior times probing vectors, at one point."""
        parts = compiled(self.model, ("latent prior", self.model.latent), _joint(self, False), x[None], theta[None], probes)
        return np.asarray(parts[2])[0]


def _joint(field: Field, with_likelihood: bool) -> Any:
    latent, rest = field.latent, field.rest

    def body(backend: JaxBackend, x: Any, theta: Any, probes: Any) -> Any:
        def one(x: Any, theta: Any) -> Any:
            def density(x: Any) -> Any:
                u = jnp.zeros(len(latent) + len(rest)).at[latent].set(x).at[rest].set(theta)
                log_prior, log_likelihood = backend.core.log_densities(u, backend.data, backend.hyper)
                return log_prior + log_likelihood if with_likelihood else log_prior

            value, gradient = jax.value_and_grad(density)(x)
            _, product = jax.linearize(jax.grad(density), x)
            return value, gradient, jax.vmap(product)(probes)

        return jax.vmap(one)(x, theta)

    return body


def check_declared(field: Field, position: Array, rng: np.random.Generator) -> None:
    """Refuse a model whose declared latents are not Gaussian given the rest, or not coupled as declared.

    `position` holds prior draws. For three values of theta the second derivatives of the log prior must be the same at two
    values of x, positive definite, and those of the declared shape (one product with a random vector).
    """
    probe = rng.standard_normal((1, field.shape.size))
    probes = np.concatenate([field.shape.probes(), probe])
    names = ", ".join(getattr(field.model.latent, "names", ()))
    for i in range(min(3, len(position) // 2)):
        theta = position[2 * i, field.rest]
        first, second = (field.prior_products(position[j, field.latent], theta, probes) for j in (2 * i, 2 * i + 1))
        if not (np.isfinite(first).all() and np.isfinite(second).all()):
            continue
        scale = np.abs(first).max() + 1e-300
        if np.abs(first - second).max() > CONSTANT * scale:
            raise UnsupportedModel(
                f"model {field.model.name!r} declares {names} as latent Gaussian, but the second derivatives of their log prior change "
                "with their values: given the other parameters the prior is not Gaussian. Declare fewer parameters, or use zhat.SMC()."
            )
        arrow = arrow_from_products(field.shape, -first[:-1])
        if arrow.factor() is None:
            raise UnsupportedModel(
                f"the prior of {names} in {field.model.name!r} is improper given the other parameters: its precision matrix is not "
                "positive definite, so some direction is not bounded and the evidence is undefined. Give that direction a proper prior "
                "(a random walk needs a start: zhat.latent.RW1(start=...))."
            )
        if np.abs(arrow.times(probe[0]) + first[-1]).max() > CONSTANT * scale * field.shape.size:
            raise UnsupportedModel(
                f"the second derivatives of the log prior of {names} have entries outside the declared band (half-width "
                f"{field.shape.half_width}): declare the names alone, latent=({names!r}), or a wider band."
            )
