"""Hamiltonian Monte Carlo in whitened coordinates, all points leaping together (Neal 2011).

The draws' covariance is the inverse mass matrix, so a trajectory of length about pi / 2 turns a Gaussian target into
a fresh draw whatever its correlations. The number of leaps follows from the tuned step size, and every point jitters
its own step, which breaks the periodicity that makes some trajectories return to where they began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zhat.model.model import Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.kernels._base import Info, State, Tuning, accept, log_uniforms, screen, toward


@dataclass(frozen=True)
class HMC:
    """Leapfrog trajectories of a fixed length, step size tuned."""

    acceptance: float = 0.8
    length: float = 1.5
    max_leaps: int = 24
    needs_gradient: ClassVar[bool] = True
    needs_tuning: ClassVar[bool] = True
    moves_parameters: ClassVar[bool] = False

    def first_scale(self, n_dimensions: int) -> float:
        """Step sizes fall like d^(-1/4)."""
        return 1.0 / n_dimensions**0.25

    def next_scale(self, scale: float, acceptance: float) -> float:
        """Toward the goal acceptance."""
        return min(toward(scale, acceptance, self.acceptance), self.length)

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, beta: float) -> dict[str, Any]:
        """Momenta, jitter, acceptance uniforms."""
        d = model.n_dimensions
        return {
            "momentum": rng.standard_normal((n_moves, n, d)),
            "jitter": rng.uniform(0.7, 1.3, (n_moves, n)),
            "log_uniform": log_uniforms(rng, n_moves, n),
        }

    def init(self, backend: Backend, state: State, beta: Any) -> State:
        """The gradient where the points stand, at this beta."""
        _, _, gradient = backend.gradient(state.position, beta)
        return state._replace(gradient=gradient)

    def step(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, beta: Any) -> tuple[State, Info]:
        """One trajectory and its verdict."""
        xp = backend.xp
        n_leaps = xp.clip(xp.ceil(self.length / tuning.scale), 1, self.max_leaps).astype(int)
        size = (tuning.scale * noise["jitter"])[:, None]
        momentum = noise["momentum"]

        def kick(p: Any, gradient: Any, share: float) -> Any:
            return p + share * size * tuning.pull(gradient)

        def leap(carry: Any) -> Any:  # two half kicks meet in one full one; the last is taken back by half below
            position, p, gradient, _, _ = carry
            position = position + size * tuning.shape(p)
            log_prior, log_likelihood, gradient = backend.gradient(position, beta)
            return position, kick(p, gradient, 1.0), gradient, log_prior, log_likelihood

        first = kick(momentum, state.gradient, 0.5)
        start = (state.position, first, state.gradient, state.log_prior, state.log_likelihood)
        position, p, gradient, log_prior, log_likelihood = backend.repeat(n_leaps, leap, start)
        p = kick(p, gradient, -0.5)
        log_likelihood, n_bad, bad = screen(xp, position, log_likelihood)
        proposed = State(position, log_prior, log_likelihood, gradient)
        correction = 0.5 * (xp.sum(momentum**2, axis=1) - xp.sum(p**2, axis=1))
        merged, chance = accept(backend, state, proposed, correction, noise["log_uniform"], beta)
        return merged, Info(chance, 0, n_leaps * position.shape[0], n_bad, bad)
