"""Several models as one: each point has the index of its model and a vector of the largest size.

A model of fewer coordinates than the widest is given the missing ones with a standard normal distribution. They enter no
likelihood, change no evidence, and make a jump between models of different size a move between vectors of one length with
Jacobian one (the saturated space of Carlin & Chib 1995 and Brooks, Giudici & Roberts 2003). A family of subsets is in that form
already: an excluded coefficient keeps its prior.

The points of a family, and of a list of models that can be traced, are evaluated inside one compiled function. A list with a
black box in it is evaluated in NumPy, model by model, by the same code of the sampler.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from zhat.model.model import Core, Model
from zhat.results.records import Array
from zhat.sampling.backend.backend import log_prior_at
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.loop import Loop
from zhat.sampling.state import State

# Up to this many models it is faster to evaluate all points in every model and select, than each point in its own model.
TOGETHER = 4


class ModelSet(Protocol):
    """Several models as one: density of a batch of points, each in the model that its index names."""

    @property
    def n_models(self) -> int:
        """How many there are."""
        ...

    @property
    def sizes(self) -> Array:
        """Number of coordinates of each model."""
        ...

    @property
    def widest(self) -> Model:
        """A model of the largest size."""
        ...

    @property
    def traced(self) -> bool:
        """Whether the density can be compiled."""
        ...

    @property
    def arguments(self) -> Any:
        """Data and hyperparameters, to be handed to `density`."""
        ...

    @property
    def core(self) -> Core:
        """The core that keeps the compiled functions."""
        ...

    @property
    def identity(self) -> Hashable:
        """What the compiled functions depend on, beyond the core."""
        ...

    def density(self, arguments: Any, index: Any, position: Any, likelihood: bool) -> tuple[Any, Any]:
        """Log prior (with that of the spare coordinates) and log likelihood (zero when switched off) of every point."""
        ...

    def model(self, k: int) -> Model:
        """The model of this index."""
        ...


@dataclass(frozen=True)
class ListedModels:
    """Models that have nothing in common."""

    models: tuple[Model, ...]
    loop: Loop

    @property
    def n_models(self) -> int:
        """See `ModelSet`."""
        return len(self.models)

    @cached_property
    def sizes(self) -> Array:
        """See `ModelSet`."""
        return np.array([model.n_dimensions for model in self.models], np.float64)

    @property
    def widest(self) -> Model:
        """See `ModelSet`."""
        return max(self.models, key=lambda model: model.n_dimensions)

    @property
    def traced(self) -> bool:
        """See `ModelSet`."""
        return not any(model.is_black_box for model in self.models)

    @property
    def arguments(self) -> Any:
        """See `ModelSet`."""
        return tuple((model.data, model.hyper) for model in self.models) if self.traced else ()

    @property
    def core(self) -> Core:
        """See `ModelSet`."""
        return self.models[0].core

    @property
    def identity(self) -> Hashable:
        """See `ModelSet`."""
        return tuple(model.core for model in self.models)

    def model(self, k: int) -> Model:
        """See `ModelSet`."""
        return self.models[k]

    def density(self, arguments: Any, index: Any, position: Any, likelihood: bool) -> tuple[Any, Any]:
        """See `ModelSet`."""
        if not self.traced:
            return self._by_hand(index, position, likelihood)
        branches = [_alone(model.core, given) for model, given in zip(self.models, arguments, strict=True)]
        if self.n_models <= TOGETHER:
            densities = [jax.vmap(branch)(position) for branch in branches]
            log_prior, log_likelihood = densities[0]
            for k in range(1, self.n_models):
                log_prior = jnp.where(index == k, densities[k][0], log_prior)
                log_likelihood = jnp.where(index == k, densities[k][1], log_likelihood)
        else:
            log_prior, log_likelihood = jax.lax.map(lambda one: jax.lax.switch(one[0], branches, one[1]), (index, position))
        return log_prior, log_likelihood if likelihood else jnp.zeros_like(log_likelihood)

    def _by_hand(self, index: Array, position: Array, likelihood: bool) -> tuple[Array, Array]:
        log_prior, log_likelihood = np.empty(len(index)), np.zeros(len(index))
        for k in np.unique(index):
            here, model = np.flatnonzero(index == k), self.models[int(k)]
            points = position[here, : model.n_dimensions]
            if likelihood:
                log_prior[here], log_likelihood[here] = log_densities(model, points, self.loop)
            else:
                log_prior[here] = log_prior_at(model, points)
            log_prior[here] += _spare(position[here, model.n_dimensions :], np)
        return log_prior, log_likelihood


@dataclass(frozen=True)
class ModelFamily:
    """Variants of one model whose data differ in one array, such as the masks of `Subsets`."""

    base: Model
    name: str
    variants: Array

    @property
    def n_models(self) -> int:
        """See `ModelSet`."""
        return len(self.variants)

    @cached_property
    def sizes(self) -> Array:
        """See `ModelSet`."""
        return np.full(self.n_models, float(self.base.n_dimensions))

    @property
    def widest(self) -> Model:
        """See `ModelSet`."""
        return self.base

    @property
    def traced(self) -> bool:
        """See `ModelSet`."""
        return True

    @property
    def arguments(self) -> Any:
        """See `ModelSet`."""
        return self.variants, self.base.data, self.base.hyper

    @property
    def core(self) -> Core:
        """See `ModelSet`."""
        return self.base.core

    @property
    def identity(self) -> Hashable:
        """See `ModelSet`."""
        return ("family", self.name)

    def model(self, k: int) -> Model:
        """See `ModelSet`."""
        data = {**self.base.data, self.name: self.variants[k]}
        return self.base.with_data(data, name=f"{self.base.name} with {self.name} {self.variants[k]}", data_id=self.base.data_id)

    def density(self, arguments: Any, index: Any, position: Any, likelihood: bool) -> tuple[Any, Any]:
        """See `ModelSet`."""
        variants, data, hyper = arguments

        def one(k: Any, u: Any) -> Any:
            return self.base.core.log_densities(u, {**data, self.name: variants[k]}, hyper)

        log_prior, log_likelihood = jax.vmap(one)(index, position)
        return log_prior, log_likelihood if likelihood else jnp.zeros_like(log_likelihood)


class BoundModels(NamedTuple):
    """A set of models with its data, inside compiled code or in NumPy, with the likelihood or without."""

    models: ModelSet
    arguments: Any
    likelihood: bool
    xp: Any

    def density(self, index: Any, position: Any) -> tuple[Any, Any]:
        """Log prior and log likelihood of every point in the model that its index names."""
        return self.models.density(self.arguments, index, position, self.likelihood)

    def backend(self, index: Any) -> ModelSetBackend:
        """The backend of a kernel that moves points within these models."""
        return ModelSetBackend(self.xp, lambda position: self.density(index, position))


@dataclass(frozen=True)
class ModelSetBackend:
    """The `Backend` of a model set: its density uses the model of each point."""

    xp: Any
    density_at: Callable[[Any], tuple[Any, Any]]

    def density(self, position: Any, active: Any = None) -> tuple[Any, Any]:
        """See `Backend`."""
        return self.density_at(position)

    def gradient(self, position: Any, target: Any) -> State:
        """Chains between models move without gradients; `jump` refuses kernels that need them."""
        raise TypeError("a set of models has no gradient")

    def put(self, array: Any, index: Any, values: Any) -> Any:
        """Kernels that are allowed here keep no arrays."""
        raise TypeError("kernels of a set of models do not loop inside a move")

    def scan(self, step: Callable[..., Any], carry: Any, xs: Any) -> tuple[Any, Any]:
        """Kernels that are allowed here do not loop."""
        raise TypeError("kernels of a set of models do not loop inside a move")

    def while_loop(self, condition: Callable[..., Any], body: Callable[..., Any], carry: Any) -> Any:
        """Kernels that are allowed here do not loop."""
        raise TypeError("kernels of a set of models do not loop inside a move")

    def repeat(self, n: Any, body: Callable[[Any], Any], carry: Any) -> Any:
        """Kernels that are allowed here do not loop."""
        raise TypeError("kernels of a set of models do not loop inside a move")


def _alone(core: Core, given: tuple[Any, Any]) -> Callable[[Any], Any]:
    size, (data, hyper) = core.space.n_dimensions, given

    def one(u: Any) -> Any:
        log_prior, log_likelihood = core.log_densities(u[:size], data, hyper)
        return log_prior + _spare(u[size:], jnp), log_likelihood

    return one


def _spare(u: Any, xp: Any) -> Any:
    """Log density of the spare coordinates."""
    return -0.5 * xp.sum(u * u, axis=-1) - 0.5 * u.shape[-1] * np.log(2.0 * np.pi)
