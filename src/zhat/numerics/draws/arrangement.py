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
from scipy.fft import irfft, next_fast_len, rfft

from zhat.numerics._checks import FloatArray, finite


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
    longest = n_draws // 4
    for column in np.moveaxis(_scores(values), 2, 0):
        correlation = _correlations(np.ascontiguousarray(column), longest)
        end = _end_of_sum(correlation)
        if end >= longest:
            continue
        error = math.sqrt((1.0 + 2.0 * float((correlation[1:end] ** 2).sum())) / (n_chains * n_draws))
        late = correlation[end:]
        k = int(np.argmax(late))
        if late[k] / error > largest.z:
            largest = Likeness(float(late[k]), float(late[k] / error), end + k)
    return largest


def _correlations(column: FloatArray, longest: int) -> FloatArray:
    """Autocorrelations of one coordinate (n_chains, n_draws) at lags 0 to `longest`, the mean over chains; zeros for one that stands still."""
    centred = column - column.mean(axis=1, keepdims=True)
    padded = next_fast_len(column.shape[1] + longest, real=True)  # no lag up to the longest meets itself around the circle
    transform = rfft(centred, padded, axis=1)
    covariance = irfft((transform.real**2 + transform.imag**2).mean(axis=0), padded)[: longest + 1]
    return np.asarray(covariance / covariance[0] if covariance[0] > 0.0 else np.zeros(longest + 1), dtype=np.float64)


def _end_of_sum(correlation: FloatArray) -> int:
    """The first lag that Geyer's (1992) initial positive sequence leaves out."""
    n_pairs = len(correlation) // 2
    pairs = correlation[: 2 * n_pairs].reshape(n_pairs, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0.0)
    return 2 * int(negative[0]) if negative.size else 2 * n_pairs


def _scores(values: FloatArray) -> FloatArray:
    """Ranks of each coordinate over all draws, with mean zero and variance one; of equal values the first one's is lowest."""
    n = values.shape[0] * values.shape[1]
    ranks = np.empty((values.shape[2], n))
    in_order = (np.arange(n) - (n - 1) / 2.0) / max(math.sqrt((n**2 - 1) / 12.0), 1.0)
    for column, rank in zip(np.ascontiguousarray(values.reshape(n, -1).T), ranks, strict=True):
        order = np.argsort(column)
        if (column[order[1:]] == column[order[:-1]]).any():
            order = np.argsort(column, kind="stable")  # four times as slow
        rank[order] = in_order
    return np.ascontiguousarray(ranks.T.reshape(values.shape))


def _three_axes(draws: ArrayLike) -> FloatArray:
    values = finite(draws, "draws")
    if values.ndim != 3:
        raise ValueError(f"draws have shape {values.shape}: chains, draws and coordinates are expected.")
    return values
