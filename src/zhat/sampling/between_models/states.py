"""Points that stand in different models, moved together: each lane has the name of its model and a vector of the largest size.

A model of fewer coordinates than the widest is given the missing ones with a standard normal law of their own. They belong to
nothing, change no evidence, and make a jump between models of different size a move between vectors of one length with
Jacobian one (the saturated space of Carlin & Chib 1995 and Brooks, Giudici & Roberts 2003). A family of subsets is in that form
already: an excluded coefficient keeps its prior.

Lanes of a family, and of a list of models that can be traced, are evaluated inside one compiled function. A list with a black box
in it is evaluated from NumPy, model by model, by the same lines of the sampler.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from zhat.model.model import Core, Model
from zhat.results.records import Array
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.loop import Loop

# Up to so many models it costs less to evaluate all lanes in each and to choose, than lane after lane in its own.
TOGETHER = 4


class Lanes(Protocol):
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
        """Whoever keeps the compiled functions."""
        ...

    @property
    def identity(self) -> Hashable:
        """What the compiled functions depend on, beyond the core."""
        ...

    def density(self, arguments: Any, index: Any, position: Any, likelihood: bool) -> tuple[Any, Any]:
        """Log prior (with that of the spare coordinates) and log likelihood (zero when switched off) of every lane."""
        ...

    def model(self, k: int) -> Model:
        """The model of this index."""
        ...


@dataclass(frozen=True)
class ListLanes:
    """Models that have nothing in common."""

    models: tuple[Model, ...]
    loop: Loop

    @property
    def n_models(self) -> int:
        """See `Lanes`."""
        return len(self.models)

    @cached_property
    def sizes(self) -> Array:
        """See `Lanes`."""
        return np.array([model.n_dimensions for model in self.models], np.float64)

    @property
    def widest(self) -> Model:
        """See `Lanes`."""
        return max(self.models, key=lambda model: model.n_dimensions)

    @property
    def traced(self) -> bool:
        """See `Lanes`."""
        return not any(model.is_black_box for model in self.models)

    @property
    def arguments(self) -> Any:
        """See `Lanes`."""
        return tuple((model.data, model.hyper) for model in self.models) if self.traced else ()

    @property
    def core(self) -> Core:
        """See `Lanes`."""
        return self.models[0].core

    @property
    def identity(self) -> Hashable:
        """See `Lanes`."""
        return tuple(model.core for model in self.models)

    def model(self, k: int) -> Model:
        """See `Lanes`."""
        return self.models[k]

    def density(self, arguments: Any, index: Any, position: Any, likelihood: bool) -> tuple[Any, Any]:
        """See `Lanes`."""
        if not self.traced:
            return self._by_hand(index, position, likelihood)
        branches = [_alone(model.core, given) for model, given in zip(self.models, arguments, strict=True)]
        if self.n_models <= TOGETHER:
            found = [jax.vmap(branch)(position) for branch in branches]
            log_prior, log_likelihood = found[0]
            for k in range(1, self.n_models):
                log_prior = jnp.where(index == k, found[k][0], log_prior)
                log_likelihood = jnp.where(index == k, found[k][1], log_likelihood)
        else:
            log_prior, log_likelihood = jax.lax.map(lambda lane: jax.lax.switch(lane[0], branches, lane[1]), (index, position))
        return log_prior, log_likelihood if likelihood else jnp.zeros_like(log_likelihood)

    def _by_hand(self, index: Array, position: Array, likelihood: bool) -> tuple[Array, Array]:
        log_prior, log_likelihood = np.empty(len(index)), np.zeros(len(index))
        for k in np.unique(index):
            here, model = np.flatnonzero(index == k), self.models[int(k)]
            points = position[here, : model.n_dimensions]
            if likelihood:
                log_prior[here], log_likelihood[here] = log_densities(model, points, self.loop)
            else:
                found = constrain_batch(model, points)[1]
                log_prior[here] = np.where(np.isfinite(found), found, -np.inf)
            log_prior[here] += _spare(position[here, model.n_dimensions :], np)
        return log_prior, log_likelihood


@dataclass(frozen=True)
class FamilyLanes:
    """Variants of one model whose data differ in one array, such as the masks of `Subsets`."""

    base: Model
    name: str
    variants: Array

    @property
    def n_models(self) -> int:
        """See `Lanes`."""
        return len(self.variants)

    @cached_property
    def sizes(self) -> Array:
        """See `Lanes`."""
        return np.full(self.n_models, float(self.base.n_dimensions))

    @property
    def widest(self) -> Model:
        """See `Lanes`."""
        return self.base

    @property
    def traced(self) -> bool:
        """See `Lanes`."""
        return True

    @property
    def arguments(self) -> Any:
        """See `Lanes`."""
        return self.variants, self.base.data, self.base.hyper

    @property
    def core(self) -> Core:
        """See `Lanes`."""
        return self.base.core

    @property
    def identity(self) -> Hashable:
        """See `Lanes`."""
        return ("family", self.name)

    def model(self, k: int) -> Model:
        """See `Lanes`."""
        data = {**self.base.data, self.name: self.variants[k]}
        return self.base.with_data(data, name=f"{self.base.name} with {self.name} {self.variants[k]}", data_id=self.base.data_id)

    def density(self, arguments: Any, index: Any, position: Any, likelihood: bool) -> tuple[Any, Any]:
        """See `Lanes`."""
        variants, data, hyper = arguments

        def one(k: Any, u: Any) -> Any:
            return self.base.core.log_densities(u, {**data, self.name: variants[k]}, hyper)

        log_prior, log_likelihood = jax.vmap(one)(index, position)
        return log_prior, log_likelihood if likelihood else jnp.zeros_like(log_likelihood)


@dataclass(frozen=True)
class ModelSetBackend:
    """What a kernel sees of lanes: a `World` whose density knows where each point stands."""

    xp: Any
    density_at: Callable[[Any], tuple[Any, Any]]

    def density(self, position: Any, active: Any = None) -> tuple[Any, Any]:
        """See `World`."""
        return self.density_at(position)

    def gradient(self, position: Any, beta: Any) -> tuple[Any, Any, Any]:
        """Lanes move without gradients; the door refuses kernels that need them."""
        raise TypeError("lanes have no gradient")

    def scan(self, step: Callable[..., Any], carry: Any, xs: Any) -> tuple[Any, Any]:
        """Kernels without gradients do not loop."""
        raise TypeError("lanes do not loop inside a move")

    def while_loop(self, condition: Callable[..., Any], body: Callable[..., Any], carry: Any) -> Any:
        """Kernels without gradients do not loop."""
        raise TypeError("lanes do not loop inside a move")

    def repeat(self, n: Any, body: Callable[[Any], Any], carry: Any) -> Any:
        """Kernels without gradients do not loop."""
        raise TypeError("lanes do not loop inside a move")


def _alone(core: Core, given: tuple[Any, Any]) -> Callable[[Any], Any]:
    size, (data, hyper) = core.space.n_dimensions, given

    def one(u: Any) -> Any:
        log_prior, log_likelihood = core.log_densities(u[:size], data, hyper)
        return log_prior + _spare(u[size:], jnp), log_likelihood

    return one


def _spare(u: Any, xp: Any) -> Any:
    """Log density of coordinates that belong to nothing."""
    return -0.5 * xp.sum(u * u, axis=-1) - 0.5 * u.shape[-1] * np.log(2.0 * np.pi)
