"""Gibbs sweeps from a model's own tempered full conditionals (Geman & Geman 1984).

Each block is drawn as a function of standard noise, so a sweep is a few lines of arithmetic per block and its noise is
drawn in bulk. Nothing is rejected and nothing is tuned.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from evidentia.model import Conditional, Model
from evidentia.sampling.kernels._base import Info, State, Tuning, no_gradient, screen
from evidentia.sampling.world import World, over_points


@dataclass(frozen=True)
class Gibbs:
    """One sweep over all blocks of the model's conditionals a move."""

    conditionals: tuple[Conditional, ...] = field(repr=False)
    needs_gradient: ClassVar[bool] = False
    needs_tuning: ClassVar[bool] = False
    needs_prior: ClassVar[bool] = False

    def first_scale(self, n_dimensions: int) -> float:
        """There is nothing to scale."""
        return 1.0

    def next_scale(self, scale: float, acceptance: float) -> float:
        """There is nothing to scale."""
        return scale

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, beta: float) -> dict[str, Any]:
        """Each block's standard noise for `n_moves` sweeps of n points at this beta."""
        return {
            str(i): conditional.noise(rng, (n_moves, n), beta, model.data, model.hyper)
            for i, conditional in enumerate(self.conditionals)
        }

    def init(self, world: World, state: State, beta: Any) -> State:
        """No gradient."""
        return no_gradient(world, state)

    def step(self, world: Any, state: State, noise: dict[str, Any], tuning: Tuning, beta: Any) -> tuple[State, Info]:
        """Draw block after block; conditionals are JAX functions, so this kernel lives in the compiled world only."""
        core, data, hyper = world.core, world.data, world.hyper

        def sweep(u: Any, noise: dict[str, Any]) -> Any:
            params, _ = core.space.constrain(u, data, hyper)
            for i, conditional in enumerate(self.conditionals):
                params = {**params, **conditional.draw(noise[str(i)], params, beta, data, hyper)}
            return core.space.unconstrain(params, data, hyper), params

        def likelihood(params: dict[str, Any]) -> Any:
            return jnp.reshape(jnp.asarray(core.log_likelihood(params, data, hyper), jnp.float64), ())

        # The likelihood is asked at the parameters that were drawn; the prior, which no sweep reads, is left out by the compiler
        # where nobody else does.
        position, params = jax.vmap(sweep)(state.position, noise)
        inside = jnp.isfinite(position).all(axis=1)  # a draw may underflow to the edge of its support
        log_likelihood = jnp.where(inside, over_points(likelihood, params, world.block), -jnp.inf)
        log_prior = over_points(lambda u: core.space.constrain(u, data, hyper)[1], position, world.block)
        log_likelihood, n_bad, bad = screen(world.xp, position, log_likelihood)
        moved = State(position, jnp.where(jnp.isfinite(log_prior), log_prior, -jnp.inf), log_likelihood, state.gradient)
        n = position.shape[0]
        return moved, Info(world.xp.ones(n), n, 0, n_bad, bad)
