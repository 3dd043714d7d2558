"""Values of a log likelihood: one real number per point, and a sentence for everything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zhat.errors import BadType, ShapeError


def describe_point(params: Mapping[str, np.ndarray], i: int) -> str:
    """Row i of a batch of parameters, in words."""
    return ", ".join(f"{k}={np.array2string(np.asarray(v[i]), precision=6, threshold=8)}" for k, v in params.items())


def check_value_type(dtype: np.dtype[Any]) -> None:
    """Refuse what is not a real number."""
    if dtype.kind not in "iuf":
        raise BadType(f"log_likelihood returned values of type {dtype}: it must return a real number, the log likelihood.")


def not_one_value(shape: tuple[int, ...]) -> str:
    """The sentence for several values at one point."""
    n = int(np.prod(shape))
    return f"log_likelihood returned {n} values (shape {shape}) for one point; did you forget .sum()?"


def single_value(value: Any) -> float:
    """The number that the function returned for one point."""
    if value is None:
        raise BadType("log_likelihood returned None: is its return statement missing?")
    array = np.asarray(value)
    check_value_type(array.dtype)
    if array.size != 1:
        raise ShapeError(not_one_value(array.shape))
    return float(array.reshape(()))


def batch_of_values(values: Any, n: int) -> np.ndarray:
    """The n numbers that the function returned for n points."""
    if values is None:
        raise BadType("log_likelihood returned None: is its return statement missing?")
    array = np.asarray(values)
    check_value_type(array.dtype)
    if array.shape not in ((n,), (n, 1)):
        raise ShapeError(
            f"log_likelihood was given {n} points at once (batched=True) and returned shape {array.shape}, not ({n},); "
            "return one value per point, or set batched=False if it takes one point at a time."
        )
    return array.reshape(n).astype(np.float64)
