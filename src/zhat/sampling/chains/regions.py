"""Densities with light tails for reciprocal importance sampling, fitted to draws and fixed thereafter.

* `TruncatedNormal` (Geweke 1999): a normal with the draws' mean and covariance, cut off at the ellipsoid that holds the share `p` of
  it. If the posterior is normal, the weight is constant inside, and its relative variance is 1/p - 1. If it is skewed, the weight
  grows toward one side of the ellipsoid: then a smaller one is better. By default the largest of three is taken whose weights, at
  the draws that it is fitted to, have a light tail.
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
from zhat.kinds import checked_kinds
from zhat.numerics.weights import pareto_k
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

    def fitted(self, position: Array, log_posterior: Array) -> tuple[Region, ...]:
        """Members fitted to these draws with their densities (up to Z): the first for the answer, the others to compare it with."""
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


# Shares of a normal, largest first, and the tail index of the weights above which the next one is tried: well below the limit of
# 0.5 on the draws that are averaged, because k is uncertain by about 0.1.
SHARES = (0.9, 0.7, 0.5, 0.3)
LIGHT_TAIL = 0.3


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
        mean, covariance = moments(position)
        d = len(mean)

        def cut(share: float) -> _Cut:
            return _Cut(mean, covariance, float(chdtri(d, 1.0 - share)), share)

        chosen = SHARES[-1] if self.p is None else self.p
        for share in SHARES if self.p is None else ():
            if pareto_k(cut(share).log_density(position) - log_posterior) < LIGHT_TAIL:
                chosen = share
                break
        return tuple(cut(share) for share in (chosen, chosen * 5.0 / 6.0, chosen * 5.0 / 9.0))


@dataclass(frozen=True)
class Ellipsoid:
    """Uniform on the ellipsoid with the draws' centre and shape and the radius sqrt(d + 1) (THAMES)."""

    def fitted(self, position: Array, log_posterior: Array) -> tuple[Region, ...]:
        """See `RegionFamily`; the others have nine and eight tenths of the radius's square."""
        mean, covariance = moments(position)
        squared = len(mean) + 1.0
        return tuple(_Uniform(mean, covariance, share * squared) for share in (1.0, 0.9, 0.8))


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
        mean, covariance = moments(position)
        return tuple(Gaussian(mean, share * self.scale * covariance) for share in (1.0, 0.9, 0.8))


def _squared_distance(position: Array, mean: Array, covariance: Array) -> Array:
    z = np.linalg.solve(np.linalg.cholesky(covariance), (position - mean).T)
    return np.asarray(np.einsum("ij,ij->j", z, z))
