"""Tuning of a kernel: mean and covariance of the present draws, estimated with weights, and a scale."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zhat.results.records import Array

# Degrees of freedom of the Student t fitted to the draws: tails heavy enough for most posteriors.
FRAME_DEGREES = 5
# Above so many dimensions, fewer effective draws than dimensions shape the steps by their widths alone: with correlations among fewer draws than
# dimensions, shrunk as below, the steps of a white target have a condition number of 4, and each costs a product with a matrix.
MANY_DIMENSIONS = 100
# One number to tune, or one for each kind of move that a kernel makes.
Scale = float | Array


class Tuning(NamedTuple):
    """Mean of the present draws, Cholesky factor of their covariance and its inverse; and the scale of the kernel.

    The points of a batch are in equal blocks (islands), and each block has its own mean and factor: leading axis K. Where there are
    fewer draws than dimensions, the covariance is diagonal, and so are factor and inverse.
    """

    mean: Any  # (K, d)
    factor: Any  # (K, d, d), or (K, d): a diagonal
    inverse: Any  # the same
    scale: Any

    def whiten(self, position: Any) -> Any:
        """Coordinates in which each block's draws have mean zero and unit covariance."""
        k, d = self.mean.shape
        centred = position.reshape(k, -1, d) - self.mean[:, None, :]
        return _times(centred, self.inverse, transposed=True).reshape(-1, d)

    def shape(self, z: Any) -> Any:
        """White steps in the shape of each block's draws; the inverse of `whiten` but for the mean."""
        k, d = self.mean.shape
        return _times(z.reshape(k, -1, d), self.factor, transposed=True).reshape(-1, d)

    def place(self, z: Any) -> Any:
        """The points whose white coordinates are z."""
        k, d = self.mean.shape
        return (self.shape(z).reshape(k, -1, d) + self.mean[:, None, :]).reshape(-1, d)

    def log_frame(self, position: Any, xp: Any) -> Any:
        """The log density, up to a constant, of a Student t with this mean and shape, each point under its block's."""
        k, d = self.mean.shape
        white = self.whiten(position)
        radius = xp.einsum("ij,ij->i", white, white).reshape(k, -1)
        diagonal = self.factor if self.factor.ndim == 2 else xp.diagonal(self.factor, axis1=1, axis2=2)
        size = xp.sum(xp.log(diagonal), axis=1)
        return (-0.5 * (FRAME_DEGREES + d) * xp.log1p(radius / FRAME_DEGREES) - size[:, None]).reshape(-1)

    def pull(self, gradient: Any) -> Any:
        """Gradients with respect to the white coordinates."""
        k, d = self.mean.shape
        return _times(gradient.reshape(k, -1, d), self.factor, transposed=False).reshape(-1, d)


def _times(rows: Any, matrix: Any, transposed: bool) -> Any:
    """Rows of each block times its matrix or the transpose of it; a diagonal is a vector."""
    if matrix.ndim == 2:
        return rows * matrix[:, None, :]
    return rows @ (matrix.swapaxes(1, 2) if transposed else matrix)


def fit_tuning(position: Array, weights: Array, scale: float) -> Tuning:
    """Mean and covariance of weighted draws as a `Tuning`; see `Moments.tuning`."""
    centre = position.mean(axis=0)
    return Moments.of(position[None], weights[None], centre).tuning(centre, scale)


class Moments(NamedTuple):
    """Weighted sums of groups of draws about a common centre, leading axis K: sums over groups give those of several."""

    weight: Array  # (K,)
    squared_weight: Array  # (K,)
    first: Array  # (K, d)
    second: Array  # (K, d, d)

    @staticmethod
    def of(position: Array, weights: Array, centre: Array) -> Moments:
        """The sums of these draws, (K, n, d) with weights (K, n)."""
        centred = position - centre
        with np.errstate(invalid="ignore", over="ignore"):
            all_finite = np.isfinite(centred.sum())
        if not all_finite:  # a draw at the edge of its support is at infinity, and has weight zero
            usable = np.asarray(np.isfinite(centred).all(axis=2))
            centred, weights = np.where(usable[..., None], centred, 0.0), np.where(usable, weights, 0.0)
        weighted = centred * weights[..., None]
        return Moments(
            weights.sum(axis=1),
            np.einsum("kn,kn->k", weights, weights),
            (weights[:, None, :] @ centred)[:, 0],  # a fifth of the time of a sum over the middle axis
            weighted.swapaxes(1, 2) @ centred,
        )

    def of_others(self) -> Moments:
        """For each group the sums of all the other groups (its own, when it is alone)."""
        k = len(self.weight)
        others = np.ones((k, k)) - np.eye(k) if k > 1 else np.ones((1, 1))
        return Moments(*((others @ field.reshape(k, -1)).reshape(field.shape) for field in self))

    def tuning(self, centre: Array, scale: float) -> Tuning:
        """Mean and covariance as a `Tuning`, each group's beside the others'.

        The covariance is shrunk toward its diagonal by d / (d + ESS), so that few draws in many dimensions still give a usable
        shape; a coordinate that does not vary gets a tiny positive width. A group without draws of positive weight
        gets steps of unit size.
        """
        k, d = self.first.shape
        known = self.weight > 0.0
        weight = np.where(known, self.weight, 1.0)
        offset = self.first / weight[:, None]
        covariance = self.second / weight[:, None, None] - offset[:, :, None] * offset[:, None, :]
        ess = weight**2 / np.where(known, self.squared_weight, 1.0)
        shrink = d / (d + ess) if d > 1 else np.zeros(k)
        variance = np.einsum("kii->ki", covariance)
        floor = np.maximum(1e-20, 1e-12 * variance.max(axis=1, initial=0.0))
        variance = np.where(known[:, None], np.maximum(variance, floor[:, None]), 1.0)
        if d > MANY_DIMENSIONS and ess.min() < d:
            width = np.sqrt(variance)
            return Tuning(centre + offset, width, 1.0 / width, np.float64(scale))
        covariance = (1.0 - shrink)[:, None, None] * covariance
        np.einsum("kii->ki", covariance)[...] = variance
        return tuning_in_blocks(centre + offset, covariance, scale)


def tuning_of(mean: Array, covariance: Array, scale: float) -> Tuning:
    """A `Tuning` of one block from a mean and a covariance."""
    return tuning_in_blocks(mean[None], covariance[None], scale)


def tuning_in_blocks(mean: Array, covariance: Array, scale: float) -> Tuning:
    """A `Tuning` of several blocks from means (K, d) and covariances (K, d, d), made definite if rounding left them otherwise."""
    spread = np.sqrt(np.einsum("kii->ki", covariance))
    correlation = covariance / (spread[:, :, None] * spread[:, None, :])
    jitter = 0.0
    while True:
        try:
            factor = np.linalg.cholesky(correlation + jitter * np.eye(mean.shape[1]) if jitter else correlation)
            break
        except np.linalg.LinAlgError:
            jitter = max(10.0 * jitter, 1e-12)
    factor = spread[:, :, None] * factor
    return Tuning(mean, factor, np.linalg.inv(factor), np.float64(scale))
