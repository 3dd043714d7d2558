"""Families of Gaussians for the variational bound: all correlations, or none.

A guide is N(m, L L') on the unconstrained vector. Its parameters are those of the map from standard noise, u = m + L z: the mean and
the entries of L that the family allows, logarithms on the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import jax.numpy as jnp
import numpy as np

from zhat.results.records import Array


class Family(Protocol):
    """Which factors L a guide may have, in coordinates that are scaled by `scale_of`."""

    def scale_of(self, covariance: Array) -> Array:
        """A factor of the covariance that the family contains: the start of the optimisation is u = m + scale z."""
        ...

    def n_parameters(self, d: int) -> int:
        """Parameters beside the mean, in d dimensions."""
        ...

    def factor(self, parameters: Any, d: int) -> Any:
        """The factor, from parameters that are zero at the start (a unit matrix); for compiled code."""
        ...


@dataclass(frozen=True)
class FullRank:
    """Any covariance matrix."""

    def scale_of(self, covariance: Array) -> Array:
        """See `Family`."""
        return np.asarray(np.linalg.cholesky(covariance), np.float64)

    def n_parameters(self, d: int) -> int:
        """See `Family`."""
        return d * (d + 1) // 2

    def factor(self, parameters: Any, d: int) -> Any:
        """See `Family`."""
        below = jnp.zeros((d, d)).at[np.tril_indices(d, -1)].set(parameters[d:])
        return below + jnp.diag(jnp.exp(parameters[:d]))


@dataclass(frozen=True)
class MeanField:
    """A diagonal covariance matrix: the coordinates are independent. For correlated posteriors the bound is loose."""

    def scale_of(self, covariance: Array) -> Array:
        """See `Family`; of all diagonal Gaussians the nearest to a Gaussian has its conditional variances."""
        return np.diag(1.0 / np.sqrt(np.diag(np.linalg.inv(covariance))))

    def n_parameters(self, d: int) -> int:
        """See `Family`."""
        return d

    def factor(self, parameters: Any, d: int) -> Any:
        """See `Family`."""
        return jnp.diag(jnp.exp(parameters))
