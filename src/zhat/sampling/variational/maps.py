"""Maps from standard normal noise to draws of a guide: affine for a Gaussian, a flow otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from zhat.results.records import Array
from zhat.sampling.importance.proposals import Proposal, StudentT


class Map(Protocol):
    """An invertible map u = f(z); the guide is the density of u for standard normal z."""

    @property
    def n_dimensions(self) -> int:
        """Of z, and of u."""
        ...

    @property
    def is_regular(self) -> bool:
        """Whether the map can be inverted in floating-point arithmetic."""
        ...

    def forward(self, noise: Array) -> tuple[Array, Array]:
        """u of every row z, and log |du/dz|."""
        ...

    def inverse(self, position: Array) -> tuple[Array, Array]:
        """z of every row u, and log |du/dz| there."""
        ...

    def heavy_tailed(self, degrees_of_freedom: float, widen: float) -> Proposal:
        """The guide with a Student t, its scale matrix times `widen`, in place of the normal noise."""
        ...


@dataclass(frozen=True)
class Affine:
    """u = centre + factor z: a Gaussian."""

    centre: Array
    factor: Array

    @property
    def n_dimensions(self) -> int:
        """See `Map`."""
        return len(self.centre)

    @property
    def is_regular(self) -> bool:
        """See `Map`; a bound that has run away leaves a singular covariance."""
        try:
            np.linalg.cholesky(self.covariance)
        except np.linalg.LinAlgError:
            return False
        return True

    @property
    def covariance(self) -> Array:
        """Of the Gaussian."""
        covariance = self.factor @ self.factor.T
        return np.asarray(0.5 * (covariance + covariance.T))

    def forward(self, noise: Array) -> tuple[Array, Array]:
        """See `Map`."""
        return self.centre + noise @ self.factor.T, np.full(len(noise), self._log_determinant)

    def inverse(self, position: Array) -> tuple[Array, Array]:
        """See `Map`."""
        noise = (position - self.centre) @ np.linalg.inv(self.factor).T
        return np.asarray(noise), np.full(len(position), self._log_determinant)

    def heavy_tailed(self, degrees_of_freedom: float, widen: float) -> Proposal:
        """See `Map`."""
        return StudentT(self.centre, widen * self.covariance, degrees_of_freedom)

    @property
    def _log_determinant(self) -> float:
        return float(np.linalg.slogdet(self.factor)[1])


@dataclass(frozen=True)
class Mapped:
    """A proposal of noise through a map."""

    noise: Proposal
    map: Map

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """See `Proposal`."""
        return self.map.forward(self.noise.draw(rng, n))[0]

    def log_density(self, position: Array) -> Array:
        """See `Proposal`."""
        noise, log_slope = self.map.inverse(position)
        reached = np.isfinite(noise).all(axis=1) & np.isfinite(log_slope)
        log_density = np.full(len(position), -np.inf)
        log_density[reached] = self.noise.log_density(noise[reached]) - log_slope[reached]
        return log_density
