"""Independence Metropolis: propose from a Student t fitted to the present draws, independent of the current point.

When the fit is good, an accepted move is an independent draw; when it is not, points in the target's tail stay in
place for many moves. `CrankNicolson` is this kernel with proposals that may stay near the point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zhat.kinds import checked_kinds
from zhat.model.model import Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.kernels._base import Info, log_uniforms, propose
from zhat.sampling.kernels._checks import check_whole
from zhat.sampling.state import State
from zhat.sampling.tuning import Tuning


@dataclass(frozen=True)
@checked_kinds
class Independent:
    """Proposals from a multivariate t with the mean and covariance factor of the draws."""

    degrees_of_freedom: int = 5
    needs_gradient: ClassVar[bool] = False
    needs_tuning: ClassVar[bool] = True
    moves_parameters: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the degrees of freedom."""
        check_whole("Independent", "degrees_of_freedom", self.degrees_of_freedom, 1)

    def first_scale(self, n_dimensions: int) -> float:
        """There is nothing to scale."""
        return 1.0

    def next_scale(self, scale: float, acceptance: float) -> float:
        """There is nothing to scale."""
        return scale

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, target: Any) -> dict[str, Any]:
        """Standard t draws and acceptance uniforms."""
        d = model.n_dimensions
        nu = self.degrees_of_freedom
        stretch = np.sqrt(0.5 * nu / rng.standard_gamma(0.5 * nu, (n_moves, n, 1)))
        return {
            "draw": rng.standard_normal((n_moves, n, d)) * stretch,
            "log_uniform": log_uniforms(rng, n_moves, n),
        }

    def init(self, backend: Backend, state: State, target: Any) -> State:
        """Nothing to complete."""
        return state

    def step(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, target: Any) -> tuple[State, Info]:
        """One proposal, accepted or not."""
        xp = backend.xp
        nu, d = self.degrees_of_freedom, state.position.shape[1]

        def log_t(z: Any) -> Any:
            return -0.5 * (nu + d) * xp.log1p(xp.sum(z * z, axis=1) / nu)

        old = tuning.whiten(state.position)
        position = tuning.place(noise["draw"])
        correction = log_t(old) - log_t(noise["draw"])
        return propose(backend, state, position, correction, noise["log_uniform"], target)
