"""The parameter space of a model: named parameters with supports, and one flat unconstrained vector for samplers.

Samplers work with a vector in R^d; users with names, positive scales, simplexes and correlation matrices. A `Space` maps between
the two and knows the prior. Samplers use the density of the unconstrained vector, which includes the log-Jacobian. The evidence
does not change: it integrates over the same parameters.

`Space` is a protocol: whatever has these maps can carry a model. `ProgramSpace` (`model.program`) takes them from NumPyro's `sample`
statements; an adapter for another library writes its own, as a frozen dataclass that derives from `Space`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from zhat.errors import BadInput

Params = dict[str, Any]


@dataclass(frozen=True)
class Site:
    """One named parameter: its own shape, its shape in the unconstrained vector, and what is known of its prior.

    With `exact_quantiles` draws of its prior are quantiles of uniform numbers; with `has_quantiles` only nearly so, which suffices for
    points that shall fill the prior evenly. `depends` is whether the location or scale of its prior depends on other parameters.
    """

    name: str
    shape: tuple[int, ...]
    free_shape: tuple[int, ...]
    support: str
    exact_quantiles: bool = False
    has_quantiles: bool = False
    depends: bool = False

    @property
    def size(self) -> int:
        """Number of unconstrained coordinates."""
        return math.prod(self.free_shape)


class Space(Protocol):
    """Named sites in a fixed order, and the maps between parameters and the flat vector.

    All maps are traceable by JAX, for one point, and take ``(data, hyper)`` because they may depend on them: both are traced
    arguments. An implementation gives `sites` and the methods that end in ``...`` here; the others follow from these. It must be
    serialisable by cloudpickle, to run on workers.

    Attributes
    ----------
    sites : tuple of Site
        The parameters, in the order in which their coordinates stand in the flat vector.
    has_prior : bool
        False where only the joint density of the model is known (`model.flat_space`): the log prior is then the log-Jacobian.
    """

    sites: tuple[Site, ...]
    has_prior: ClassVar[bool] = True

    def constrain(self, u: jax.Array, data: Any, hyper: Any) -> tuple[Params, jax.Array]:
        """Parameters at `u`, and the log prior density of `u` (log-Jacobian included).

        A point with a coordinate or a parameter that is not a finite number is outside the support, whatever the density says: a
        proposal may go where exp(u) overflows, and the likelihood must not be evaluated there.
        """
        ...

    def log_priors(self, u: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """Log prior density of each site's coordinates given the sites before it, in the order of the sites; they sum to that of `u`."""
        ...

    def log_prior(self, params: Params, data: Any, hyper: Any) -> jax.Array:
        """Log prior density of the *constrained* parameters, without any Jacobian."""
        ...

    def coordinates(self, params: Params, data: Any, hyper: Any) -> list[jax.Array]:
        """The unconstrained coordinates of these parameters, site by site, one vector each."""
        ...

    def sample_prior(self, key: jax.Array, data: Any, hyper: Any) -> jax.Array:
        """One draw from the prior, as a flat vector."""
        ...

    def for_data(self, data: Any, hyper: Any) -> Space:
        """The space for data or hyperparameters of other shapes, which may have other sites."""
        raise BadInput("the shapes of the data of this model are fixed: build a new model for data of other shapes.")

    @property
    def other_coordinates(self) -> Space | None:
        """The same parameters and prior in other coordinates (`model.coordinates.standard`), where there are any."""
        return None

    # -- what follows ----------------------------------------------------------------------------------------

    @property
    def n_dimensions(self) -> int:
        """Length of the unconstrained vector."""
        return sum(site.size for site in self.sites)

    @property
    def names(self) -> tuple[str, ...]:
        """Parameter names, in order."""
        return tuple(site.name for site in self.sites)

    @property
    def has_exact_quantiles(self) -> bool:
        """Whether draws of the prior are quantiles of uniform numbers."""
        return all(site.exact_quantiles for site in self.sites)

    @property
    def has_quantiles(self) -> bool:
        """Whether every parameter has a quantile function, exact or nearly so."""
        return all(site.has_quantiles for site in self.sites)

    def coordinate_names(self) -> tuple[str, ...]:
        """A label for every coordinate of the flat vector: ``beta[0]``, ``beta[1]``, ``tau``."""
        labels: list[str] = []
        for site in self.sites:
            if site.free_shape == ():
                labels.append(site.name)
            else:
                labels += [f"{site.name}[{','.join(map(str, i))}]" for i in np.ndindex(*site.free_shape)]
        return tuple(labels)

    def split(self, u: jax.Array) -> Params:
        """Cut the flat vector into the sites' unconstrained arrays."""
        out, start = {}, 0
        for site in self.sites:
            out[site.name] = u[start : start + site.size].reshape(site.free_shape)
            start += site.size
        return out

    def unconstrain(self, params: Params, data: Any, hyper: Any) -> jax.Array:
        """The flat vector of these parameters."""
        return jnp.concatenate(self.coordinates(params, data, hyper))
