"""Preconditioned Crank-Nicolson moves in a Student t frame: independence where that works, small steps where not.

In coordinates z whitened by the draws' mean and covariance, with s drawn from its law given z under a multivariate t
(a gamma), the proposal

    z' = sqrt(1 - r^2) z + r xi / sqrt(s),      xi ~ N(0, I)

leaves that t invariant for every r in (0, 1], so only the target's departure from it is left for the Metropolis
ratio: pi(z') t(z) / (pi(z) t(z')). At r = 1 it forgets z; as r falls it becomes a random walk that knows the scale of
where it is. For a target near to its fitted t, acceptance hardly falls with dimension. One density and no gradient a
move. The t frame, rather than a Gaussian one, keeps points in the tails moving (Kamatani 2018 for the heavy-tailed
version; Cotter et al. 2013 for the Gaussian one; Grumitt et al. 2024 use it within sequential Monte Carlo).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zhat.model.model import Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.kernels._base import FRAME_DEGREES, Info, State, Tuning, log_uniforms, no_gradient, propose, toward


@dataclass(frozen=True)
class CrankNicolson:
    """Moves reversible for a fitted multivariate t, corrected for the target."""

    acceptance: float = 0.4
    degrees_of_freedom: int = FRAME_DEGREES
    needs_gradient: ClassVar[bool] = False
    needs_tuning: ClassVar[bool] = True
    moves_parameters: ClassVar[bool] = False

    def first_scale(self, n_dimensions: int) -> float:
        """Nearly independent proposals in few dimensions, shorter ones in many, to begin with."""
        return min(0.95, 2.38 / np.sqrt(n_dimensions))

    def next_scale(self, scale: float, acceptance: float) -> float:
        """Toward the goal acceptance; the scale is the share r of fresh noise and stays below one."""
        return min(toward(scale, acceptance, self.acceptance), 0.999)

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, beta: float) -> dict[str, Any]:
        """Fresh normals, gammas for the t's latent scale, acceptance uniforms."""
        d = model.n_dimensions
        return {
            "step": rng.standard_normal((n_moves, n, d)),
            "gamma": rng.standard_gamma(0.5 * (self.degrees_of_freedom + d), (n_moves, n)),
            "log_uniform": log_uniforms(rng, n_moves, n),
        }

    def init(self, backend: Backend, state: State, beta: Any) -> State:
        """No gradient."""
        return no_gradient(backend, state)

    def step(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, beta: Any) -> tuple[State, Info]:
        """One proposal and its verdict."""
        xp = backend.xp
        nu, d = self.degrees_of_freedom, state.position.shape[1]
        z = tuning.whiten(state.position)
        radius = xp.sum(z * z, axis=1)
        precision = noise["gamma"] / (0.5 * (nu + radius))
        fresh = noise["step"] / xp.sqrt(precision)[:, None]
        z_new = xp.sqrt(1.0 - tuning.scale**2) * z + tuning.scale * fresh
        position = tuning.place(z_new)
        radius_new = xp.sum(z_new * z_new, axis=1)
        correction = 0.5 * (nu + d) * (xp.log1p(radius_new / nu) - xp.log1p(radius / nu))
        return propose(backend, state, position, correction, noise["log_uniform"], beta)
