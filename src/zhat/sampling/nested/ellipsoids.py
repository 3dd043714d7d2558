"""Ellipsoids around points: their fit, how far they must reach beyond the points, their decomposition, and uniform draws.

*One ellipsoid.* Centre and shape are mean and covariance of the points. How far it must reach is measured: the points are divided
into `FOLDS` parts, mean and covariance are fitted without one part, and the distance of the farthest left-out point from that fit
is the radius; the largest over all parts and `DIVISIONS` divisions is taken. So a point that was not used for the fit is inside,
as new points should be (Buchner 2016 does the same by the bootstrap). In d dimensions with m points this encloses more than the
points' own volume: 1.2 times for d = 2, m = 200; 2.0 for d = 6, m = 400; 3.5 for d = 10, m = 400; and leaves out less than 2 in
10,000 of the true volume (measured on uniform draws of a ball).

*Several* (Feroz, Hobson & Bridges 2009). Points are divided in two by k-means in the frame of their ellipsoid, the parts again,
and so on. Then, from the smallest parts upwards, two ellipsoids replace one if their volumes sum to less than `WORTHWHILE` of it. Volumes include
the reach beyond the points, which for few points is large: so a division that only fits noise is not worthwhile.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zhat.results.records import Array

FOLDS, DIVISIONS = 3, 4
WORTHWHILE = 0.8
# Points of the smallest part: these many for each dimension, and at least; and at least this fraction of all.
FEWEST_PER_DIMENSION, FEWEST, SMALLEST_PART = 2, 6, 1 / 100
KMEANS_STEPS = 12
# Numbers of a block of distances, which limits memory.
AT_ONCE = 4_000_000


class Ellipsoids(NamedTuple):
    """K ellipsoids {centre + factor b : |b| <= 1}, the inverses of the factors, and log volumes."""

    centre: Array  # (K, d)
    factor: Array  # (K, d, d)
    inverse: Array  # (K, d, d)
    log_volume: Array  # (K,)

    @property
    def total(self) -> float:
        """The sum of the volumes."""
        return float(np.exp(self.log_volume).sum())

    @property
    def n_parts(self) -> int:
        """The number of ellipsoids."""
        return len(self.centre)

    def count(self, points: Array) -> NDArray[np.int64]:
        """How many ellipsoids contain each point."""
        n, d = points.shape
        out = np.zeros(n, dtype=np.int64)
        size = max(1, AT_ONCE // max(d, 1))
        for start in range(0, n, size):
            part = points[start : start + size]
            for centre, inverse in zip(self.centre, self.inverse, strict=True):
                white = (part - centre) @ inverse.T
                out[start : start + size] += np.einsum("ij,ij->i", white, white) <= 1.0
        return out

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """n points: an ellipsoid in proportion to its volume, then a uniform point of it."""
        d = self.centre.shape[1]
        share = np.exp(self.log_volume - self.log_volume.max())
        which = np.sort(rng.choice(len(share), size=n, p=share / share.sum()))
        ball = rng.standard_normal((n, d))
        ball *= (rng.random(n) ** (1.0 / d) / np.sqrt(np.einsum("ij,ij->i", ball, ball)))[:, None]
        ends = np.searchsorted(which, np.arange(len(share) + 1))
        out = np.empty((n, d))
        for k, (first, last) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
            out[first:last] = self.centre[k] + ball[first:last] @ self.factor[k].T
        return out[rng.permutation(n)]


class _Part(NamedTuple):
    """Some points and the ellipsoid around them."""

    rows: NDArray[np.int64]
    centre: Array
    factor: Array
    log_volume: float


def log_unit_ball(d: int) -> float:
    """Log volume of the unit ball."""
    return 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1.0)


def enclosing(points: Array, rng: np.random.Generator) -> Ellipsoids | None:
    """Ellipsoids that contain the points and would contain others of their distribution; None if there are too few points."""
    m, d = points.shape
    fewest = max(FEWEST_PER_DIMENSION * d, FEWEST, int(SMALLEST_PART * m))
    whole = _around(points, np.arange(m), rng)
    if m < FEWEST or whole is None:
        return None
    parts = _divided(points, whole, fewest, rng)
    factor = np.stack([part.factor for part in parts])
    return Ellipsoids(
        np.stack([part.centre for part in parts]), factor, np.linalg.inv(factor), np.array([part.log_volume for part in parts])
    )


def _divided(points: Array, whole: _Part, fewest: int, rng: np.random.Generator) -> list[_Part]:
    """The part itself, or its division if that is smaller."""
    if len(whole.rows) < 2 * fewest:
        return [whole]
    halves = _two_means(points[whole.rows], whole)
    rows = [whole.rows[halves == side] for side in (0, 1)]
    if min(map(len, rows)) < fewest:
        return [whole]
    pieces: list[_Part] = []
    for side in rows:
        part = _around(points, side, rng)
        if part is None:
            return [whole]
        pieces += _divided(points, part, fewest, rng)
    total = np.logaddexp.reduce([piece.log_volume for piece in pieces])
    return pieces if total < whole.log_volume + math.log(WORTHWHILE) else [whole]


def _around(points: Array, rows: NDArray[np.int64], rng: np.random.Generator) -> _Part | None:
    """The ellipsoid around some points; None if they do not span the space."""
    some = points[rows]
    m, d = some.shape
    if m <= d + 1:
        return None
    centre = some.mean(axis=0)
    centred = some - centre
    spread = np.sqrt(np.mean(centred**2, axis=0))
    if not (spread > 0.0).all():
        return None
    factor = _cholesky((centred / spread).T @ (centred / spread) / m)
    if factor is None:
        return None
    factor = spread[:, None] * factor
    white = np.linalg.solve(factor, centred.T).T
    reach = max(float(np.einsum("ij,ij->i", white, white).max()), _reach(white, rng))
    if not np.isfinite(reach):
        return None
    factor = math.sqrt(reach) * factor
    return _Part(rows, centre, factor, float(np.log(np.diag(factor)).sum()) + log_unit_ball(d))


def _reach(white: Array, rng: np.random.Generator) -> float:
    """The largest squared distance of a point from a fit to points without it."""
    m, d = white.shape
    farthest = 0.0
    for _ in range(DIVISIONS):
        fold = rng.permutation(m) % FOLDS
        for k in range(FOLDS):
            used, left_out = white[fold != k], white[fold == k]
            centre = used.mean(axis=0)
            factor = _cholesky((used - centre).T @ (used - centre) / len(used))
            if factor is None or len(used) <= d + 1:
                return math.inf
            away = np.linalg.solve(factor, (left_out - centre).T)
            farthest = max(farthest, float(np.einsum("ij,ij->j", away, away).max()))
    return farthest


def _cholesky(covariance: Array) -> Array | None:
    try:
        factor: Array = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return None
    diagonal = np.diag(factor)
    return factor if diagonal.min() > 1e-7 * diagonal.max() else None


def _two_means(some: Array, whole: _Part) -> NDArray[np.int64]:
    """Which of two clusters each point belongs to, by k-means in the frame of the ellipsoid; it starts from the longest axis."""
    white = np.linalg.solve(whole.factor, (some - whole.centre).T).T
    scale = np.linalg.svd(whole.factor)[0][:, 0]  # the longest axis, in the original coordinates
    side = ((some - whole.centre) @ scale > 0.0).astype(np.int64)
    for _ in range(KMEANS_STEPS):
        if side.min() == side.max():
            break
        low, high = white[side == 0].mean(axis=0), white[side == 1].mean(axis=0)
        new = (np.sum((white - high) ** 2, axis=1) < np.sum((white - low) ** 2, axis=1)).astype(np.int64)
        if (new == side).all():
            break
        side = new
    return side
