"""Hamiltonian Monte Carlo in whitened coordinates, all points in one batch (Neal 2011).

The draws' covariance is the inverse mass matrix, so a trajectory of length about pi / 2 turns a Gaussian target into
a fresh draw whatever its correlations. The number of leapfrog steps follows from the tuned step size, and every point jitters
its own step, which breaks the periodicity by which some trajectories would return to their start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zhat.errors import BadInput
from zhat.kinds import checked_kinds
from zhat.model.model import Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.kernels._base import Info, accept, log_uniforms, screen, toward
from zhat.sampling.kernels._checks import check_acceptance, check_whole
from zhat.sampling.state import State
from zhat.sampling.tuning import Tuning


@dataclass(frozen=True)
@checked_kinds
class HMC:
    """Leapfrog trajectories of a fixed length, step size tuned."""

    acceptance: float = 0.8
    length: float = 1.5
    max_leaps: int = 24
    needs_gradient: ClassVar[bool] = True
    needs_tuning: ClassVar[bool] = True
    moves_parameters: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the setting."""
        check_acceptance("HMC", self.acceptance)
        check_whole("HMC", "max_leaps", self.max_leaps, 1)
        if not 0.0 < self.length < math.inf:
            raise BadInput(f"HMC(length={self.length}): give the length of a trajectory, above zero.")

    def first_scale(self, n_dimensions: int) -> float:
        """Step sizes fall like d^(-1/4)."""
        return 1.0 / n_dimensions**0.25

    def next_scale(self, scale: float, acceptance: float) -> float:
        """Toward the goal acceptance."""
        return min(toward(scale, acceptance, self.acceptance), self.length)

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, target: Any) -> dict[str, Any]:
        """Momenta, jitter, acceptance uniforms."""
        d = model.n_dimensions
        return {
            "momentum": rng.standard_normal((n_moves, n, d)),
            "jitter": rng.uniform(0.7, 1.3, (n_moves, n)),
            "log_uniform": log_uniforms(rng, n_moves, n),
        }

    def init(self, backend: Backend, state: State, target: Any) -> State:
        """Evaluate the gradient of the target at the points."""
        return state._replace(gradient=backend.gradient(state.position, target).gradient)

    def step(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, target: Any) -> tuple[State, Info]:
        """One trajectory, accepted or not."""
        xp = backend.xp
        n_leaps = xp.clip(xp.ceil(self.length / tuning.scale), 1, self.max_leaps).astype(int)
        size = (tuning.scale * noise["jitter"])[:, None]
        momentum = noise["momentum"]

        def kick(p: Any, gradient: Any, share: float) -> Any:
            return p + share * size * tuning.pull(gradient)

        def leap(carry: Any) -> Any:  # two half steps of the momentum are one full step; half of the last is undone below
            here, p = carry
            there = backend.gradient(here.position + size * tuning.shape(p), target)
            return there, kick(p, there.gradient, 1.0)

        proposed, p = backend.repeat(n_leaps, leap, (state, kick(momentum, state.gradient, 0.5)))
        p = kick(p, proposed.gradient, -0.5)
        log_likelihood, n_bad, bad = screen(xp, proposed.position, proposed.log_likelihood)
        proposed = proposed._replace(log_likelihood=log_likelihood)
        correction = 0.5 * (xp.sum(momentum**2, axis=1) - xp.sum(p**2, axis=1))
        merged, chance, take = accept(backend, state, proposed, correction, noise["log_uniform"], target)
        return merged, Info(chance, 1.0 * take, 0, n_leaps * len(log_likelihood), n_bad, bad)
