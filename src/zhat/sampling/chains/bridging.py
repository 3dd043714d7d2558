"""Densities that bridge sampling compares with the posterior, fitted to draws and fixed thereafter.

* `FittedNormal`, `FittedT`: a normal or a Student t with the draws' mean and covariance.
* `WarpIII` (Meng & Schilling 2002): the posterior is made symmetric instead. With m and L L' the draws' mean and covariance, the
  density (p(theta) + p(2m - theta)) / 2 has the same integral as p and is symmetric about m; it is compared with a normal. Skewness,
  which a normal cannot follow, is gone. Every point costs two evaluations.
* `FittedMixture`: a mixture of t's, or one t, whichever has the highest likelihood on draws that were held out of the fit; for
  several modes, each of which the draws visit.

Each is a setting; fitted to (n, d) draws it gives a `Bridging`: draws of its own, and log ratios of the posterior to it. All work on
the unconstrained vector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from zhat.errors import BadInput
from zhat.kinds import checked_kinds
from zhat.results.records import Array
from zhat.sampling.chains.transitions import HEAVY, best_density, moments
from zhat.sampling.importance.proposals import Gaussian, Proposal, StudentT

# The log posterior density, up to log Z, at n points.
LogTarget = Callable[[Array], Array]


class Bridging(Protocol):
    """A density fitted to draws, and how the posterior is compared with it."""

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """n points of it, (n, d)."""
        ...

    def log_ratios(self, position: Array, log_target: Array | None, target: LogTarget) -> Array:
        """Log of posterior (times Z) over this density at n points; `log_target` is the former's log density, where it is known."""
        ...


class BridgingFamily(Protocol):
    """A family of such densities, before it is fitted to draws."""

    def fitted(self, position: Array, rng: np.random.Generator) -> Bridging:
        """The member fitted to these draws."""
        ...


@dataclass(frozen=True)
class Plain:
    """A proposal, compared with the posterior as it is."""

    density: Proposal

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """See `Bridging`."""
        return self.density.draw(rng, n)

    def log_ratios(self, position: Array, log_target: Array | None, target: LogTarget) -> Array:
        """See `Bridging`."""
        return _ratio(target(position) if log_target is None else log_target, self.density.log_density(position))


@dataclass(frozen=True)
class Reflected:
    """A normal, compared with the mean of the posterior and its reflection at the normal's centre."""

    density: Gaussian

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """See `Bridging`."""
        return self.density.draw(rng, n)

    def log_ratios(self, position: Array, log_target: Array | None, target: LogTarget) -> Array:
        """See `Bridging`."""
        here = target(position) if log_target is None else log_target
        both = np.logaddexp(here, target(2.0 * self.density.mean - position)) - np.log(2.0)
        return _ratio(both, self.density.log_density(position))


@dataclass(frozen=True)
class FittedNormal:
    """A normal with the mean and covariance of the draws."""

    def fitted(self, position: Array, rng: np.random.Generator) -> Bridging:
        """See `BridgingFamily`."""
        return Plain(Gaussian(*moments(position)))


@dataclass(frozen=True)
@checked_kinds
class FittedT:
    """A Student t with the mean and covariance of the draws."""

    degrees_of_freedom: float = HEAVY

    def __post_init__(self) -> None:
        """Check the tail."""
        if not self.degrees_of_freedom > 2:
            raise BadInput(f"FittedT(degrees_of_freedom={self.degrees_of_freedom}): give more than 2, to have a covariance.")

    def fitted(self, position: Array, rng: np.random.Generator) -> Bridging:
        """See `BridgingFamily`."""
        nu = self.degrees_of_freedom
        mean, covariance = moments(position)
        return Plain(StudentT(mean, covariance * (nu - 2.0) / nu, nu))


@dataclass(frozen=True)
class WarpIII:
    """A normal with the mean and covariance of the draws, compared with the posterior made symmetric about that mean."""

    def fitted(self, position: Array, rng: np.random.Generator) -> Bridging:
        """See `BridgingFamily`."""
        return Reflected(Gaussian(*moments(position)))


@dataclass(frozen=True)
@checked_kinds
class FittedMixture:
    """A Student t, or a mixture of up to eight, whichever describes held-out draws best."""

    degrees_of_freedom: float = HEAVY

    def __post_init__(self) -> None:
        """Check the tail."""
        if not self.degrees_of_freedom > 2:
            raise BadInput(
                f"FittedMixture(degrees_of_freedom={self.degrees_of_freedom}): give more than 2, to have a covariance."
            )

    def fitted(self, position: Array, rng: np.random.Generator) -> Bridging:
        """See `BridgingFamily`."""
        return Plain(best_density(position, self.degrees_of_freedom, rng))


def _ratio(log_target: Array, log_density: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(log_target == -np.inf, -np.inf, log_target - log_density))
