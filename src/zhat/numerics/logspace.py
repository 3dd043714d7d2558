"""Sums, means and differences of numbers that are kept as their logarithms.

A likelihood of a thousand observations is e^-1400 or so, which a double cannot hold; its logarithm it
can. The identity behind everything here is

    log Σ exp(x_i) = m + log Σ exp(x_i - m),        m = max_i x_i,

where the largest term becomes exp(0) = 1, so nothing overflows and what underflows did not matter.
The rounding error is a few units in the last place of max(|m|, 1).

-inf is the logarithm of zero and is summed as such. +inf makes a sum +inf. NaN is refused.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import FloatArray, numbers, vector

Axis = int | tuple[int, ...]


@overload
def log_sum_exp(x: ArrayLike, axis: None = None) -> float: ...
@overload
def log_sum_exp(x: ArrayLike, axis: Axis) -> FloatArray: ...
def log_sum_exp(x: ArrayLike, axis: Axis | None = None) -> float | FloatArray:
    """Logarithm of the sum of exponentials.

    Parameters
    ----------
    x : array_like
        Logarithms of the terms.
    axis : int or tuple of int, optional
        Axes summed over; all of them if not given.

    Returns
    -------
    float or ndarray
        A float when everything is summed. The sum of no terms is zero, so its logarithm is -inf.
    """
    values = numbers(x, "x")
    top = np.max(values, axis=axis, keepdims=True, initial=-np.inf)
    # -inf - (-inf) would be NaN: where there is nothing finite to shift by, do not shift.
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        total = np.log(np.sum(np.exp(values - shift), axis=axis, keepdims=True)) + shift
    return float(total.item()) if axis is None else np.squeeze(total, axis=axis)


@overload
def log_mean_exp(x: ArrayLike, axis: None = None) -> float: ...
@overload
def log_mean_exp(x: ArrayLike, axis: Axis) -> FloatArray: ...
def log_mean_exp(x: ArrayLike, axis: Axis | None = None) -> float | FloatArray:
    """Logarithm of the mean of exponentials; terms of -inf count in the number divided by.

    Parameters
    ----------
    x : array_like
        Logarithms of the terms.
    axis : int or tuple of int, optional
        Axes averaged over; all of them if not given.
    """
    values = numbers(x, "x")
    if axis is None:
        count = values.size
    else:
        axes = axis if isinstance(axis, tuple) else (axis,)
        count = int(np.prod([values.shape[a] for a in axes]))
    if count == 0:
        raise ValueError(f"x has shape {values.shape}: the mean of no terms is undefined; give at least one.")
    if axis is None:
        return log_sum_exp(values) - float(np.log(count))
    return np.asarray(log_sum_exp(values, axis) - np.log(count), dtype=np.float64)


def log_add_exp(a: FloatArray, b: FloatArray) -> FloatArray:
    """log(exp(a) + exp(b)) element by element, for finite numbers and -inf.

    `np.logaddexp` by functions that NumPy vectorises: a fifth of its time on long arrays. The number under the logarithm is between one
    and two, so rounding it costs the sum no digit.
    """
    top = np.maximum(a, b)
    with np.errstate(invalid="ignore"):
        apart = np.where(top > -np.inf, np.abs(a - b), np.inf)
    return np.asarray(top + np.log(1.0 + np.exp(-apart)))


@overload
def log1m_exp(x: float) -> float: ...
@overload
def log1m_exp(x: FloatArray) -> FloatArray: ...
def log1m_exp(x: float | FloatArray) -> float | FloatArray:
    """log(1 - exp(x)) for x <= 0, accurate at both ends.

    Near x = 0 the difference 1 - exp(x) cancels, so expm1 is used; far below, exp(x) is lost beside
    1, so log1p is. The two forms change over at -log 2 (Mächler 2012, *Accurately computing
    log(1 - exp(-|a|))*).

    Parameters
    ----------
    x : float or ndarray
        At most zero. Zero gives -inf, -inf gives zero.
    """
    values = numbers(x, "x")
    if (values > 0.0).any():
        raise ValueError(f"x={values[values > 0.0].max()}: 1 - exp(x) is negative above zero and has no logarithm; pass x <= 0.")
    with np.errstate(divide="ignore"):
        near = np.log(-np.expm1(np.maximum(values, -1.0)))
        far = np.log1p(-np.exp(np.minimum(values, -0.5)))
    result = np.where(values > -np.log(2.0), near, far)
    return float(result) if result.ndim == 0 else result


@overload
def log_diff_exp(a: float, b: float) -> float: ...
@overload
def log_diff_exp(a: FloatArray, b: FloatArray | float) -> FloatArray: ...
def log_diff_exp(a: float | FloatArray, b: float | FloatArray) -> float | FloatArray:
    """log(exp(a) - exp(b)) for a >= b.

    Relative accuracy is lost when a and b agree in most digits; that is cancellation in the data,
    which no formula undoes.

    Parameters
    ----------
    a, b : float or ndarray
        Logarithms of the larger and the smaller number. Equal ones give -inf.
    """
    upper, lower = np.broadcast_arrays(numbers(a, "a"), numbers(b, "b"))
    if (upper < lower).any():
        first = np.argwhere(upper < lower)[0]
        raise ValueError(
            f"a={upper[tuple(first)]}, b={lower[tuple(first)]}: exp(a) - exp(b) is negative and has no "
            "logarithm; the larger number comes first."
        )
    if np.isposinf(lower).any():
        raise ValueError("a=inf, b=inf: the difference of two infinite numbers is undefined; check where they overflowed.")
    empty = upper == lower
    gap = np.where(empty, 0.0, lower - np.where(empty, 0.0, upper))
    result = np.where(empty, -np.inf, upper + log1m_exp(gap))
    return float(result) if result.ndim == 0 else result


def running_log_sum_exp(x: ArrayLike) -> FloatArray:
    """Logarithms of the partial sums: entry i is the log of exp(x_0) + ... + exp(x_i).

    Parameters
    ----------
    x : array_like, shape (n,)
        Logarithms of the terms.
    """
    values = vector(x, "x")
    return np.asarray(np.logaddexp.accumulate(values), dtype=np.float64) if values.size else values.copy()
