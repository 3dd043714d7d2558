"""Slice moves along random directions (Neal 2003): no acceptance rate, hardly anything to tune.

Each point draws a height under its own density and a direction shaped by the draws' covariance, steps out until the
interval leaves the slice, then shrinks it toward itself until a point inside is found. Costs a handful of densities a
move, and adapts its step to where it is: the kernel for funnels and for likelihoods with hard walls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zhat.model.model import Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.kernels._base import Info, State, Tuning, log_uniforms, no_gradient, screen
from zhat.sampling.tempering.schedules import tempered


@dataclass(frozen=True)
class Slice:
    """Hit-and-run slice sampling with stepping out and shrinkage."""

    max_out: int = 8
    max_shrink: int = 40
    needs_gradient: ClassVar[bool] = False
    needs_tuning: ClassVar[bool] = True
    moves_parameters: ClassVar[bool] = False

    def first_scale(self, n_dimensions: int) -> float:
        """An interval of about four standard deviations."""
        return 4.0

    def next_scale(self, scale: float, acceptance: float) -> float:
        """Stepping out and shrinking forgive a wrong width, so it stays."""
        return scale

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, beta: float) -> dict[str, Any]:
        """Directions, heights, the interval's place, how its steps are shared out, and where to look inside it."""
        d = model.n_dimensions
        direction = rng.standard_normal((n_moves, n, d))
        direction /= np.linalg.norm(direction, axis=2, keepdims=True)
        left = rng.integers(0, self.max_out, (n_moves, n))
        return {
            "direction": direction,
            "log_height": log_uniforms(rng, n_moves, n),
            "place": rng.random((n_moves, n)),
            "steps": np.stack([left, self.max_out - 1 - left], axis=-1),
            "inside": rng.random((n_moves, n, self.max_shrink)),
        }

    def init(self, backend: Backend, state: State, beta: Any) -> State:
        """No gradient."""
        return no_gradient(backend, state)

    def step(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, beta: Any) -> tuple[State, Info]:
        """Step out on both sides, then shrink until inside."""
        xp = backend.xp
        n = state.position.shape[0]
        line = tuning.shape(noise["direction"])
        height = tempered(state.log_prior, state.log_likelihood, beta, xp) + noise["log_height"]

        def look(at: Any, active: Any) -> tuple[Any, Any, Any, Any, Any, Any]:
            position = state.position + at[:, None] * line
            log_prior, log_likelihood = backend.density(position, active)
            log_likelihood, n_bad, bad = screen(xp, position, log_likelihood)
            above = tempered(log_prior, log_likelihood, beta, xp) > height
            return above, position, log_prior, log_likelihood, n_bad, bad

        def reach(start: Any, sign: float, allowed: Any) -> tuple[Any, Any, Any, Any]:
            def outside(carry: Any) -> Any:
                return xp.any(carry[1])

            def out(carry: Any) -> Any:
                end, going, left, calls, n_bad, bad = carry
                above, _, _, _, new_bad, where = look(end, going)
                going = going & above
                end = xp.where(going, end + sign * tuning.scale, end)
                bad = xp.where(new_bad > 0, where, bad)
                return end, going & (left > 1), left - 1, calls + n, n_bad + new_bad, bad

            first = (start, allowed > 0, allowed, 0, 0, state.position[0])
            end, _, _, calls, n_bad, bad = backend.while_loop(outside, out, first)
            return end, calls, n_bad, bad

        low = -tuning.scale * noise["place"]
        low, calls_low, bad_low, where_low = reach(low, -1.0, noise["steps"][:, 0])
        high = tuning.scale * (1.0 - noise["place"])
        high, calls_high, bad_high, where_high = reach(high, 1.0, noise["steps"][:, 1])

        def searching(carry: Any) -> Any:
            return xp.any(carry[2]) & (carry[3] < self.max_shrink)

        def shrink(carry: Any) -> Any:
            low, high, open_, k, found, n_bad, bad = carry
            at = low + (high - low) * noise["inside"][:, k]
            above, position, log_prior, log_likelihood, new_bad, where = look(at, open_)
            take = open_ & above
            found = State(
                xp.where(take[:, None], position, found.position),
                xp.where(take, log_prior, found.log_prior),
                xp.where(take, log_likelihood, found.log_likelihood),
                found.gradient,
            )
            open_ = open_ & ~above
            low = xp.where(open_ & (at < 0), at, low)
            high = xp.where(open_ & (at >= 0), at, high)
            return low, high, open_, k + 1, found, n_bad + new_bad, xp.where(new_bad > 0, where, bad)

        opened = xp.ones(n, dtype=bool)
        start = (low, high, opened, 0, state, bad_low + bad_high, xp.where(bad_low > 0, where_low, where_high))
        _, _, still, k, found, n_bad, bad = backend.while_loop(searching, shrink, start)
        moved = xp.where(still, 0.0, 1.0)
        return found, Info(moved, calls_low + calls_high + k * n, 0, n_bad, bad)
