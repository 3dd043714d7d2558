"""The kernel contract: `init` a batch of states, `step` it with noise drawn beforehand.

A kernel is a frozen, hashable object. Its noise is drawn in bulk by `noise` (NumPy), so that a step is pure
arithmetic: the same lines run compiled or in NumPy (see `sampling.world`). What is tuned (a location, a shape, one
scale) is an argument, so retuning compiles nothing.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol

import jax
import numpy as np

from zhat.model.model import Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.tempering.schedules import tempered

# Degrees of freedom of the Student t that stands for the draws: tails heavy enough for most posteriors.
FRAME_DEGREES = 5


class State(NamedTuple):
    """A batch of points and what is known there; `gradient` has width 0 for kernels that use none.

    Between the steps of a kernel that moves parameters, `position` is their dictionary and `log_prior` is not kept up.
    """

    position: Any
    log_prior: Any
    log_likelihood: Any
    gradient: Any


class Tuning(NamedTuple):
    """What the present rung looks like: mean, Cholesky factor and its inverse, and the kernel's one scale.

    The points of a batch stand in equal blocks (islands), and each block has a mean and factor of its own: leading axis K.
    """

    mean: Any  # (K, d)
    factor: Any  # (K, d, d)
    inverse: Any  # (K, d, d)
    scale: Any

    def whiten(self, position: Any) -> Any:
        """Coordinates in which each block's draws have mean zero and unit covariance."""
        k, d = self.mean.shape
        centred = position.reshape(k, -1, d) - self.mean[:, None, :]
        return (centred @ self.inverse.swapaxes(1, 2)).reshape(-1, d)

    def shape(self, z: Any) -> Any:
        """White steps in the shape of each block's draws; the inverse of `whiten` but for the mean."""
        k, d = self.mean.shape
        return (z.reshape(k, -1, d) @ self.factor.swapaxes(1, 2)).reshape(-1, d)

    def place(self, z: Any) -> Any:
        """The points whose white coordinates are z."""
        k, d = self.mean.shape
        return (self.shape(z).reshape(k, -1, d) + self.mean[:, None, :]).reshape(-1, d)

    def log_frame(self, position: Any, xp: Any) -> Any:
        """The log density, up to a constant, of a Student t with this mean and shape, each point under its block's."""
        k, d = self.mean.shape
        white = self.whiten(position)
        radius = xp.einsum("ij,ij->i", white, white).reshape(k, -1)
        size = xp.sum(xp.log(xp.diagonal(self.factor, axis1=1, axis2=2)), axis=1)
        return (-0.5 * (FRAME_DEGREES + d) * xp.log1p(radius / FRAME_DEGREES) - size[:, None]).reshape(-1)

    def pull(self, gradient: Any) -> Any:
        """Gradients with respect to the white coordinates."""
        k, d = self.mean.shape
        return (gradient.reshape(k, -1, d) @ self.factor).reshape(-1, d)


class Info(NamedTuple):
    """What a step did: acceptance per point, evaluations made, and whether a likelihood came out NaN or +inf."""

    acceptance: Any
    n_likelihood: Any
    n_gradient: Any
    n_bad: Any
    bad_position: Any


class Kernel(Protocol):
    """A Markov kernel for the density prior x likelihood^beta of the unconstrained vector.

    What it needs beyond the likelihood: gradients, tuning by draws. `moves_parameters`: its steps take and give the parameters
    themselves instead of the vector, and read no prior; whoever calls them translates once before and once after.
    """

    needs_gradient: ClassVar[bool]
    needs_tuning: ClassVar[bool]
    moves_parameters: ClassVar[bool]

    def first_scale(self, n_dimensions: int) -> float:
        """Where tuning of the scale begins."""
        ...

    def next_scale(self, scale: float, acceptance: float) -> float:
        """The scale to use after moves that were accepted at this rate."""
        ...

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, beta: float) -> dict[str, Any]:
        """All randomness of `n_moves` steps of n points; leading axes (n_moves, n)."""
        ...

    def init(self, backend: Backend, state: State, beta: Any) -> State:
        """Complete a state (its gradient, if the kernel uses one)."""
        ...

    def step(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, beta: Any) -> tuple[State, Info]:
        """Move every point once."""
        ...


def no_gradient(backend: Backend, state: State) -> State:
    """A state for a kernel that uses no gradient."""
    return state._replace(gradient=backend.xp.zeros((state.position.shape[0], 0)))


def screen(xp: Any, position: Any, log_likelihood: Any) -> tuple[Any, Any, Any]:
    """The log likelihood with NaN and +inf made impossible, how many there were, and where the last one was.

    The sweep cannot raise from compiled code, so it rejects such a point and reports it; the host then raises (or
    counts, for `zero_where_nan`). `position` may be a dictionary of parameters.
    """
    bad = xp.isnan(log_likelihood) | (log_likelihood == xp.inf)
    # A maximum of floats is what compilers do fast; an argmax took a third of a Gibbs sweep.
    last = xp.max(xp.where(bad, xp.arange(bad.shape[0], dtype=float), 0.0)).astype(int)
    where = jax.tree.map(lambda part: part[last], position)
    return xp.where(bad, -xp.inf, log_likelihood), xp.sum(bad), where


def accept(
    backend: Backend, state: State, proposed: State, log_correction: Any, log_uniform: Any, beta: Any
) -> tuple[State, Any]:
    """Metropolis-Hastings: the next state, and the acceptance probability of each point.

    `log_correction` is log q(old | new) - log q(new | old).
    """
    xp = backend.xp
    old = tempered(state.log_prior, state.log_likelihood, beta, xp)
    new = tempered(proposed.log_prior, proposed.log_likelihood, beta, xp)
    log_ratio = xp.where(new == -xp.inf, -xp.inf, new - old + log_correction)
    log_ratio = xp.where(xp.isnan(log_ratio), -xp.inf, log_ratio)
    take = log_uniform < log_ratio
    merged = State(
        xp.where(take[:, None], proposed.position, state.position),
        xp.where(take, proposed.log_prior, state.log_prior),
        xp.where(take, proposed.log_likelihood, state.log_likelihood),
        xp.where(take[:, None], proposed.gradient, state.gradient),
    )
    return merged, xp.exp(xp.minimum(log_ratio, 0.0))


def propose(
    backend: Backend, state: State, position: Any, log_correction: Any, log_uniform: Any, beta: Any
) -> tuple[State, Info]:
    """A gradient-free Metropolis-Hastings step to `position`: evaluate, decide, report."""
    log_prior, log_likelihood = backend.density(position)
    log_likelihood, n_bad, bad = screen(backend.xp, position, log_likelihood)
    proposed = State(position, log_prior, log_likelihood, state.gradient)
    merged, chance = accept(backend, state, proposed, log_correction, log_uniform, beta)
    return merged, Info(chance, position.shape[0], 0, n_bad, bad)


def log_uniforms(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Logarithms of uniforms, as minus exponentials (never log 0)."""
    return -rng.standard_exponential(shape)


def toward(scale: float, acceptance: float, goal: float, gain: float = 1.5) -> float:
    """The scale moved on the log axis toward the goal acceptance."""
    return float(scale * np.exp(gain * (acceptance - goal)))
