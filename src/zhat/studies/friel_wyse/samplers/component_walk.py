"""The Metropolis sampler of Friel & Wyse (2012), section 4.2: one coefficient after another.

    theta_j' ~ N(theta_j, 1 / (beta^exponent x precision)),      precision tau_p = 2.

At beta = 1 the step has standard deviation 2^(-1/2), whatever the posterior's is (here about 0.12: one step in six is accepted),
and at the first rung above beta = 0 that of the prior: exponent = log(tau / tau_p) / log(beta_1). Nothing is tuned or
fitted to draws. One move updates every coefficient once, with one likelihood evaluation each.

Above a likelihood threshold (nested sampling) the steps are those at beta = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from zhat.model.model import Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.kernels._base import Info, log_uniforms, propose
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.tuning import Tuning


@dataclass(frozen=True)
class ComponentWalk:
    """Gaussian steps of one coordinate at a time.

    In reduced runs the first coordinates are held. Their number is an argument of the compiled sweep, so that one program serves
    all of them: the tuning's `scale`, which this kernel has no other use for, is one more than their number.
    """

    precision: float = 2.0
    exponent: float = 0.0
    needs_gradient: ClassVar[bool] = False
    needs_tuning: ClassVar[bool] = False
    moves_parameters: ClassVar[bool] = False

    def first_scale(self, n_dimensions: int) -> float:
        """All coordinates move."""
        return 1.0

    def next_scale(self, scale: float, acceptance: float) -> float:
        """There is nothing to tune."""
        return scale

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, target: Any) -> dict[str, Any]:
        """A step and a uniform for every coordinate."""
        d = model.n_dimensions
        return {"step": rng.standard_normal((n_moves, d, n)), "log_uniform": log_uniforms(rng, n_moves, d, n)}

    def init(self, backend: Backend, state: State, target: Any) -> State:
        """Nothing to complete."""
        return state

    def step(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, target: Any) -> tuple[State, Info]:
        """Update every free coordinate once."""
        xp = backend.xp
        n, d = state.position.shape
        beta = target.beta if isinstance(target, Tempered) else 1.0
        size = 1.0 / xp.sqrt(beta**self.exponent * self.precision)
        held = xp.asarray(tuning.scale - 1.0).astype(int)

        def one(carry: Any) -> Any:
            j, state, chance, moved, n_bad, bad = carry
            there = state.position + (size * noise["step"][j])[:, None] * (xp.arange(d) == j)
            state, info = propose(backend, state, there, 0.0, noise["log_uniform"][j], target)
            worse = xp.asarray(info.n_bad) > 0
            bad = xp.where(worse, info.bad_position, bad)
            return j + 1, state, chance + info.acceptance, moved + info.accepted, n_bad + info.n_bad, bad

        first = (held, state, xp.zeros(n), xp.zeros(n), xp.asarray(0), state.position[0])
        _, state, chance, moved, n_bad, bad = backend.repeat(d - held, one, first)
        return state, Info(chance / (d - held), moved / (d - held), (d - held) * n, 0, n_bad, bad)


def exponent_for(tau: float, first_rung: float, precision: float = 2.0) -> float:
    """The alpha of Friel & Wyse (2012): steps as wide as the prior at the first rung above it."""
    return math.log(tau / precision) / math.log(first_rung)
