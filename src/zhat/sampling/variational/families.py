"""Families of guides for the variational bound: Gaussians with all correlations or none; a flow has a file of its own.

A guide is N(m, L L') on the unconstrained vector. Its parameters are those of the map from standard noise, u = m + L z: the mean and
the entries of L that the family allows, logarithms on the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import jax.numpy as jnp
import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.loop import Loop
from zhat.sampling.variational.guide import Guide, Start, fit
from zhat.seeding import Key


class Family(Protocol):
    """A family of guides."""

    def fitted(self, model: Model, starts: list[Start], tolerance: float, key: Key, loop: Loop) -> Guide | None:
        """The guide with the highest bound over all starts, to `tolerance` nats; None where no bound is finite."""
        ...


@dataclass(frozen=True)
class FullRank:
    """Any covariance matrix."""

    def scale_of(self, covariance: Array) -> Array:
        """See `Factors`."""
        return np.asarray(np.linalg.cholesky(covariance), np.float64)

    def n_parameters(self, d: int) -> int:
        """See `Factors`."""
        return d * (d + 1) // 2

    def factor(self, parameters: Any, d: int) -> Any:
        """See `Factors`."""
        below = jnp.zeros((d, d)).at[np.tril_indices(d, -1)].set(parameters[d:])
        return below + jnp.diag(jnp.exp(parameters[:d]))

    def fitted(self, model: Model, starts: list[Start], tolerance: float, key: Key, loop: Loop) -> Guide | None:
        """See `Family`."""
        return fit(model, self, starts, tolerance, key, loop)


@dataclass(frozen=True)
class MeanField:
    """A diagonal covariance matrix: the coordinates are independent. For correlated posteriors the bound is loose."""

    def scale_of(self, covariance: Array) -> Array:
        """See `Factors`; of all diagonal Gaussians the nearest to a Gaussian has its conditional variances."""
        return np.diag(1.0 / np.sqrt(np.diag(np.linalg.inv(covariance))))

    def n_parameters(self, d: int) -> int:
        """See `Factors`."""
        return d

    def factor(self, parameters: Any, d: int) -> Any:
        """See `Factors`."""
        return jnp.diag(jnp.exp(parameters))

    def fitted(self, model: Model, starts: list[Start], tolerance: float, key: Key, loop: Loop) -> Guide | None:
        """See `Family`."""
        return fit(model, self, starts, tolerance, key, loop)
