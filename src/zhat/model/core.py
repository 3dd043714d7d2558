"""Core: the functions of a model, its space, and what was compiled for them; shared by `with_data` and `with_hyper`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from zhat.model.space import Params, Space


class Core:
    """What models that differ only in data or hyperparameters share: functions, space, compiled code.

    `compiled` keeps one jitted function per purpose; `traces` counts how often each was traced, so that tests can show that
    nothing is compiled twice.
    """

    def __init__(
        self,
        log_likelihood: Callable[[Params, Any, Any], Any],
        space: Space,
        black_box: bool,
        batched: bool,
        pack: Callable[[Any], Any] | None = None,
        made_from: tuple[Any, ...] = (),
    ) -> None:
        self.log_likelihood = log_likelihood
        self.space = space
        self.black_box = black_box
        self.batched = batched
        self.pack = pack  # turns what `with_data` receives into the data, where an adapter packs them
        self.made_from = made_from  # what the caller gave: two models made from the same objects are the same (`identity`)
        self.largest_array = 0  # entries of the largest array in one evaluation, where it was traced
        self.traces: dict[Any, int] = {}
        self._compiled: dict[Any, Callable[..., Any]] = {}

    def for_space(self, space: Space) -> Core:
        """The same functions over another space (more groups, other shapes); nothing compiled is shared."""
        core = Core(self.log_likelihood, space, self.black_box, self.batched, self.pack, self.made_from)
        core.largest_array = self.largest_array
        return core

    def compiled(self, purpose: Any, build: Callable[[], Callable[..., Any]]) -> Callable[..., Any]:
        """The jitted function of this purpose, built on first use; its traces are counted."""
        if purpose not in self._compiled:
            function = build()

            def counted(*args: Any) -> Any:
                self.traces[purpose] = self.traces.get(purpose, 0) + 1
                return function(*args)

            self._compiled[purpose] = jax.jit(counted)
        return self._compiled[purpose]

    def log_densities(self, u: jax.Array, data: Any, hyper: Any) -> tuple[jax.Array, jax.Array]:
        """Log prior (of the unconstrained vector) and log likelihood at one point; traceable models only.

        Where the prior density is zero or its transform overflows, the likelihood is taken as zero whatever the function
        returns: such a point is no parameter value, and a NaN there is not the caller's mistake.
        """
        params, log_prior = self.space.constrain(u, data, hyper)
        inside = jnp.isfinite(log_prior)
        log_likelihood = jnp.reshape(jnp.asarray(self.log_likelihood(params, data, hyper), jnp.float64), ())
        return jnp.where(inside, log_prior, -jnp.inf), jnp.where(inside, log_likelihood, -jnp.inf)
