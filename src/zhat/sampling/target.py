"""Targets: the densities that kernels leave invariant, as functions of log prior and log likelihood.

A kernel is written once against a target, and serves tempering (`Tempered`), nested sampling (`AboveLikelihood`) and local moves
of a region (`AboveReference`) alike. Targets are tuples of arrays, so that compiled code takes them as arguments: another inverse
temperature or threshold compiles nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from zhat.sampling.state import State
from zhat.sampling.tuning import Tuning


class Target(Protocol):
    """A density, up to a constant."""

    def log_density(self, state: State, xp: Any) -> Any:
        """The log density at each point, -inf where the target has no mass."""
        ...

    def smooth(self, log_prior: Any, log_likelihood: Any) -> Any:
        """The log density at one point without its cut-offs, for kernels that differentiate it."""
        ...


class Tempered(NamedTuple):
    """prior x likelihood^beta, from the prior (beta = 0) to the posterior (beta = 1)."""

    beta: Any

    def log_density(self, state: State, xp: Any) -> Any:
        """See `Target`."""
        return tempered(state.log_prior, state.log_likelihood, self.beta, xp)

    def smooth(self, log_prior: Any, log_likelihood: Any) -> Any:
        """See `Target`."""
        return log_prior + self.beta * log_likelihood


class AboveLikelihood(NamedTuple):
    """The prior where the log likelihood exceeds a threshold, and nothing elsewhere: what nested sampling draws from."""

    threshold: Any

    def log_density(self, state: State, xp: Any) -> Any:
        """See `Target`."""
        return xp.where(state.log_likelihood > self.threshold, state.log_prior, -xp.inf)

    def smooth(self, log_prior: Any, log_likelihood: Any) -> Any:
        """See `Target`."""
        return log_prior


class AboveReference(NamedTuple):
    """prior x likelihood^beta within a region: where its log is at least `floor` above the log of a reference density.

    The reference is the Student t of `frame`; points are in equal blocks, each with its own frame and floor. A reversible
    kernel for this target leaves prior x likelihood^beta invariant if the points outside the region stay where they are.
    """

    beta: Any
    floor: Any  # (K,)
    frame: Tuning

    def log_density(self, state: State, xp: Any) -> Any:
        """See `Target`."""
        log_density = tempered(state.log_prior, state.log_likelihood, self.beta, xp)
        height = log_density - self.frame.log_frame(state.position, xp)
        inside = (height.reshape(len(self.floor), -1) >= self.floor[:, None]).reshape(-1)
        return xp.where(inside, log_density, -xp.inf)

    def smooth(self, log_prior: Any, log_likelihood: Any) -> Any:
        """See `Target`."""
        return log_prior + self.beta * log_likelihood


def tempered(log_prior: Any, log_likelihood: Any, beta: Any, xp: Any) -> Any:
    """Log of prior x likelihood^beta, up to a constant.

    A point of zero likelihood has zero density at every beta (0 x -inf never arises): at beta = 0 exactly, points are drawn from
    the prior itself and this function is not used.
    """
    return xp.where(log_likelihood == -xp.inf, -xp.inf, log_prior + beta * log_likelihood)
