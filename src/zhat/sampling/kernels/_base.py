"""The kernel contract: `init` a batch of states, `step` it with noise drawn beforehand.

A kernel is a frozen, hashable object. Its noise is drawn in bulk by `noise` (NumPy), so that a step is pure arithmetic: the same
lines run compiled or in NumPy (`sampling.backend`). The target that the kernel leaves invariant (`sampling.target`) and its
tuning (location, shape, scale) are arguments, so that neither a new rung nor retuning compiles anything.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import jax
import numpy as np

from zhat.model.model import Model
from zhat.sampling.backend.backend import Backend
from zhat.sampling.state import State
from zhat.sampling.target import Target
from zhat.sampling.tuning import Scale, Tuning


class Info(NamedTuple):
    """What a step did: per point, the probability of acceptance, and the accepted share of its proposals (1 or 0 where a move makes
    one proposal); numbers of evaluations, and of likelihoods NaN or +inf.

    Samplers of tempered targets tune on the former, nested sampling on the latter.
    """

    acceptance: Any
    accepted: Any
    n_likelihood: Any
    n_gradient: Any
    n_bad: Any
    bad_position: Any


class Kernel(Protocol):
    """A Markov kernel that leaves a target invariant, for points in the unconstrained space.

    `needs_gradient` and `needs_tuning` say what it needs beyond the likelihood. With `moves_parameters` its steps take and give
    the parameters themselves instead of the vector, and read no prior; the caller transforms once before and once after.
    """

    needs_gradient: ClassVar[bool]
    needs_tuning: ClassVar[bool]
    moves_parameters: ClassVar[bool]

    def first_scale(self, n_dimensions: int) -> Scale:
        """Where tuning of the scale begins."""
        ...

    def next_scale(self, scale: Any, acceptance: Any) -> Scale:
        """The scale to use after moves with this mean acceptance; where the scale is several numbers, that of each move."""
        ...

    def noise(self, rng: np.random.Generator, n_moves: int, n: int, model: Model, target: Any) -> dict[str, Any]:
        """All randomness of `n_moves` steps of n points; leading axis `n_moves`."""
        ...

    def init(self, backend: Backend, state: State, target: Any) -> State:
        """Complete a state (its gradient, if the kernel uses one)."""
        ...

    def step(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, target: Any) -> tuple[State, Info]:
        """Move every point once."""
        ...


@runtime_checkable
class PacedKernel(Protocol):
    """A kernel whose points take different numbers of evaluations a move, so that each goes on to its own next move."""

    def steps(self, backend: Backend, state: State, noise: dict[str, Any], tuning: Tuning, target: Any) -> tuple[State, Info]:
        """Several moves of every point: states and `Info` with a leading axis of moves."""
        ...


@runtime_checkable
class CompiledKernel(Protocol):
    """A kernel that calls functions of the model which only compiled code can call: its sweeps never run on the host."""

    compiled_only: ClassVar[bool]


class TunedKernel(NamedTuple):
    """A kernel with its target and its tuning."""

    kernel: Kernel
    target: Target
    tuning: Tuning | None

    def scaled(self, scale: Any) -> TunedKernel:
        """The same with another scale."""
        return self if self.tuning is None else self._replace(tuning=self.tuning._replace(scale=np.asarray(scale, np.float64)))


def screen(xp: Any, position: Any, log_likelihood: Any) -> tuple[Any, Any, Any]:
    """The log likelihood with NaN and +inf replaced by -inf, their number, and the position of one of them.

    Compiled code cannot raise, so such a point is rejected and reported: the caller counts a NaN and raises for +inf, so that a
    point of +inf is the one reported where there is any. `position` may be a dictionary of parameters.
    """
    if xp is np and log_likelihood.size and log_likelihood.max() < np.inf:  # a NaN is not below either: nothing to replace
        return log_likelihood, 0, jax.tree.map(lambda part: part[0], position)
    infinite = log_likelihood == xp.inf
    bad = xp.isnan(log_likelihood) | infinite
    # A maximum of floats compiles to fast code; an argmax took a third of a Gibbs sweep.
    n = bad.shape[0]
    rank = xp.arange(n, dtype=float) + xp.where(infinite, float(n), 0.0)
    last = xp.max(xp.where(bad, rank, 0.0)).astype(int) % n
    where = jax.tree.map(lambda part: part[last], position)
    return xp.where(bad, -xp.inf, log_likelihood), xp.sum(bad), where


def accept(
    backend: Backend, state: State, proposed: State, log_correction: Any, log_uniform: Any, target: Target
) -> tuple[State, Any, Any]:
    """Metropolis-Hastings: the next state, the acceptance probability of each point, and whether it moved.

    `log_correction` is log q(old | new) - log q(new | old).
    """
    xp = backend.xp
    old, new = target.log_density(state, xp), target.log_density(proposed, xp)
    log_ratio = xp.where(new == -xp.inf, -xp.inf, new - old + log_correction)
    log_ratio = xp.where(xp.isnan(log_ratio), -xp.inf, log_ratio)
    take = log_uniform < log_ratio
    return proposed.chosen(take, state, xp), xp.exp(xp.minimum(log_ratio, 0.0)), take


def propose(
    backend: Backend, state: State, position: Any, log_correction: Any, log_uniform: Any, target: Target
) -> tuple[State, Info]:
    """A gradient-free Metropolis-Hastings step to `position`: evaluate, decide, report."""
    log_prior, log_likelihood = backend.density(position)
    log_likelihood, n_bad, bad = screen(backend.xp, position, log_likelihood)
    proposed = State(position=position, log_prior=log_prior, log_likelihood=log_likelihood)
    merged, chance, take = accept(backend, state, proposed, log_correction, log_uniform, target)
    return merged, Info(chance, 1.0 * take, position.shape[0], 0, n_bad, bad)


def log_uniforms(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Logarithms of uniforms, as minus exponentials (never log 0)."""
    return -rng.standard_exponential(shape)


def toward(scale: float, acceptance: float, goal: float, gain: float = 1.5) -> float:
    """The scale moved on the log axis toward the goal acceptance."""
    return float(scale * np.exp(gain * (acceptance - goal)))
