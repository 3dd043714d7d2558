"""Calling a likelihood that is any Python function: one point or a batch at a time, outside JAX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from zhat.model.values import batch_of_values, describe_point, single_value

if TYPE_CHECKING:
    from zhat.model.model import Model


def black_box_values(model: Model, params: Mapping[str, np.ndarray]) -> np.ndarray:
    """Log likelihoods at a batch of points (leading axis n), each checked to be a real number.

    The function receives copies, so that it cannot change the caller's points. Its exceptions are raised unchanged, with a
    note of the point.
    """
    core = model.core
    n = len(next(iter(params.values())))
    if n == 0:
        return np.empty(0)
    if core.batched:
        batch = {k: np.array(v) for k, v in params.items()}
        try:
            values = core.log_likelihood(batch, model.data, model.hyper)
        except Exception as error:  # a user's function may raise anything
            error.add_note(f"raised by the log likelihood of {model.name!r} on a batch of {n} points.")
            raise
        return batch_of_values(values, n)
    out = np.empty(n)
    for i in range(n):
        point = {k: np.array(v[i]) for k, v in params.items()}
        try:
            value = core.log_likelihood(point, model.data, model.hyper)
        except Exception as error:  # as above
            error.add_note(f"raised by the log likelihood of {model.name!r} at {describe_point(params, i)}.")
            raise
        out[i] = single_value(value)
    return out
