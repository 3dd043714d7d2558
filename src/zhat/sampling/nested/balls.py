"""Balls around points, all of one size: a region for contours of any form in few dimensions (RadFriends; Buchner 2014, 2019).

Every point is the centre of a ball in a common frame. The radius is measured as that of ellipsoids is (`nested.ellipsoids`): the largest
distance of a left-out point from the nearest of the others, over `FOLDS` parts and `DIVISIONS` divisions. The frame is the covariance
within clusters: points nearer than the radius are neighbours, neighbours of neighbours a cluster; it is found by iteration
(MLFriends).

*A mode with one or two points* leaves nothing near when they are left out, and a radius that reached them from other modes would
fill the space between. But the points are uniform: their density is the same in all modes. Among m uniform points a distance to the
nearest exceeds c times the median one with probability 2^(-c^d), at a face, edge or corner of the region 2^(-c^d/2), 2^(-c^d/4) ...; so c^d = 4 log2(m) is
exceeded by one of m points at most even at an edge, and larger distances are those of such modes. They do not count.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy  # its modules are imported when they are used
from numpy.typing import NDArray

from zhat.results.records import Array
from zhat.sampling.nested.ellipsoids import DIVISIONS, FOLDS, log_unit_ball, whitened

# Iterations of frame, radius and clusters at most; they end when the number of clusters stays.
ITERATIONS = 4
LINKED = 1.5
# See above: the share of a ball that lies inside the region at an edge of it, as a divisor.
CORNER = 4


class Balls(NamedTuple):
    """Balls of unit radius around `white`, the points in the frame x = factor white; the log volume of one in the points' space.

    `group` numbers them such that balls have one number if they overlap well: their centres are nearer than `LINKED` radii.
    """

    white: Array  # (K, d)
    factor: Array  # (d, d)
    log_volume: float
    group: NDArray[np.int64]  # (K,)

    @property
    def total(self) -> float:
        """The sum of the volumes."""
        return len(self.white) * math.exp(self.log_volume)

    @property
    def n_parts(self) -> int:
        """The number of balls."""
        return len(self.white)

    def number_around(self, points: Array) -> NDArray[np.int64]:
        """How many balls contain each point."""
        white = whitened(self.factor, points)
        return np.asarray(scipy.spatial.cKDTree(self.white).query_ball_point(white, 1.0, return_length=True), dtype=np.int64)

    def inside(self, points: Array, given: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which points are in some ball, for the centres themselves (`given` is the number of one, or -1) one of another centre."""
        return np.asarray(self.number_around(points) > ((given >= 0) & (given < len(self.white))))

    def groups(self, points: Array) -> NDArray[np.int64]:
        """The group of the ball that each point is nearest to."""
        white = whitened(self.factor, points)
        return np.asarray(self.group[scipy.spatial.cKDTree(self.white).query(white)[1]])

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """n points, each uniform in a ball that is drawn at random."""
        k, d = self.white.shape
        ball = rng.standard_normal((n, d))
        ball *= (rng.random(n) ** (1.0 / d) / np.sqrt(np.einsum("ij,ij->i", ball, ball)))[:, None]
        return (self.white[rng.integers(k, size=n)] + ball) @ self.factor.T


def balls_around(points: Array, rng: np.random.Generator) -> Balls | None:
    """Balls around the points that would contain others of their distribution; None if the points do not span the space."""
    m, d = points.shape
    if m <= 2 * d + FOLDS:
        return None
    groups = np.zeros(m, dtype=np.int64)
    best: Balls | None = None
    for _ in range(ITERATIONS):
        frame = _frame(points, groups)
        if frame is None:
            break
        white = whitened(frame, points)
        radius = _reach(white, rng)
        log_volume = d * math.log(radius) + float(np.log(np.abs(np.diag(frame))).sum()) + log_unit_ball(d)
        n_groups, new = _linked(white, radius)
        if best is None or log_volume < best.log_volume:
            best = Balls(white / radius, radius * frame, log_volume, _linked(white, LINKED * radius)[1])
        if n_groups == len(np.unique(groups)):
            break
        groups = new
    return best


def _linked(white: Array, distance: float) -> tuple[int, NDArray[np.int64]]:
    """Clusters of points that are linked by steps of this length: how many, and the cluster of each point."""
    one, other = scipy.spatial.cKDTree(white).query_pairs(distance, output_type="ndarray").T
    linked = scipy.sparse.coo_array((np.ones(len(one)), (one, other)), shape=(len(white), len(white)))
    n_groups, groups = scipy.sparse.csgraph.connected_components(linked, directed=False)
    return int(n_groups), groups.astype(np.int64)


def _frame(points: Array, groups: NDArray[np.int64]) -> Array | None:
    """Cholesky factor of the covariance within groups."""
    numbers = np.bincount(groups)
    means = np.stack([np.bincount(groups, weights=column) for column in points.T], axis=1) / numbers[:, None]
    centred = points - means[groups]
    freedom = len(points) - len(numbers)
    spread = np.sqrt(np.mean(centred**2, axis=0))
    if freedom <= points.shape[1] or not (spread > 0.0).all():
        return None
    unit = centred / spread
    try:
        return np.asarray(spread[:, None] * np.linalg.cholesky(unit.T @ unit / len(points)))
    except np.linalg.LinAlgError:
        return None


def _reach(white: Array, rng: np.random.Generator) -> float:
    """The largest distance of a point from the nearest of the points of other parts, those of modes of their own apart."""
    m, d = white.shape
    farthest = 0.0
    for _ in range(DIVISIONS):
        fold = rng.permutation(m) % FOLDS
        distance = np.concatenate([scipy.spatial.cKDTree(white[fold != k]).query(white[fold == k])[0] for k in range(FOLDS)])
        limit = float(np.median(distance)) * (CORNER * math.log2(m)) ** (1.0 / d)
        farthest = max(farthest, float(distance[distance <= limit].max()))
    return farthest
