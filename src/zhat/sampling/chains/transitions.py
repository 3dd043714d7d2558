"""Proposal densities q(x, x') of a Metropolis-Hastings step, fitted to draws and fixed thereafter, which can be drawn from and evaluated.

A transition moves some coordinates of an unconstrained vector (a block, or all) and leaves the others. There are two families:

* `Independent`: a Student t that does not depend on the present value of the block, only (linearly) on the other coordinates. For a
  whole vector it may be a mixture of t's, if that has the higher likelihood on draws that were not used in the fit.
* `Walk`: Gaussian random-walk steps, with the covariance of the draws.

Both are settings; `fitted` to draws they give a `Transition`. NumPy only, so they serve black boxes too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from zhat.errors import BadInput
from zhat.kinds import checked_kinds
from zhat.results.records import Array
from zhat.sampling.importance.proposals import WIDEN, Mixture, Proposal, StudentT, fitted

Columns = NDArray[np.int64]
HEAVY, LIGHT = 5.0, 50.0


class Transition(Protocol):
    """A fitted proposal density."""

    @property
    def is_independent(self) -> bool:
        """Whether proposals are independent of the present vector."""
        ...

    def draw(self, rng: np.random.Generator, origin: Array) -> Array:
        """One proposal from each of n vectors: (n, d)."""
        ...

    def log_density(self, origin: Array, target: Array) -> Array:
        """Log density of proposing the block of each target from each origin: (n,)."""
        ...


class TransitionFamily(Protocol):
    """A family of proposals, before it is fitted to draws."""

    def fitted(self, position: Array, columns: Columns, rng: np.random.Generator) -> Transition:
        """The member of the family fitted to these (n, d) draws, for these coordinates."""
        ...


@dataclass(frozen=True)
@checked_kinds
class Independent:
    """Proposals from a Student t fitted to the draws, given the coordinates outside the block."""

    degrees_of_freedom: float = HEAVY

    def __post_init__(self) -> None:
        """Check the tail."""
        if not self.degrees_of_freedom > 2:
            raise BadInput(f"Independent(degrees_of_freedom={self.degrees_of_freedom}): give more than 2, to have a covariance.")

    def fitted(self, position: Array, columns: Columns, rng: np.random.Generator) -> Transition:
        """See `TransitionFamily`."""
        if len(columns) < position.shape[1]:
            mean, covariance = moments(position)
            regression, rest = conditional_moments(covariance, columns)
            return Linear(columns, mean, regression, rest, self.degrees_of_freedom)
        return Anywhere(best_density(position, self.degrees_of_freedom, rng))


@dataclass(frozen=True)
@checked_kinds
class Walk:
    """Gaussian steps with the draws' covariance times `scale` squared (2.38 / sqrt(size of the block) when not given)."""

    scale: float | None = None

    def __post_init__(self) -> None:
        """Check the scale."""
        if self.scale is not None and not self.scale > 0:
            raise BadInput(f"Walk(scale={self.scale}): must be above zero.")

    def fitted(self, position: Array, columns: Columns, rng: np.random.Generator) -> Transition:
        """See `TransitionFamily`."""
        mean, covariance = moments(position)
        _, rest = conditional_moments(covariance, columns)
        scale = self.scale or 2.38 / np.sqrt(len(columns))
        stay = np.zeros((len(columns), position.shape[1]))
        stay[np.arange(len(columns)), columns] = 1.0
        return Linear(columns, mean, stay, scale**2 * rest, np.inf)


@dataclass(frozen=True)
class Linear:
    """A t (or normal) whose centre is linear in the origin: mean + regression (origin - mean)."""

    columns: Columns
    mean: Array  # (d,)
    regression: Array  # (size of block, d)
    scale: Array  # (size of block, size of block)
    degrees_of_freedom: float

    @property
    def is_independent(self) -> bool:
        """See `Transition`."""
        return not self.regression.any()

    def draw(self, rng: np.random.Generator, origin: Array) -> Array:
        """See `Transition`."""
        steps = rng.standard_normal((len(origin), len(self.columns))) @ np.linalg.cholesky(self.scale).T
        if np.isfinite(self.degrees_of_freedom):
            half = 0.5 * self.degrees_of_freedom
            steps = steps * np.sqrt(half / rng.standard_gamma(half, (len(origin), 1)))
        target = origin.copy()
        target[:, self.columns] = self._centre(origin) + steps
        return target

    def log_density(self, origin: Array, target: Array) -> Array:
        """See `Transition`."""
        factor = np.linalg.cholesky(self.scale)
        gap = target[:, self.columns] - self._centre(origin)
        squared = np.sum(np.linalg.solve(factor, gap.T) ** 2, axis=0)
        k, nu = len(self.columns), self.degrees_of_freedom
        log_determinant = float(np.log(np.diag(factor)).sum())
        if not np.isfinite(nu):
            return np.asarray(-0.5 * squared - log_determinant - 0.5 * k * np.log(2 * np.pi))
        constant = gammaln(0.5 * (nu + k)) - gammaln(0.5 * nu) - 0.5 * k * np.log(nu * np.pi)
        return np.asarray(constant - log_determinant - 0.5 * (nu + k) * np.log1p(squared / nu))

    def _centre(self, origin: Array) -> Array:
        return self.mean[self.columns] + (origin - self.mean) @ self.regression.T


@dataclass(frozen=True)
class Anywhere:
    """The whole vector from one density, independent of its present value."""

    density: Proposal
    is_independent: bool = True

    def draw(self, rng: np.random.Generator, origin: Array) -> Array:
        """See `Transition`; in random order, since a mixture draws component by component and rows are read as a series."""
        return np.asarray(rng.permutation(self.density.draw(rng, len(origin))))

    def log_density(self, origin: Array, target: Array) -> Array:
        """See `Transition`."""
        return self.density.log_density(target)


def moments(position: Array) -> tuple[Array, Array]:
    """Mean and covariance of draws, the latter with a floor, so that it is positive also for a coordinate that does not vary."""
    covariance = np.atleast_2d(np.cov(position.T))
    variance = np.diag(covariance)
    floor = max(1e-12 * float(variance.max()), 1e-20)
    return position.mean(axis=0), covariance + np.diag(np.where(variance < floor, floor, 1e-9 * variance))


def conditional_moments(covariance: Array, columns: Columns) -> tuple[Array, Array]:
    """Regression of a normal block on the other coordinates, (k, d) with zeros for its own, and the conditional covariance."""
    d = len(covariance)
    others = np.setdiff1d(np.arange(d), columns)
    regression = np.zeros((len(columns), d))
    rest = covariance[np.ix_(columns, columns)]
    if len(others):
        cross = covariance[np.ix_(columns, others)]
        regression[:, others] = np.linalg.solve(covariance[np.ix_(others, others)], cross.T).T
        rest = rest - regression[:, others] @ cross.T
        rest = 0.5 * (rest + rest.T)
    return regression, rest


def best_density(position: Array, degrees_of_freedom: float, rng: np.random.Generator) -> Proposal:
    """The t or mixture of t's with the highest likelihood on draws that were held out of the fit."""
    order = rng.permutation(len(position))
    kept_back, used = position[order[: len(order) // 4]], position[order[len(order) // 4 :]]
    mean, covariance = moments(used)
    candidates: list[Proposal] = [
        StudentT(mean, covariance * (nu - 2.0) / nu, nu) for nu in (degrees_of_freedom, max(LIGHT, degrees_of_freedom))
    ]
    for n_components in (2, 4, 8):
        try:
            mixture = fitted(used, np.ones(len(used)), n_components, degrees_of_freedom, rng)
        except BadInput:  # the covariance of the draws is singular
            break
        assert isinstance(mixture, Mixture)
        candidates.append(_narrowed(mixture))
    scores = [float(np.mean(candidate.log_density(kept_back))) for candidate in candidates]
    return candidates[int(np.argmax(np.nan_to_num(scores, nan=-np.inf)))]


def _narrowed(mixture: Mixture) -> Mixture:
    """Without the widening that importance weights need: an acceptance probability is bounded on both sides."""
    parts = tuple(replace(part, scale=part.scale / WIDEN) for part in mixture.components if isinstance(part, StudentT))
    return Mixture(parts, mixture.shares)
