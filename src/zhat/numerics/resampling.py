"""Resampling: draw indices in proportion to weights, from uniforms that are given.

Every scheme gives draw i an expected number n w_i / Σw of copies, so means are unbiased; they differ
in how much noise they add around it. Multinomial adds most, residual and stratified less, systematic
usually least (Douc, Cappé & Moulines 2005, *Comparison of resampling schemes for particle
filtering*). Systematic resampling depends on the order of the particles: in an unlucky order it can
be worse than multinomial, and stratified cannot.

All but residual invert the cumulative weights. Their last entry is not exactly one in floating point,
and a uniform beyond it would point past the end or at a particle of weight zero, so the index is held
at the last particle with positive weight.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import FloatArray, IntArray, log_weight_vector, unit_interval
from zhat.numerics._checks import log_weights as checked_log_weights


def systematic(log_weights: ArrayLike, uniform: float, n: int) -> IntArray:
    """Resample with one uniform: the positions (uniform + i) / n.

    Each draw gets the number of copies it deserves, rounded up or down.

    Parameters
    ----------
    log_weights : array_like, shape (m,)
        Not necessarily normalised.
    uniform : float
        Between 0 and 1.
    n : int
        Number of indices wanted.

    Returns
    -------
    ndarray of int64, shape (n,)
        Indices in increasing order.
    """
    _check_n(n)
    offset = unit_interval(uniform, "uniform")
    return _invert(_proportions(log_weights), (offset + np.arange(n)) / n)


def systematic_in_rows(log_weights: ArrayLike, uniforms: ArrayLike, n: int) -> IntArray:
    """Resample each row of weights by itself, as `systematic` would with the row's uniform.

    One search serves all rows: row k's cumulative weights are laid out from k to k + 1.

    Parameters
    ----------
    log_weights : array_like, shape (k, m)
        Not necessarily normalised.
    uniforms : array_like, shape (k,)
        Between 0 and 1.
    n : int
        Number of indices wanted from each row.

    Returns
    -------
    ndarray of int64, shape (k, n)
        Indices within each row, in increasing order.
    """
    _check_n(n)
    values, offsets = checked_log_weights(log_weights), unit_interval(uniforms, "uniforms")
    k, m = values.shape
    top = values.max(axis=1, initial=-np.inf, keepdims=True)
    if top.min() == -np.inf:
        raise ValueError(f"Row {int(np.argmin(top))} of log_weights has no positive weight: there is nothing to resample.")
    weights = np.exp(values - top)
    cumulative = np.cumsum(weights, axis=1)
    last = m - 1 - np.argmax(weights[:, ::-1] > 0.0, axis=1)
    rows = np.arange(k)[:, None]
    positions = rows + (offsets[:, None] + np.arange(n)) / n
    found = np.searchsorted((rows + cumulative / cumulative[:, -1:]).ravel(), positions.ravel(), side="right")
    # A row's last position may round up to its end, and so be found in the next row.
    return np.asarray(np.minimum(found.reshape(k, n) - m * rows, last[:, None]), dtype=np.int64)


def one_in_columns(weights: ArrayLike, uniforms: ArrayLike) -> IntArray:
    """Draw one index from each column of weights, by the column's uniform.

    Parameters
    ----------
    weights : array_like, shape (m, n)
        The weights themselves, not negative, not necessarily normalised; some of each column positive.
    uniforms : array_like, shape (n,)
        Between 0 and 1.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    values, offsets = np.asarray(weights, dtype=np.float64), unit_interval(uniforms, "uniforms")
    total = values.sum(axis=0)
    if not (total > 0.0).all():
        raise ValueError(f"Column {int(np.argmin(total > 0.0))} of weights has no positive weight: there is nothing to draw.")
    target, reached, found = offsets * total, np.zeros_like(total), np.zeros(total.shape, dtype=np.int64)
    for row in values:  # row by row: NumPy's cumulative sum over the first axis takes three times as long
        reached += row
        found += reached <= target
    past = np.flatnonzero(found == len(values))  # a uniform near one may round up to the end
    found[past] = len(values) - 1 - np.argmax(values[::-1, past] > 0.0, axis=0)
    return np.asarray(found, dtype=np.int64)


def stratified(log_weights: ArrayLike, uniforms: ArrayLike) -> IntArray:
    """Resample with one uniform in each of n equal strata: the positions (uniforms[i] + i) / n.

    Parameters
    ----------
    log_weights : array_like, shape (m,)
        Not necessarily normalised.
    uniforms : array_like, shape (n,)
        Between 0 and 1; as many as indices are wanted.

    Returns
    -------
    ndarray of int64, shape (n,)
        Indices in increasing order.
    """
    offsets = unit_interval(uniforms, "uniforms").ravel()
    return _invert(_proportions(log_weights), (offsets + np.arange(offsets.size)) / max(offsets.size, 1))


def multinomial(log_weights: ArrayLike, uniforms: ArrayLike) -> IntArray:
    """Resample independently: index i is drawn by `uniforms[i]` alone.

    Parameters
    ----------
    log_weights : array_like, shape (m,)
        Not necessarily normalised.
    uniforms : array_like, shape (n,)
        Between 0 and 1; as many as indices are wanted.

    Returns
    -------
    ndarray of int64, shape (n,)
        Indices in the order of the uniforms.
    """
    return _invert(_proportions(log_weights), unit_interval(uniforms, "uniforms").ravel())


def residual(log_weights: ArrayLike, uniforms: ArrayLike, n: int) -> IntArray:
    """Keep the whole part of each draw's n w_i copies, and draw the rest by multinomial resampling.

    Parameters
    ----------
    log_weights : array_like, shape (m,)
        Not necessarily normalised.
    uniforms : array_like
        Between 0 and 1. Only as many as copies are left over are used; n are always enough.
    n : int
        Number of indices wanted.

    Returns
    -------
    ndarray of int64, shape (n,)
        The kept copies in increasing order, then the drawn ones.
    """
    _check_n(n)
    offsets = unit_interval(uniforms, "uniforms").ravel()
    expected = n * _proportions(log_weights)
    # n w_i that should be whole may arrive as 2.9999999999999996; without the nudge, equal weights
    # would be resampled at random instead of being kept one each.
    copies = np.floor(expected + 1e-10)
    kept = np.repeat(np.arange(expected.size), copies.astype(np.int64))
    n_left = n - kept.size
    if offsets.size < n_left:
        raise ValueError(
            f"uniforms holds {offsets.size} numbers: {n_left} of the n={n} copies are drawn at random; give "
            "n uniforms to be safe."
        )
    if n_left == 0:
        return kept.astype(np.int64)
    leftover = np.maximum(expected - copies, 0.0)
    drawn = _invert(leftover / leftover.sum(), offsets[:n_left])
    return np.concatenate([kept, drawn]).astype(np.int64)


def _proportions(log_weights: ArrayLike) -> FloatArray:
    values = log_weight_vector(log_weights)
    top = np.max(values, initial=-np.inf)
    if np.isneginf(top):
        raise ValueError(
            f"All {values.size} weights are zero: there is nothing to resample; temper in smaller steps, or "
            "check the model where the particles are."
        )
    weights = np.exp(values - top)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _invert(proportions: FloatArray, positions: FloatArray) -> IntArray:
    # side="right" finds the first cumulative weight strictly above the position, which a weight of
    # zero can never be.
    found = np.searchsorted(np.cumsum(proportions), positions, side="right")
    return np.asarray(np.minimum(found, np.flatnonzero(proportions)[-1]), dtype=np.int64)


def _check_n(n: int) -> None:
    if n < 0:
        raise ValueError(f"n={n}: the number of indices wanted cannot be negative.")
