"""Densities and gradients at any number of points, by compiled programs of a few fixed sizes.

Each size is a program of its own, so points are evaluated in blocks of one size and the last block is padded with copies of its first
point. A short call (the local moves of a few particles, say; any, where the data are large) of a model with many data has a smaller size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.compiled import MOST_OF_LARGE, JaxBackend, compiled, points_at_once
from zhat.sampling.state import State
from zhat.sampling.target import Target

# Points of a block, where the size of the data allows: a call takes some 50 microseconds beside its arithmetic.
AT_ONCE = 2048
# The small blocks, as fractions of the usual one (the local moves of 2,000 particles are of 32, of 10,000 of 157), and the points x data entries
# of a usual block above which one is worth a program of its own: 2,000 points of ten data take less than half a millisecond, and a
# program some 200.
SMALL = (32, 8)
WORTH_SMALL = 200_000


def densities_at(model: Model, position: Array, small: bool = False) -> tuple[Array, Array]:
    """Log prior and log likelihood of any number of points; with `small`, few points are evaluated in a block of their own size."""
    if not len(position):
        return np.empty(0), np.empty(0)
    log_prior, log_likelihood = _in_blocks(
        lambda part: compiled(model, "densities", JaxBackend.density, part), model, position, small
    )
    return log_prior, log_likelihood


def gradients_at(model: Model, position: Array, target: Target, small: bool = False, quick: bool = False) -> State:
    """States at any number of points, with the gradient of the target's smooth log density."""
    purpose = ("gradients", type(target).__name__)
    log_prior, log_likelihood, gradient = _in_blocks(
        lambda part: compiled(model, purpose, _gradients, part, target, quick=quick), model, position, small
    )
    return State(position=position, log_prior=log_prior, log_likelihood=log_likelihood, gradient=gradient)


def _gradients(backend: JaxBackend, points: Any, target: Target) -> Any:
    state = backend.gradient(points, target)
    return state.log_prior, state.log_likelihood, state.gradient


def _in_blocks(evaluate: Callable[[Array], Any], model: Model, position: Array, small: bool) -> tuple[Array, ...]:
    block = points_at_once(model)
    size = block if block == MOST_OF_LARGE else min(4 * block, AT_ONCE)
    if (small or block == MOST_OF_LARGE) and size * model.data_size > WORTH_SMALL:
        size = next((max(1, size // part) for part in SMALL if len(position) * part <= size), size)
    parts = [evaluate(part) for part in _padded(position, size)]
    return tuple(np.concatenate([np.asarray(part) for part in column])[: len(position)] for column in zip(*parts, strict=True))


def _padded(position: Array, size: int) -> Iterator[Array]:
    for start in range(0, len(position), size):
        part = position[start : start + size]
        missing = size - len(part)
        yield np.concatenate([part, np.broadcast_to(part[:1], (missing, part.shape[1]))]) if missing else part
