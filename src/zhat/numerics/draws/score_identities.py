"""Whose draws are they? Two identities that hold for the draws of one density and hardly any others.

With g = grad log p at draws u of a density p whose tails vanish, integration by parts gives (Stein's identity)

    E[ g ] = 0,          E[ (u - E u) g' ] = -I.

Neither needs the constant of p, so posterior draws can be held against prior x likelihood: one gradient a draw. Draws of another
model, of other data, of another prior, or with two coordinates exchanged, break them. Every mean is divided by its standard error
along the chains, and the largest of the d + d^2 is judged against all of them (Bonferroni). With them the sum of the d products of each
coordinate with its own slope, which is minus d: where every coordinate is off a little, as for draws of a tempered posterior, it is sqrt(d)
times clearer than each alone.

*When they lie.* Where the density ends abruptly, or its tails are so heavy that the means have no variance, they need not hold.
Chains that have not converged break them as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from zhat.numerics._checks import FloatArray, finite
from zhat.numerics.series import effective_sample_size

# Coordinates up to which all products are tested; beyond, those of each coordinate with its own slope.
ALL_PRODUCTS_UP_TO = 20


@dataclass(frozen=True)
class ScoreTest:
    """The z-scores of both identities.

    Attributes
    ----------
    slopes : (d,) array
        Of the mean slopes.
    products : (d, d) array
        Of the mean products of coordinate i and slope j; NaN where not tested.
    total : float
        Of the mean sum of the products on the diagonal.

    The effective sample size is computed only where the result can be the largest; other entries are as for independent draws, which
    makes them too large, and yet smaller than the largest.
    """

    slopes: FloatArray
    products: FloatArray
    total: float

    @property
    def n_tests(self) -> int:
        """How many means were tested."""
        return self.slopes.size + int(np.isfinite(self.products).sum()) + 1

    @property
    def largest(self) -> float:
        """The largest of all |z|."""
        return float(max(np.abs(self.slopes).max(), np.nanmax(np.abs(self.products)), abs(self.total)))

    @property
    def log_p(self) -> float:
        """Log of the probability that the largest is so large by chance; at most zero."""
        return min(0.0, math.log(2.0 * self.n_tests) + float(log_ndtr(-self.largest)))

    @property
    def worst_coordinate(self) -> int:
        """The coordinate whose slope is farthest off."""
        off = np.maximum(np.abs(self.slopes), np.nanmax(np.abs(self.products), axis=0))
        return int(np.argmax(off))


def score_test(position: ArrayLike, slope: ArrayLike) -> ScoreTest:
    """Both identities at draws (n_chains, n_draws, d) with the gradients of the log density there."""
    u, g = finite(position, "position"), finite(slope, "slope")
    if u.ndim != 3 or u.shape != g.shape:
        raise ValueError(f"position has shape {u.shape} and slope {g.shape}: both are (chains, draws, coordinates).")
    d = u.shape[2]
    centred = u - u.mean(axis=(0, 1))
    which: list[tuple[int | None, int]] = [(None, j) for j in range(d)]
    which += [(i, j) for i in range(d) for j in (range(d) if d <= ALL_PRODUCTS_UP_TO else (i,))]

    def series(i: int | None, j: int) -> FloatArray:
        return g[:, :, j] if i is None else centred[:, :, i] * g[:, :, j]

    slopes, products = _if_independent(centred.reshape(-1, d), g.reshape(-1, d))
    bound = np.abs([slopes[j] if i is None else products[i, j] for i, j in which])
    total = _z((centred * g).sum(axis=2), -float(d))
    largest = abs(total)
    for k in np.argsort(-bound, kind="stable"):
        if bound[k] < largest:
            break
        i, j = which[k]
        z = _z(series(i, j), -1.0 if i == j else 0.0)
        largest = max(largest, abs(z))
        if i is None:
            slopes[j] = z
        else:
            products[i, j] = z
    return ScoreTest(slopes, products, total)


def _if_independent(u: FloatArray, g: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The z-scores of all means as if the draws were independent: those of correlated draws are smaller."""
    n, d = u.shape
    g_squared, u_squared = g**2, u**2
    slopes = _scores_of(g.mean(axis=0), g_squared.mean(axis=0), 0.0, n)
    if d <= ALL_PRODUCTS_UP_TO:
        return slopes, _scores_of(u.T @ g / n, u_squared.T @ g_squared / n, -np.eye(d), n)
    products = np.full((d, d), np.nan)
    own, squares = np.einsum("ni,ni->i", u, g) / n, np.einsum("ni,ni->i", u_squared, g_squared) / n
    np.fill_diagonal(products, _scores_of(own, squares, -1.0, n))
    return slopes, products


def _scores_of(mean: FloatArray, square: FloatArray, expected: FloatArray | float, n: int) -> FloatArray:
    """Standard errors between means of n terms and what they should be, from the means of the terms' squares."""
    gap = mean - expected
    # A spread that is rounding is none; the factor keeps rounding from making a bound too small.
    variance = np.maximum(square - mean**2, 1e-12 * square)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = gap * math.sqrt(n) / np.sqrt(variance) * (1.0 + 1e-6)
    return np.asarray(np.where(gap == 0.0, 0.0, np.clip(z, -1e300, 1e300)))


def _z(series: FloatArray, expected: float) -> float:
    """How many standard errors the mean is from what it should be."""
    spread, gap = float(series.std()), float(series.mean()) - expected
    if spread == 0.0:
        return 0.0 if gap == 0.0 else math.copysign(1e300, gap)
    return gap * math.sqrt(min(effective_sample_size(series), float(series.size))) / spread
