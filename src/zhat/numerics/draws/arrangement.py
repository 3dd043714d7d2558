"""Are draws arranged as chains? Two ways in which arrays go wrong without a trace in names and shapes.

Draws stand as (chain, draw, coordinate): along the second axis each follows the one before, and chains are independent. From this the
standard error is computed, so that draws in another order have a wrong one, most often too small.

* *The first two axes are exchanged.* Neighbouring rows then follow each other as successive draws do. Rows that are independent chains have a
  mean product of zero between neighbours, whatever their own correlation: `likeness_of_neighbours`.
* *Several chains stand interleaved in one*, as walkers of an ensemble do in a flattened array. Draw i then resembles draw i + k, for k chains,
  and not those between, where summed autocorrelations end: `echo`.

Both work on ranks, so that heavy tails do not matter.

*When they lie.* Draws that are all but independent show neither; their order is then of no importance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import FloatArray, finite
from zhat.numerics.series import autocovariance


@dataclass(frozen=True)
class Likeness:
    """A correlation, how many standard errors it is from zero, and at which distance it was found."""

    correlation: float
    z: float
    lag: int = 1


def likeness_of_neighbours(draws: ArrayLike) -> Likeness:
    """The correlation of each chain with the next, draw by draw, in the coordinate where it is clearest.

    Parameters
    ----------
    draws : array_like, shape (n_chains, n_draws, d)
        At least three chains. The products of one pair of chains are averaged; the scatter of these means is that of the result.
    """
    scores = _scores(_three_axes(draws))
    products = (scores[1:] * scores[:-1]).mean(axis=1)
    spread = products.std(axis=0, ddof=1) / math.sqrt(len(products))
    mean = products.mean(axis=0)
    z = np.divide(mean, spread, out=np.zeros_like(mean), where=spread > 0.0)
    k = int(np.argmax(z))
    return Likeness(float(mean[k]), float(z[k]))


def echo(draws: ArrayLike) -> Likeness:
    """The largest autocorrelation beyond the lag at which the summed ones of `effective_sample_size` end.

    In standard errors of a series whose correlations end there (Bartlett 1946). Lags up to a quarter of a chain.

    Parameters
    ----------
    draws : array_like, shape (n_chains, n_draws, d)
    """
    values = _three_axes(draws)
    n_chains, n_draws, _ = values.shape
    largest = Likeness(0.0, 0.0)
    if n_draws < 8:
        return largest
    for column in np.moveaxis(_scores(values), 2, 0):
        covariance = autocovariance(column).mean(axis=0)
        if covariance[0] <= 0.0:
            continue
        correlation = covariance / covariance[0]
        end = _end_of_sum(correlation)
        if end >= n_draws // 4:
            continue
        error = math.sqrt((1.0 + 2.0 * float((correlation[1:end] ** 2).sum())) / (n_chains * n_draws))
        late = correlation[end : n_draws // 4 + 1]
        k = int(np.argmax(late))
        if late[k] / error > largest.z:
            largest = Likeness(float(late[k]), float(late[k] / error), end + k)
    return largest


def _end_of_sum(correlation: FloatArray) -> int:
    """The first lag that Geyer's (1992) initial positive sequence leaves out."""
    n_pairs = len(correlation) // 2
    pairs = correlation[: 2 * n_pairs].reshape(n_pairs, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0.0)
    return 2 * int(negative[0]) if negative.size else 2 * n_pairs


def _scores(values: FloatArray) -> FloatArray:
    """Ranks of each coordinate over all draws, with mean zero and variance one."""
    n = values.shape[0] * values.shape[1]
    columns = np.ascontiguousarray(values.reshape(n, -1).T)
    ranks = np.empty_like(columns)
    np.put_along_axis(ranks, np.argsort(columns, axis=1, kind="stable"), np.arange(n, dtype=np.float64)[None, :], axis=1)
    return (ranks.T.reshape(values.shape) - (n - 1) / 2.0) / max(math.sqrt((n**2 - 1) / 12.0), 1.0)


def _three_axes(draws: ArrayLike) -> FloatArray:
    values = finite(draws, "draws")
    if values.ndim != 3:
        raise ValueError(f"draws have shape {values.shape}: chains, draws and coordinates are expected.")
    return values
