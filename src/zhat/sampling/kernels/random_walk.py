"""Random-walk Metropolis, shaped by the covariance of the present draws (Roberts, Gelman & Gilks 1997).

Needs nothing but the density. Its steps shrink like d^(-1/2), so its autocorrelation time is of the
order of d moves: the most robust kernel, and the slowest in many dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zhat.kinds import checked_kinds
from zhat.model.model import Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.kernels._base import Info, log_uniforms, propose, toward
from zhat.sampling.kernels._checks import check_acceptance
from zhat.sampling.state import State
from zhat.sampling.tuning import Tuning


@dataclass(frozen=True)
@checked_kinds
class RandomWalk:
    """Gaussian steps with the covariance of the draws times a tuned scale."""

    acceptance: float = 0.3
    needs_gradient: ClassVar[bool] = False
    needs_tuning: ClassVar[bool] = True
    moves_parameters: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the setting."""
        check_acceptance("RandomWalk", self.acceptance)

    def first_scale(self, n_dimensions: int) -> float:
        """The scaling of Roberts, Gelman & Gilks for a Gaussian target."""
        return 2.38 / np.sqrt(n_dimensions)

    def next_scale(self, scale: float, acceptance: float) -> float:
        """Toward the goal acceptance."""
        return toward(scale, acceptance, self.acceptance)

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, target: Any) -> dict[str, Any]:
        """Steps and acceptance uniforms."""
        d = model.n_dimensions
        return {"step": rng.standard_normal((n_moves, n, d)), "log_uniform": log_uniforms(rng, n_moves, n)}

    def init(self, backend: Backend, state: State, target: Any) -> State:
        """Nothing to complete."""
        return state

    def step(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, target: Any) -> tuple[State, Info]:
        """One proposal, accepted or not."""
        position = state.position + tuning.scale * tuning.shape(noise["step"])
        return propose(backend, state, position, 0.0, noise["log_uniform"], target)
