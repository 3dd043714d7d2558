"""Gibbs sweeps from a model's own tempered full conditionals (Geman & Geman 1984).

Each block is drawn as a function of standard noise, so a sweep is a few lines of arithmetic per block and its noise is
drawn in bulk. Nothing is rejected and nothing is tuned. Conditionals are functions of the parameters, so sweeps
act on these; transforming to the unconstrained vector and back would double their cost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from zhat.model.model import Conditional, Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.backend.buffers import Buffers
from zhat.sampling.backend.compiled import JaxBackend, over_points
from zhat.sampling.kernels._base import Info, screen
from zhat.sampling.state import State
from zhat.sampling.tuning import Tuning


@dataclass(frozen=True)
class Gibbs:
    """One sweep over all blocks of the model's conditionals a move."""

    conditionals: tuple[Conditional, ...] = field(repr=False)
    needs_gradient: ClassVar[bool] = False
    needs_tuning: ClassVar[bool] = False
    moves_parameters: ClassVar[bool] = True

    def first_scale(self, n_dimensions: int) -> float:
        """There is nothing to scale."""
        return 1.0

    def next_scale(self, scale: float, acceptance: float) -> float:
        """There is nothing to scale."""
        return scale

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, target: Any) -> dict[str, Any]:
        """Each block's standard noise for `n_moves` sweeps of n points at the target's beta."""
        beta = float(target.beta)
        return {
            str(i): conditional.noise(rng, (n_moves, n), beta, model.data, model.hyper)
            for i, conditional in enumerate(self.conditionals)
        }

    def noise_along(
        self, rng: np.random.Generator, n_moves: int, n: int, model: Model, betas: Any, buffers: Buffers
    ) -> dict[str, Any]:
        """The noise of `n_moves` sweeps at each of several betas, block by block; leading axes (betas, n_moves, n)."""
        data, hyper = model.data, model.hyper

        def block(i: int, conditional: Conditional) -> Any:
            def at(beta: Any) -> Any:
                return conditional.noise(rng, (n_moves, n), float(beta), data, hyper)

            first = at(betas[0])
            if conditional.noise_into is None:
                return jax.tree.map(lambda *leaves: np.stack(leaves), first, *(at(beta) for beta in betas[1:]))
            place = buffers.place(i, (len(betas), *first.shape), first.dtype)
            place[0] = first
            conditional.noise_into(rng, place[1:], betas[1:], data, hyper)
            return place

        return {str(i): block(i, conditional) for i, conditional in enumerate(self.conditionals)}

    def init(self, backend: Backend, state: State, target: Any) -> State:
        """Nothing to complete."""
        return state

    def draw(self, backend: Backend, params: dict[str, Any], noise: dict[str, Any], beta: Any) -> dict[str, Any]:
        """A batch of points after one sweep, block after block; like the conditionals a JAX function."""
        assert isinstance(backend, JaxBackend)
        data, hyper = backend.data, backend.hyper

        def one(params: dict[str, Any], noise: dict[str, Any]) -> dict[str, Any]:
            for i, conditional in enumerate(self.conditionals):
                drawn = conditional.draw(noise[str(i)], params, beta, data, hyper)
                params = {**params, **{name: _as(params[name], value) for name, value in drawn.items()}}
            return params

        moved: dict[str, Any] = jax.vmap(one)(params, noise)
        return moved

    def values(self, backend: Backend, params: dict[str, Any]) -> Any:
        """Log likelihoods of a batch; zero likelihood where a draw underflowed to the edge of its support."""
        assert isinstance(backend, JaxBackend)
        core, data, hyper = backend.core, backend.data, backend.hyper

        def inside(params: dict[str, Any]) -> Any:
            return jnp.isfinite(core.space.unconstrain(params, data, hyper)).all()

        def value(params: dict[str, Any]) -> Any:
            return jnp.reshape(jnp.asarray(core.log_likelihood(params, data, hyper), jnp.float64), ())

        return jnp.where(jax.vmap(inside)(params), over_points(value, params, backend.block), -jnp.inf)

    def step(self, backend: Any, state: State, noise: dict[str, Any], tuning: Tuning, target: Any) -> tuple[State, Info]:
        """A sweep, and the log likelihoods after it, screened for NaN and +inf."""
        params = self.draw(backend, state.position, noise, target.beta)
        log_likelihood = self.values(backend, params)
        # Locating a NaN only where there is one saves a tenth of a sweep.
        first = jax.tree.map(lambda part: part[0], params)
        log_likelihood, n_bad, bad = jax.lax.cond(
            jnp.all(log_likelihood < jnp.inf),
            lambda: (log_likelihood, jnp.zeros((), int), first),
            lambda: screen(jnp, params, log_likelihood),
        )
        moved = State(position=params, log_prior=state.log_prior, log_likelihood=log_likelihood)
        return moved, Info(1.0, 1.0, len(log_likelihood), 0, n_bad, bad)


def _as(old: Any, new: Any) -> Any:
    """A drawn value in the type and shape of the one that it replaces, as a compiled loop requires."""
    return jnp.reshape(jnp.asarray(new, old.dtype), old.shape)
