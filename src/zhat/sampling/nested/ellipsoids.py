"""Ellipsoids around points: their fit, how far they must reach beyond the points, their decomposition, and uniform draws.

*One ellipsoid.* Centre and shape are mean and covariance of the points, or of the points and others near them (those that died last),
whichever gives the smaller volume. How far it must reach is measured: the points are divided into `FOLDS` parts, mean and covariance
are fitted without one part, and the distance of the farthest left-out point from that fit is the radius; the largest over all
parts and `DIVISIONS` divisions is taken. So a point that was not used for the fit is inside, as new points should be (Buchner 2016
does the same by the bootstrap). In d dimensions with m points this encloses more than the true volume: 1.25 times for d = 2, m = 200;
2.0 for d = 6, m = 400; 3.5 for d = 10, m = 400; and leaves out less than 2 in 10,000 of it (measured on uniform draws of a ball).

*Several* (Feroz, Hobson & Bridges 2009). Points are divided in two by k-means in the frame of their ellipsoid, the parts again,
and so on. Then, from the smallest parts upwards, two ellipsoids replace one if their volumes sum to less than `WORTHWHILE` of it.
Volumes include the reach beyond the points, which for few points is large: so a division that only fits noise is not worthwhile.

*Points that were used for a fit* are inside more often than others of the same distribution: an ellipsoid leans towards its points.
Where that matters (`sampling.nested.mixture`), such a point counts as inside only if it would be without its own part in the fit. With n
points in a fit and D the squared distance of one of them, in standard deviations, its distance from the fit without it is n D / (n - 1 - D);
and without the point that was the farthest, the reach is that of the second.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zhat.results.records import Array

FOLDS, DIVISIONS = 3, 4
WORTHWHILE = 0.8
# An ellipsoid is not divided if its points fill it to this share, as far as their number tells.
FULL = 0.75
# Points of the smallest part: these many for each dimension, and at least; and at least this fraction of all.
FEWEST_PER_DIMENSION, FEWEST, SMALLEST_PART = 2, 6, 1 / 100
KMEANS_STEPS = 12
# A Cholesky factor whose diagonal is more uneven than this is of points that do not span the space.
SINGULAR = 1e-7
# Draws by which overlaps are found.
N_OVERLAP = 4096
# Numbers of a block of distances, which limits memory.
AT_ONCE = 4_000_000


class Ellipsoids(NamedTuple):
    """K ellipsoids {centre + factor b : |b| <= 1}, the inverses of the factors, log volumes; and how they were fitted.

    `group` numbers them such that ellipsoids that overlap have one number: separate modes have different ones.
    `used` is, for each point that was given, the ellipsoid for whose shape it was used, or -1; `size`, `reach`, `second`, `farthest` are
    the number of points of each fit, the squared radius, what it would be without the farthest point, and the number of that one.
    """

    centre: Array  # (K, d)
    factor: Array  # (K, d, d)
    inverse: Array  # (K, d, d)
    log_volume: Array  # (K,)
    group: NDArray[np.int64]  # (K,)
    used: NDArray[np.int64]  # (m + l,)
    size: NDArray[np.int64]  # (K,)
    reach: Array  # (K,)
    second: Array  # (K,)
    farthest: NDArray[np.int64]  # (K,)

    @property
    def total(self) -> float:
        """The sum of the volumes."""
        return float(np.exp(self.log_volume).sum())

    @property
    def n_parts(self) -> int:
        """The number of ellipsoids."""
        return len(self.centre)

    def squared(self, points: Array) -> Array:
        """Squared distances (K, n) of points from the centres in the ellipsoids' frames: at most one inside."""
        out = np.empty((len(self.centre), len(points)))
        for k, (centre, inverse) in enumerate(zip(self.centre, self.inverse, strict=True)):
            white = (points - centre) @ inverse.T
            out[k] = np.einsum("ij,ij->i", white, white)
        return out

    def number_around(self, points: Array) -> NDArray[np.int64]:
        """How many ellipsoids contain each point."""
        out = np.empty(len(points), dtype=np.int64)
        size = max(1, AT_ONCE // len(self.centre))
        for start in range(0, len(points), size):
            out[start : start + size] = (self.squared(points[start : start + size]) <= 1.0).sum(axis=0)
        return out

    def inside(self, points: Array, given: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which points are in some ellipsoid; `given` is a point's number among those of the fit (-1: none), which is left out of it."""
        out = np.empty(len(points), dtype=np.bool_)
        size = max(1, AT_ONCE // len(self.centre))
        for start in range(0, len(points), size):
            here = slice(start, start + size)
            squared, number = self.squared(points[here]), given[here]
            known = np.flatnonzero(number >= 0)
            part = self.used[number[known]]
            known, part = known[part >= 0], part[part >= 0]
            away = squared[part, known] * self.reach[part]
            left = self.size[part] - 1.0 - away
            away = np.where(left > 0.0, self.size[part] * away / np.where(left > 0.0, left, 1.0), np.inf)
            limit = np.where(self.farthest[part] == number[known], self.second[part], self.reach[part])
            squared[part, known] = away / limit
            out[here] = (squared <= 1.0).any(axis=0)
        return out

    def groups(self, points: Array) -> NDArray[np.int64]:
        """The group of the ellipsoid that each point is nearest to."""
        return np.asarray(self.group[self.squared(points).argmin(axis=0)])

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """n points: an ellipsoid in proportion to its volume, then a uniform point of it."""
        d = self.centre.shape[1]
        share = np.exp(self.log_volume - self.log_volume.max())
        which = np.sort(rng.choice(len(share), size=n, p=share / share.sum()))
        ball = rng.standard_normal((n, d))
        ball *= (rng.random(n) ** (1.0 / d) / np.sqrt(np.einsum("ij,ij->i", ball, ball)))[:, None]
        ends = np.searchsorted(which, np.arange(len(share) + 1))
        out = np.empty((n, d))
        for k, (first, last) in enumerate(pairwise(ends)):
            out[first:last] = self.centre[k] + ball[first:last] @ self.factor[k].T
        return out[rng.permutation(n)]


class _Part(NamedTuple):
    """Numbers of some points, and of others near them; the ellipsoid around the former, and how it was fitted."""

    rows: NDArray[np.int64]
    near: NDArray[np.int64]
    used: NDArray[np.int64]
    centre: Array
    factor: Array
    log_volume: float
    reach: float
    second: float
    farthest: int


def log_unit_ball(d: int) -> float:
    """Log volume of the unit ball."""
    return 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1.0)


def enclosing(points: Array, near: Array, log_mass: float, rng: np.random.Generator) -> Ellipsoids | None:
    """Ellipsoids that contain the points and would contain others of their distribution; None if there are too few points.

    Parameters
    ----------
    points : (m, d) array
    near : (l, d) array
        Further points that may tell the shape, though they need not be inside.
    log_mass : float
        Log volume from which the points were drawn, as far as it is known: ellipsoids that are hardly larger are not divided.
    """
    m, d = points.shape
    given = np.concatenate([points, near])
    whole = _around(given, np.arange(m), np.arange(m, len(given)), rng) if m >= FEWEST else None
    if whole is None:
        return None
    fewest = max(FEWEST_PER_DIMENSION * (d + 1), FEWEST, int(SMALLEST_PART * m))
    parts = _divided(given, whole, fewest, log_mass - math.log(FULL * m), rng)
    factor = np.stack([part.factor for part in parts])
    used = np.full(len(given), -1)
    for k, part in enumerate(parts):
        used[part.used] = k
    found = Ellipsoids(
        centre=np.stack([part.centre for part in parts]),
        factor=factor,
        inverse=np.asarray(np.linalg.inv(factor), dtype=np.float64),
        log_volume=np.array([part.log_volume for part in parts]),
        group=np.zeros(len(parts), dtype=np.int64),
        used=used,
        size=np.array([len(part.used) for part in parts]),
        reach=np.array([part.reach for part in parts]),
        second=np.array([part.second for part in parts]),
        farthest=np.array([part.farthest for part in parts]),
    )
    if len(parts) == 1:
        return found
    inside = (found.squared(found.draw(N_OVERLAP, rng)) <= 1.0).astype(np.int64)
    return found._replace(group=_connected(inside @ inside.T > 0))


def _connected(touch: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The number of each one's connected part, in the order of their first members. (SciPy's function takes 10 ms to import.)"""
    group = np.full(len(touch), -1)
    for first in range(len(touch)):
        if group[first] < 0:
            inside = np.zeros(len(touch), dtype=bool)
            inside[first] = True
            while (grown := inside | touch[inside].any(axis=0)).sum() > inside.sum():
                inside = grown
            group[inside] = group.max() + 1
    return group


def _divided(given: Array, whole: _Part, fewest: int, log_each: float, rng: np.random.Generator) -> list[_Part]:
    """The part itself, or its division if that is smaller; a part of m points and log volume below `log_each` + log m is full."""
    m = len(whole.rows)
    if m < 2 * fewest or whole.log_volume < log_each + math.log(m):
        return [whole]
    second, second_near = _two_means(given, whole)
    if min(second.sum(), m - second.sum()) < fewest:
        return [whole]
    pieces: list[_Part] = []
    for side in (False, True):
        part = _around(given, whole.rows[second == side], whole.near[second_near == side], rng)
        if part is None:
            return [whole]
        pieces += _divided(given, part, fewest, log_each, rng)
    total = np.logaddexp.reduce([piece.log_volume for piece in pieces])
    return pieces if total < whole.log_volume + math.log(WORTHWHILE) else [whole]


def _around(given: Array, rows: NDArray[np.int64], near: NDArray[np.int64], rng: np.random.Generator) -> _Part | None:
    """The ellipsoid around some points; None if they do not span the space."""
    fits = [_fitted(given, rows, near, more, rng) for more in ([near, near[:0]] if len(near) else [near])]
    parts = [part for part in fits if part is not None]
    return min(parts, key=lambda part: part.log_volume) if parts else None


def _fitted(
    given: Array, rows: NDArray[np.int64], near: NDArray[np.int64], more: NDArray[np.int64], rng: np.random.Generator
) -> _Part | None:
    """The ellipsoid around some points with the shape of these and `more`."""
    used = np.concatenate([rows, more])
    together = given[used]
    d = given.shape[1]
    centre = together.mean(axis=0)
    spread = np.sqrt(np.mean((together - centre) ** 2, axis=0))
    if len(together) <= d + 1 or not (spread > 0.0).all():
        return None
    unit = (together - centre) / spread
    factor = _cholesky(unit.T @ unit / len(unit))
    if factor is None:
        return None
    white = whitened(factor, unit)
    away = np.maximum(np.einsum("ij,ij->i", white, white)[: len(rows)], _away(white, len(rows), rng))
    second, reach = np.partition(away, -2)[-2:]
    if not np.isfinite(reach):
        return None
    factor = math.sqrt(reach) * spread[:, None] * factor
    log_volume = float(np.log(np.diag(factor)).sum()) + log_unit_ball(d)
    farthest = int(rows[away.argmax()])
    return _Part(rows, near, used, centre, factor, log_volume, float(reach), float(second), farthest)


def _away(white: Array, m: int, rng: np.random.Generator) -> Array:
    """Squared distances of the first m points from fits to all points without them: the largest over all divisions.

    All fits at once, each from the moments of all points less those of its part.
    """
    n, d = white.shape
    part = np.stack([rng.permutation(m) % FOLDS for _ in range(DIVISIONS)])
    left_out = (part[:, None] == np.arange(FOLDS)[:, None]).reshape(-1, m)  # (fits, m)
    weight, points = left_out.astype(np.float64), white[:m]
    used = n - weight.sum(axis=1)
    if used.min() <= d + 1:
        return np.full(m, np.inf)
    products = (white[:, :, None] * white[:, None, :]).reshape(n, d * d)
    centre = (white.sum(axis=0) - weight @ points) / used[:, None]
    second = ((products.sum(axis=0) - weight @ products[:m]) / used[:, None]).reshape(-1, d, d)
    try:
        factor = np.linalg.cholesky(second - centre[:, :, None] * centre[:, None, :])
    except np.linalg.LinAlgError:
        return np.full(m, np.inf)
    diagonal = np.diagonal(factor, axis1=1, axis2=2)
    if not (diagonal.min(axis=1) > SINGULAR * diagonal.max(axis=1)).all():
        return np.full(m, np.inf)
    inverse = np.linalg.inv(factor)
    away = np.matmul(points, inverse.swapaxes(1, 2)) - np.matmul(inverse, centre[:, :, None]).swapaxes(1, 2)
    squared = np.einsum("kij,kij->ki", away, away)
    return np.asarray(np.where(left_out, squared, 0.0).max(axis=0))


def whitened(factor: Array, centred: Array) -> Array:
    """The rows in the frame of a factor."""
    return np.asarray(np.linalg.solve(factor, centred.T).T, dtype=np.float64)


def _cholesky(covariance: Array) -> Array | None:
    try:
        factor: Array = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    diagonal = np.diag(factor)
    return factor if diagonal.min() > SINGULAR * diagonal.max() else None


def _two_means(given: Array, whole: _Part) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which points, and which of those near, are in the second of two clusters: k-means in the frame of the ellipsoid.

    It starts from the two halves of the longest axis.
    """
    longest = np.linalg.svd(whole.factor)[0][:, 0]
    side = (given[whole.rows] - whole.centre) @ longest > 0.0
    white, near = (whitened(whole.factor, given[some] - whole.centre) for some in (whole.rows, whole.near))
    low, high = white[0], white[0]
    for _ in range(KMEANS_STEPS):
        if side.all() or not side.any():
            break
        low, high = white[~side].mean(axis=0), white[side].mean(axis=0)
        new = _nearer(white, high, low)
        if (new == side).all():
            break
        side = new
    return side, _nearer(near, high, low)


def _nearer(points: Array, one: Array, other: Array) -> NDArray[np.bool_]:
    return np.asarray(np.sum((points - one) ** 2, axis=1) < np.sum((points - other) ** 2, axis=1))
