"""New points for nested sampling in the review's way: a survivor, moved a fixed number of times above the threshold.

Its sketch (section 3.5): choose a survivor at random, move it "a number of times" by Metropolis-Hastings for the prior, refusing
what falls below the likelihood of the point that died. Neither the number nor the proposal is stated. Here:

* `ThresholdWalk`, for section 4.2: the steps that the section's other samplers take at beta = 1. At first they are too short for
  the prior, later too long for the region that is left.
* `ThresholdGibbs`, for section 4.1, which used "Gibbs kernels in all of the Monte Carlo experiments": each parameter from its
  prior conditional, refused below the threshold. Toward the end next to nothing is taken, and new points are copies of old
  ones: the review's own guess at what went wrong ("better simulation from constrained distribution at high values").

Both leave the prior above the threshold invariant, so what is wrong is only that points have not forgotten where they began.
Compare `zhat.sampling.nested.replacement`, whose moves go on until they have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import jax
import numpy as np

from zhat.model.model import Conditional, Model
from zhat.sampling.backend.compiled import JaxBackend, compiled, over_points
from zhat.sampling.backend.evaluation import reevaluate
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import log_uniforms, screen
from zhat.sampling.nested.replacement import Points, Replaced, Scale
from zhat.seeding import Key


class ThresholdKernel(Protocol):
    """Moves within a threshold: compiled JAX, from noise drawn beforehand."""

    @property
    def n_sweeps(self) -> int:
        """How often every coordinate is moved."""
        ...

    def noise(self, rng: np.random.Generator, n: int, model: Model) -> Any:
        """All randomness of the sweeps of n points; leading axis `n_sweeps`."""
        ...

    def sweep(self, backend: JaxBackend, state: tuple[Any, Any], noise: Any, threshold: Any) -> tuple[tuple[Any, Any], Any]:
        """Every coordinate once: positions and log likelihoods, and (share taken, bad points, one of them)."""
        ...


@dataclass(frozen=True)
class ThresholdWalk:
    """Steps of one coordinate at a time with variance 1 / `precision`."""

    n_sweeps: int = 20
    precision: float = 2.0

    def first_scale(self, n_dimensions: int) -> float:
        """Nothing is tuned."""
        return 1.0

    def noise(self, rng: np.random.Generator, n: int, model: Model) -> Any:
        """See `ThresholdKernel`."""
        d = model.n_dimensions
        size = 1.0 / np.sqrt(self.precision)
        return size * rng.standard_normal((self.n_sweeps, d, n)), log_uniforms(rng, self.n_sweeps, d, n)

    def sweep(self, backend: JaxBackend, state: tuple[Any, Any], noise: Any, threshold: Any) -> tuple[tuple[Any, Any], Any]:
        """See `ThresholdKernel`."""
        xp = backend.xp

        def one(state: Any, given: Any) -> Any:
            position, log_likelihood = state
            step, log_uniform, unit = given
            there = position + step[:, None] * unit
            # The prior at the old point is asked again: a hundredth of a likelihood, and no state to keep in step.
            log_prior = over_points(
                lambda u: backend.core.space.constrain(u, backend.data, backend.hyper)[1], position, backend.block
            )
            new_prior, new_likelihood = backend.density(there)
            new_likelihood, n_bad, bad = screen(xp, there, new_likelihood)
            take = (log_uniform < new_prior - log_prior) & (new_likelihood > threshold)
            state = xp.where(take[:, None], there, position), xp.where(take, new_likelihood, log_likelihood)
            return state, (xp.mean(take * 1.0), n_bad, bad)

        steps, log_uniforms = noise
        return backend.scan(one, state, (steps, log_uniforms, xp.eye(state[0].shape[1])))

    def replace(
        self, model: Model, survivors: Points, threshold: float, n_new: int, lanes: int, scale: Scale, key: Key, loop: Loop
    ) -> Replaced:
        """See `sampling.constrained.Replacement`."""
        return _replace(self, model, survivors, threshold, n_new, lanes, key, loop)


@dataclass(frozen=True)
class ThresholdGibbs:
    """Each block from its conditional under the prior, refused below the threshold."""

    conditionals: tuple[Conditional, ...]
    n_sweeps: int = 5

    def first_scale(self, n_dimensions: int) -> float:
        """Nothing is tuned."""
        return 1.0

    def noise(self, rng: np.random.Generator, n: int, model: Model) -> Any:
        """See `ThresholdKernel`."""
        shape = (self.n_sweeps, n)
        return tuple(block.noise(rng, shape, 0.0, model.data, model.hyper) for block in self.conditionals)

    def sweep(self, backend: JaxBackend, state: tuple[Any, Any], noise: Any, threshold: Any) -> tuple[tuple[Any, Any], Any]:
        """See `ThresholdKernel`."""
        xp, core, data, hyper = backend.xp, backend.core, backend.data, backend.hyper
        seen = []
        for block, given in zip(self.conditionals, noise, strict=True):

            def proposed(u: Any, given: Any, block: Conditional = block) -> Any:
                params, _ = core.space.constrain(u, data, hyper)
                return core.space.unconstrain({**params, **block.draw(given, params, 0.0, data, hyper)}, data, hyper)

            position, log_likelihood = state
            there = jax.vmap(proposed)(position, given)
            new_likelihood, n_bad, bad = screen(xp, there, backend.density(there)[1])
            take = new_likelihood > threshold
            state = xp.where(take[:, None], there, position), xp.where(take, new_likelihood, log_likelihood)
            seen.append((xp.mean(take * 1.0), n_bad, bad))
        return state, tuple(xp.stack(part) for part in zip(*seen, strict=True))

    def replace(
        self, model: Model, survivors: Points, threshold: float, n_new: int, lanes: int, scale: Scale, key: Key, loop: Loop
    ) -> Replaced:
        """See `sampling.constrained.Replacement`."""
        return _replace(self, model, survivors, threshold, n_new, lanes, key, loop)


def _replace(
    kernel: ThresholdKernel, model: Model, survivors: Points, threshold: float, n_new: int, lanes: int, key: Key, loop: Loop
) -> Replaced:
    """`n_new` survivors chosen at random and moved, `lanes` at a time so that one program serves."""
    rng = key.generator()
    parts, accepted = [], []
    parent = rng.integers(0, len(survivors.log_likelihood), -(-n_new // lanes) * lanes)
    for first in range(0, n_new, lanes):
        start = survivors.take(parent[first : first + lanes])
        moved, acceptance = _moved(kernel, model, start, threshold, kernel.noise(rng, lanes, model), loop)
        parts.append(moved)
        accepted.append(acceptance)
    points = Points(*(np.concatenate(arrays)[:n_new] for arrays in zip(*parts, strict=True)))
    return Replaced(points, parent[:n_new], kernel.n_sweeps, float(np.mean(accepted)), 0.0, 0.0, 1.0)


def _moved(
    kernel: ThresholdKernel, model: Model, start: Points, threshold: float, noise: Any, loop: Loop
) -> tuple[Points, float]:

    def body(backend: JaxBackend, position: Any, log_likelihood: Any, threshold: Any, noise: Any) -> Any:
        state, seen = backend.scan(
            lambda state, noise: kernel.sweep(backend, state, noise, threshold), (position, log_likelihood), noise
        )
        space, data, hyper = backend.core.space, backend.data, backend.hyper
        log_prior = over_points(lambda u: space.constrain(u, data, hyper)[1], state[0], backend.block)
        return state, log_prior, seen

    args = (start.position, start.log_likelihood, np.float64(threshold), noise)
    (position, log_likelihood), log_prior, seen = jax.tree.map(np.asarray, compiled(model, ("threshold", kernel), body, *args))
    taken, n_bad, bad = seen
    loop.count(n_likelihood=taken.size * len(position))
    if n_bad.any():
        reevaluate(model, n_bad, bad, loop)
    return Points(position, log_prior, log_likelihood), float(taken.mean())
