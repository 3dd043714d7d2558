"""New points for nested sampling as in Friel & Wyse (2012): a survivor, moved a fixed number of times above the threshold.

Their sketch (section 3.5): choose a survivor at random, move it "a number of times" by Metropolis-Hastings for the prior,
rejecting proposals below the likelihood of the dead point. Neither the number nor the proposal is stated. Here `FixedSweeps`
moves by one of two kernels:

* `ComponentWalk`, for section 4.2: the steps that the section's other samplers take at beta = 1. At first they are too short for
  the prior, later too long for the region that is left.
* `PriorGibbs`, for section 4.1, which used "Gibbs kernels in all of the Monte Carlo experiments": each parameter from its
  prior conditional, rejected below the threshold. Toward the end hardly any proposal is accepted, and new points are copies of
  old ones: the paper's own guess at what went wrong ("better simulation from constrained distribution at high values").

Both leave the prior above the threshold invariant, so the only error is that new points remain correlated with their starts.
Compare `zhat.sampling.nested.replacement`, which moves until that correlation is small.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import jax
import numpy as np

from zhat.model.model import Conditional, Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.backend.compiled import JaxBackend
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import Info, Kernel, TunedKernel, screen
from zhat.sampling.kernels.sweep import sweep
from zhat.sampling.nested.replacement import Replaced, Vacancies
from zhat.sampling.state import State
from zhat.sampling.target import AboveLikelihood
from zhat.sampling.tuning import Scale, Tuning, tuning_of
from zhat.seeding import Key


@dataclass(frozen=True)
class PriorGibbs:
    """Each block from its conditional under the prior, rejected where the target has no mass.

    The prior is left invariant by the draws themselves, so the target must be the prior restricted to a region:
    `AboveLikelihood`.
    """

    conditionals: tuple[Conditional, ...] = field(repr=False)
    needs_gradient: ClassVar[bool] = False
    needs_tuning: ClassVar[bool] = False
    moves_parameters: ClassVar[bool] = False
    compiled_only: ClassVar[bool] = True  # conditionals are JAX functions

    def first_scale(self, n_dimensions: int) -> float:
        """There is nothing to scale."""
        return 1.0

    def next_scale(self, scale: float, acceptance: float) -> float:
        """There is nothing to tune."""
        return scale

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, target: Any) -> dict[str, Any]:
        """Each block's standard noise under the prior."""
        noise = [block.noise(rng, (n_moves, n), 0.0, model.data, model.hyper) for block in self.conditionals]
        return {str(i): one for i, one in enumerate(noise)}

    def init(self, backend: Backend, state: State, target: Any) -> State:
        """Nothing to complete."""
        return state

    def step(self, backend: Any, state: State, noise: dict[str, Any], tuning: Tuning, target: Any) -> tuple[State, Info]:
        """Once through the blocks."""
        assert isinstance(backend, JaxBackend)
        xp, space, data, hyper = backend.xp, backend.core.space, backend.data, backend.hyper
        n_bad, bad, moved = 0, state.position[0], 0.0
        for i, block in enumerate(self.conditionals):

            def drawn(u: Any, given: Any, block: Conditional = block) -> Any:
                params, _ = space.constrain(u, data, hyper)
                return space.unconstrain({**params, **block.draw(given, params, 0.0, data, hyper)}, data, hyper)

            position = jax.vmap(drawn)(state.position, noise[str(i)])
            log_prior, log_likelihood = backend.density(position)
            log_likelihood, bad_here, where = screen(xp, position, log_likelihood)
            there = State(position=position, log_prior=log_prior, log_likelihood=log_likelihood)
            take = target.log_density(there, xp) > -xp.inf
            state = there.chosen(take, state, xp)
            moved = moved + take / len(self.conditionals)
            n_bad, bad = n_bad + bad_here, xp.where(bad_here > 0, where, bad)
        return state, Info(moved, moved, len(self.conditionals) * len(state.log_likelihood), 0, n_bad, bad)


@dataclass(frozen=True)
class FixedSweeps:
    """A replacement of nested sampling: survivors chosen at random, moved `n_sweeps` times by a kernel without tuning."""

    kernel: Kernel
    n_sweeps: int

    def first_scale(self, n_dimensions: int) -> Scale:
        """Nothing is tuned."""
        return 1.0

    def replace(self, model: Model, vacancies: Vacancies, scale: Scale, key: Key, loop: Loop) -> Replaced:
        """See `Replacement`; a batch at a time, so that one program serves."""
        survivors, n_new, size = vacancies.survivors, vacancies.n_new, vacancies.batch_size
        rng, d = key.generator(), model.n_dimensions
        moving = TunedKernel(self.kernel, AboveLikelihood(vacancies.threshold), tuning_of(np.zeros(d), np.eye(d), 1.0))
        parts, accepted = [], []
        parent = rng.integers(0, len(survivors.log_likelihood), -(-n_new // size) * size)
        for first in range(0, n_new, size):
            part = sweep(model, moving, survivors.take(parent[first : first + size]), self.n_sweeps, rng, loop)
            parts.append(part.last)
            accepted.append(part.accepted.mean)
        points = State.joined(parts).take(slice(0, n_new))
        return Replaced(points, parent[:n_new], self.n_sweeps, float(np.mean(accepted)), 0.0, 0.0, 1.0)
