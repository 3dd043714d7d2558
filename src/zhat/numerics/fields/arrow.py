"""Banded symmetric matrices with a dense border: storage, Cholesky factor, solutions, draws; cost linear in the length.

The precision matrix of a latent Gaussian field on a line couples an element with its near neighbours only, and a few fixed
effects couple with everything. In the order (line, border) it is an arrow:

    H = [ A   B ]        A (n, n) banded with half-width w,   B (n, k),   C (k, k)
        [ B'  C ]

With A = L L', V = L^-1 B and C - V'V = M M' the Cholesky factor of H is [L 0; V' M], in n (w + k)^2 operations. A dense
matrix is the arrow without a line, a diagonal one is w = 0 without a border.

Entries are recovered from products with a few probing vectors (Curtis, Powell & Reid 1974): columns of the line that are 2 w + 1
apart share no row, so one vector sums them all. 2 w + 1 + k products give the whole matrix, however long the line is.

*When it lies.* A matrix that has entries outside the arrow: the products then mix entries, and the factor is that of another
matrix. `Arrow.times` of a random vector beside the true product shows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpbtrf, dpbtrs, dtbtrs  # called thousands of times: scipy's wrappers take longer than the work

from zhat.numerics._checks import FloatArray


@dataclass(frozen=True)
class Shape:
    """The shape of an arrow: elements of the line, half-width of the band, elements of the border."""

    line: int
    half_width: int
    border: int

    @property
    def size(self) -> int:
        """Rows of the matrix."""
        return self.line + self.border

    @property
    def n_probes(self) -> int:
        """Products with vectors that give the whole matrix."""
        return (min(2 * self.half_width + 1, self.line) if self.line else 0) + self.border

    def probes(self) -> FloatArray:
        """The probing vectors, one a row: (n_probes, size)."""
        out = np.zeros((self.n_probes, self.size))
        n_colours = self.n_probes - self.border
        if n_colours:
            out[np.arange(self.line) % n_colours, np.arange(self.line)] = 1.0
        out[n_colours + np.arange(self.border), self.line + np.arange(self.border)] = 1.0
        return out


@dataclass(frozen=True)
class Arrow:
    """A symmetric matrix of this shape; `band[r, j]` is entry (j + r, j) of the line."""

    shape: Shape
    band: FloatArray  # (half_width + 1, line)
    side: FloatArray  # (line, border)
    corner: FloatArray  # (border, border)

    def times(self, vector: FloatArray) -> FloatArray:
        """The product with a vector."""
        n = self.shape.line
        x, z = vector[:n], vector[n:]
        line = self.side @ z + self.band[0] * x if n else np.zeros(0)
        for r in range(1, min(self.shape.half_width, n - 1) + 1):
            line[r:] += self.band[r, : n - r] * x[: n - r]
            line[: n - r] += self.band[r, : n - r] * x[r:]
        return np.concatenate([line, self.side.T @ x + self.corner @ z])

    def plus_diagonal(self, amount: float) -> Arrow:
        """The matrix with its diagonal multiplied by 1 + amount."""
        band, corner = self.band.copy(), self.corner.copy()
        if self.shape.line:
            band[0] += amount * np.abs(band[0])
        corner[np.diag_indices_from(corner)] += amount * np.abs(np.diag(corner))
        return Arrow(self.shape, band, self.side, corner)

    def dense(self) -> FloatArray:
        """All entries."""
        n = self.shape.line
        out = np.zeros((self.shape.size, self.shape.size))
        for r in range(min(self.shape.half_width, max(n - 1, 0)) + 1 if n else 0):
            rows = np.arange(n - r)
            out[rows + r, rows] = out[rows, rows + r] = self.band[r, : n - r]
        out[:n, n:], out[n:, :n], out[n:, n:] = self.side, self.side.T, self.corner
        return out

    def factor(self) -> Factor | None:
        """The Cholesky factor, or None for a matrix that is not positive definite."""
        n, k = self.shape.line, self.shape.border
        if not math.isfinite(self.band.sum() + self.side.sum() + self.corner.sum()):
            return None
        lower, half, tip = np.zeros((1, 0)), self.side, self.corner
        if n:
            lower, failed = dpbtrf(self.band, lower=1)
            if failed:
                return None
        if n and k:
            half = dtbtrs(lower, self.side, uplo="L")[0]
        if k:
            try:
                tip = np.asarray(np.linalg.cholesky(self.corner - half.T @ half), np.float64)
            except np.linalg.LinAlgError:
                return None
        return Factor(self.shape, lower, half, tip)


@dataclass(frozen=True)
class Factor:
    """The Cholesky factor [L 0; V' M] of an arrow."""

    shape: Shape
    lower: FloatArray  # L, by diagonals
    half: FloatArray  # V
    tip: FloatArray  # M

    @property
    def log_determinant(self) -> float:
        """Log determinant of the matrix."""
        return float(2.0 * (np.log(self.lower[0]).sum() + np.log(np.diag(self.tip)).sum()))

    def forward(self, right: FloatArray) -> FloatArray:
        """L^-1 of columns (size,) or (size, m)."""
        n, k = self.shape.line, self.shape.border
        top, end = right[:n], right[n:]
        if n:
            top = _columns(dtbtrs(self.lower, top, uplo="L")[0], top)
        if k:
            end = solve_triangular(self.tip, end - self.half.T @ top, lower=True, check_finite=False)
        return np.concatenate([top, end])

    def backward(self, right: FloatArray) -> FloatArray:
        """L^-T of columns (size,) or (size, m); of standard normals, draws from the Gaussian with this precision."""
        n, k = self.shape.line, self.shape.border
        top, end = right[:n], right[n:]
        if k:
            end = solve_triangular(self.tip, end, lower=True, trans="T", check_finite=False)
        if n:
            top = top - self.half @ end if k else top
            top = _columns(dtbtrs(self.lower, top, uplo="L", trans="T")[0], top)
        return np.concatenate([top, end])

    def transposed(self, vector: FloatArray) -> FloatArray:
        """L' times a vector: its length is the distance in the metric of the matrix."""
        n = self.shape.line
        x, z = vector[:n], vector[n:]
        line = self.half @ z if n else np.zeros(0)
        for r in range(min(self.shape.half_width, n - 1) + 1 if n else 0):
            line[: n - r] += self.lower[r, : n - r] * x[r:]
        return np.concatenate([line, self.tip.T @ z])

    def solve(self, right: FloatArray) -> FloatArray:
        """The inverse matrix times columns."""
        if not self.shape.border:
            return _columns(dpbtrs(self.lower, right, lower=1)[0], right)
        return self.backward(self.forward(right))


def _columns(solution: FloatArray, right: FloatArray) -> FloatArray:
    """The solution in the shape of the right-hand side: LAPACK returns a matrix."""
    return np.reshape(solution, right.shape)


def arrow_from_products(shape: Shape, products: FloatArray) -> Arrow:
    """The arrow whose products with `shape.probes()`, one a row, are these."""
    return arrows_from_products(shape, products[None])[0]


def arrows_from_products(shape: Shape, products: FloatArray) -> list[Arrow]:
    """Many arrows at once: products (m, n_probes, size)."""
    n, k, w = shape.line, shape.border, shape.half_width
    n_colours = shape.n_probes - k
    band = np.zeros((len(products), w + 1, n))
    for r in range(min(w, n - 1) + 1 if n else 0):
        columns = np.arange(n - r)
        band[:, r, : n - r] = products[:, columns % n_colours, columns + r]
    side = np.ascontiguousarray(products[:, n_colours:, :n].transpose(0, 2, 1))
    corner = products[:, n_colours:, n:]
    corner = 0.5 * (corner + corner.transpose(0, 2, 1))
    return [Arrow(shape, *parts) for parts in zip(band, side, corner, strict=True)]
