"""Densities with light tails for reciprocal importance sampling, fitted to draws and fixed thereafter.

* `TruncatedNormal` (Geweke 1999): a normal with the draws' mean and covariance, cut off at the ellipsoid that holds the share `p` of
  it. If the posterior is normal, the weight is constant inside, and its relative variance is 1/p - 1.
* `Ellipsoid` (THAMES, Metodiev et al. 2024): uniform on the ellipsoid of radius sqrt(d + 1).
* `Tight` (Gelfand & Dey 1994): a normal with the draws' covariance times `scale`; the variance of the weights is infinite from two
  on, and grows like a power of the dimension.

Each gives several densities: the first for the answer, the others, fitted to the same draws, to compare it with: the identity holds
for every one of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import chdtri, gammaln

from zhat.errors import BadInput
from zhat.results.records import Array
from zhat.sampling.chains.transitions import moments
from zhat.sampling.importance.proposals import Gaussian


class Region(Protocol):
    """A normalised density; -inf outside of its support."""

    def log_density(self, position: Array) -> Array:
        """Log density at n points (n, d)."""
        ...


class RegionFamily(Protocol):
    """A family of such densities, before it is fitted to draws."""

    def fitted(self, position: Array) -> tuple[Region, ...]:
        """Members fitted to these draws: the first for the answer, the others to compare it with."""
        ...


@dataclass(frozen=True)
class _Cut:
    """A normal inside of an ellipsoid of squared radius `squared`, which holds the share `share` of it."""

    mean: Array
    covariance: Array
    squared: float
    share: float

    def log_density(self, position: Array) -> Array:
        """See `Region`."""
        inside = _squared_distance(position, self.mean, self.covariance) <= self.squared
        log_density = Gaussian(self.mean, self.covariance).log_density(position) - np.log(self.share)
        return np.asarray(np.where(inside, log_density, -np.inf))


@dataclass(frozen=True)
class _Uniform:
    """Uniform inside of an ellipsoid of squared radius `squared`."""

    mean: Array
    covariance: Array
    squared: float

    def log_density(self, position: Array) -> Array:
        """See `Region`."""
        d = len(self.mean)
        _, log_determinant = np.linalg.slogdet(self.covariance)
        log_volume = 0.5 * (d * np.log(np.pi * self.squared) + log_determinant) - gammaln(0.5 * d + 1.0)
        inside = _squared_distance(position, self.mean, self.covariance) <= self.squared
        return np.asarray(np.where(inside, -log_volume, -np.inf))


@dataclass(frozen=True)
class TruncatedNormal:
    """A normal with the draws' mean and covariance, cut off at the ellipsoid that holds the share `p` of it."""

    p: float = 0.9

    def __post_init__(self) -> None:
        """Check the share."""
        if not 0.0 < self.p < 1.0:
            raise BadInput(f"TruncatedNormal(p={self.p}): the share of the normal that is kept is between 0 and 1; 0.9 is the default.")

    def fitted(self, position: Array) -> tuple[Region, ...]:
        """See `RegionFamily`; the others hold five sixths and five ninths of the share."""
        mean, covariance = moments(position)
        d = len(mean)
        shares = (self.p, self.p * 5.0 / 6.0, self.p * 5.0 / 9.0)
        return tuple(_Cut(mean, covariance, float(chdtri(d, 1.0 - share)), share) for share in shares)


@dataclass(frozen=True)
class Ellipsoid:
    """Uniform on the ellipsoid with the draws' centre and shape and the radius sqrt(d + 1) (THAMES)."""

    def fitted(self, position: Array) -> tuple[Region, ...]:
        """See `RegionFamily`; the others have nine and eight tenths of the radius's square."""
        mean, covariance = moments(position)
        squared = len(mean) + 1.0
        return tuple(_Uniform(mean, covariance, share * squared) for share in (1.0, 0.9, 0.8))


@dataclass(frozen=True)
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

    def fitted(self, position: Array) -> tuple[Region, ...]:
        """See `RegionFamily`; the others have nine and eight tenths of the scale."""
        mean, covariance = moments(position)
        return tuple(Gaussian(mean, share * self.scale * covariance) for share in (1.0, 0.9, 0.8))


def _squared_distance(position: Array, mean: Array, covariance: Array) -> Array:
    z = np.linalg.solve(np.linalg.cholesky(covariance), (position - mean).T)
    return np.asarray(np.einsum("ij,ij->j", z, z))
