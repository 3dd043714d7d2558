"""Densities with light tails for reciprocal importance sampling, fitted to draws and fixed thereafter.

* `TruncatedNormal` (Geweke 1999): a normal with the draws' mean and covariance, cut off at the ellipsoid that holds the share `p` of
  it. If the posterior is normal, the weight is constant inside, and its relative variance is 1/p - 1. If it is skewed, the weight
  grows toward one side of the ellipsoid: then a smaller one is better. By default the largest of four is taken whose weights, at
  the draws that it is fitted to, have a light tail.
* `Ellipsoid` (THAMES, Metodiev et al. 2024): uniform on the ellipsoid of radius sqrt(d + 1).
* `Tight` (Gelfand & Dey 1994): a normal with the draws' covariance times `scale`; the variance of the weights is infinite from two
  on, and grows like a power of the dimension.

Each is fitted in coordinates in which skewed marginals are nearly normal (`numerics.draws.marginals`): ellipsoids overhang the steep side of
a skewed one, and the weights explode there.

Each gives several densities: the first for the answer, the others, fitted to the same draws, to compare it with: the identity holds
for every one of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.special import chdtri, gammaln

from zhat.errors import BadInput
from zhat.kinds import checked_kinds
from zhat.numerics.draws.marginals import Marginals, normal_marginals
from zhat.numerics.weights import pareto_k
from zhat.results.records import Array
from zhat.sampling.chains.transitions import moments
from zhat.sampling.importance.proposals import Gaussian


class Region(Protocol):
    """A normalised density; -inf outside of its support."""

    def log_density(self, position: Array) -> Array:
        """Log density at n points (n, d)."""
        ...

    def refitted(self, position: Array) -> Region | None:
        """The same density fitted to other draws; None where a fit is expensive."""
        ...


class RegionFamily(Protocol):
    """A family of such densities, before it is fitted to draws."""

    def fitted(self, position: Array, log_posterior: Array) -> tuple[Region, ...]:
        """Members fitted to these draws with their densities (up to Z): the first for the answer, the others to compare it with."""
        ...


class Shape(Protocol):
    """A density with a given mean and covariance."""

    def log_density(self, y: Array, mean: Array, covariance: Array) -> Array:
        """Log density at n points (n, d)."""
        ...


@dataclass(frozen=True)
class Fitted:
    """A shape in coordinates of nearly normal marginals, with the mean and covariance of the draws there."""

    shape: Shape
    marginals: Marginals
    mean: Array
    covariance: Array

    @staticmethod
    def to(position: Array, shape: Shape) -> Fitted:
        """The density fitted to draws."""
        marginals = normal_marginals(position)
        return Fitted(shape, marginals, *moments(marginals.forward(position)[0]))

    def log_density(self, position: Array) -> Array:
        """See `Region`."""
        y, log_slope = self.marginals.forward(position)
        return np.asarray(self.shape.log_density(y, self.mean, self.covariance) + log_slope)

    def refitted(self, position: Array) -> Fitted:
        """See `Region`."""
        return Fitted.to(position, self.shape)


@dataclass(frozen=True)
class _Cut:
    """A normal inside of the ellipsoid that holds the share `share` of it."""

    share: float

    def log_density(self, y: Array, mean: Array, covariance: Array) -> Array:
        inside = _squared_distance(y, mean, covariance) <= float(chdtri(len(mean), 1.0 - self.share))
        return np.where(inside, Gaussian(mean, covariance).log_density(y) - np.log(self.share), -np.inf)


@dataclass(frozen=True)
class _Uniform:
    """Uniform inside of the ellipsoid whose squared radius is this part of d + 1."""

    part: float

    def log_density(self, y: Array, mean: Array, covariance: Array) -> Array:
        d = len(mean)
        squared = self.part * (d + 1.0)
        _, log_determinant = np.linalg.slogdet(covariance)
        log_volume = 0.5 * (d * np.log(np.pi * squared) + log_determinant) - gammaln(0.5 * d + 1.0)
        return np.where(_squared_distance(y, mean, covariance) <= squared, -log_volume, -np.inf)


@dataclass(frozen=True)
class _Scaled:
    """A normal with the covariance times `scale`."""

    scale: float

    def log_density(self, y: Array, mean: Array, covariance: Array) -> Array:
        return np.asarray(Gaussian(mean, self.scale * covariance).log_density(y))


# Shares of a normal, largest first, and the tail index of the weights above which the next one is tried. k of 2,000 draws has a standard
# error of 0.1, that of the draws of the fit and that of the draws that are averaged differ by 0.14: two of these below the limit of 0.5.
SHARES = (0.9, 0.7, 0.5, 0.3)
LIGHT_TAIL = 0.2


@dataclass(frozen=True)
@checked_kinds
class TruncatedNormal:
    """A normal with the draws' mean and covariance, cut off at the ellipsoid that holds the share `p` of it.

    Without `p` the largest of 0.9, 0.7, 0.5 and 0.3 whose weights have a light tail at the draws that it is fitted to.
    """

    p: float | None = None

    def __post_init__(self) -> None:
        """Check the share."""
        if self.p is not None and not 0.0 < self.p < 1.0:
            raise BadInput(
                f"TruncatedNormal(p={self.p}): the share of the normal that is kept is between 0 and 1, for example 0.9."
            )

    def fitted(self, position: Array, log_posterior: Array) -> tuple[Region, ...]:
        """See `RegionFamily`; the others hold five sixths and five ninths of the share."""
        fitted = Fitted.to(position, _Cut(SHARES[-1]))
        chosen = SHARES[-1] if self.p is None else self.p
        for share in SHARES if self.p is None else ():
            if pareto_k(replace(fitted, shape=_Cut(share)).log_density(position) - log_posterior) < LIGHT_TAIL:
                chosen = share
                break
        return tuple(replace(fitted, shape=_Cut(share)) for share in (chosen, chosen * 5.0 / 6.0, chosen * 5.0 / 9.0))


@dataclass(frozen=True)
class Ellipsoid:
    """Uniform on the ellipsoid with the draws' centre and shape and the radius sqrt(d + 1) (THAMES)."""

    def fitted(self, position: Array, log_posterior: Array) -> tuple[Region, ...]:
        """See `RegionFamily`; the others have nine and eight tenths of the radius's square."""
        fitted = Fitted.to(position, _Uniform(1.0))
        return tuple(replace(fitted, shape=_Uniform(part)) for part in (1.0, 0.9, 0.8))


@dataclass(frozen=True)
@checked_kinds
class Tight:
    """A normal with the draws' mean and their covariance times `scale`, below one (Gelfand & Dey 1994)."""

    scale: float = 0.8

    def __post_init__(self) -> None:
        """Check the scale."""
        if not 0.0 < self.scale <= 1.0:
            raise BadInput(
                f"Tight(scale={self.scale}): the density must have lighter tails than the posterior, or the variance of the weights "
                "may be infinite; give a factor of the covariance between 0 and 1."
            )

    def fitted(self, position: Array, log_posterior: Array) -> tuple[Region, ...]:
        """See `RegionFamily`; the others have nine and eight tenths of the scale."""
        fitted = Fitted.to(position, _Scaled(self.scale))
        return tuple(replace(fitted, shape=_Scaled(part * self.scale)) for part in (1.0, 0.9, 0.8))


def _squared_distance(position: Array, mean: Array, covariance: Array) -> Array:
    z = np.linalg.solve(np.linalg.cholesky(covariance), (position - mean).T)
    return np.asarray(np.einsum("ij,ij->j", z, z))
