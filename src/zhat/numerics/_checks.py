"""What an array must be before arithmetic starts; each refusal is one sentence that says what to do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def numbers(values: ArrayLike, name: str) -> FloatArray:
    """Give `values` as a float64 array without NaN; infinities are let through."""
    array = np.asarray(values, dtype=np.float64)
    _refuse_first(
        np.isnan(array),
        array,
        name,
        "not a number, so nothing computed from it would be one; find "
        "the point that produced it, and use -inf there if its density is zero",
    )
    return array


def vector(values: ArrayLike, name: str) -> FloatArray:
    """Give `values` as a one-dimensional float64 array without NaN."""
    return _one_axis(numbers(values, name), name)


def finite_vector(values: ArrayLike, name: str) -> FloatArray:
    """Give `values` as a one-dimensional float64 array of finite numbers."""
    return _one_axis(finite(values, name), name)


def finite(values: ArrayLike, name: str) -> FloatArray:
    """Give `values` as a float64 array of finite numbers."""
    array = numbers(values, name)
    _refuse_first(
        np.isinf(array),
        array,
        name,
        "averages and variances need finite numbers; remove this value or work with weights, where -inf is legal",
    )
    return array


def log_weights(values: ArrayLike, name: str = "log_weights") -> FloatArray:
    """Give `values` as log weights of any shape: finite or -inf."""
    array = numbers(values, name)
    _refuse_first(
        array == np.inf,  # as fast as a comparison; np.isposinf is not
        array,
        name,
        "an infinite weight has no mean; a density ratio was divided by "
        "zero there, so check the denominator (proposal or prior) at this point",
    )
    return array


def log_weight_vector(values: ArrayLike, name: str = "log_weights") -> FloatArray:
    """Give `values` as a one-dimensional array of log weights: finite or -inf."""
    return _one_axis(log_weights(values, name), name)


def unit_interval(values: ArrayLike, name: str) -> FloatArray:
    """Give `values` as uniforms, each between 0 and 1."""
    array = numbers(values, name)
    _refuse_first(
        (array < 0.0) | (array > 1.0),
        array,
        name,
        "uniform numbers lie between 0 and 1; pass what a generator's `random` returns",
    )
    return array


def same_length(first: FloatArray, second: FloatArray, names: str) -> None:
    """Refuse two arrays that should pair up and do not."""
    if first.shape != second.shape:
        raise ValueError(
            f"{names} have shapes {first.shape} and {second.shape}: they are read in pairs; give one value of each per point."
        )


def _one_axis(array: FloatArray, name: str) -> FloatArray:
    if array.ndim != 1:
        raise ValueError(
            f"{name} has shape {array.shape}: one axis is expected; use ravel() if the order of the values does not matter."
        )
    return array


def _refuse_first(bad: NDArray[np.bool_], array: FloatArray, name: str, reason: str) -> None:
    if bad.any():
        index = np.argwhere(bad)[0]
        place = f"[{', '.join(str(int(i)) for i in index)}]" if index.size else ""
        raise ValueError(f"{name}{place}={array[tuple(index)]}: {reason}.")
