"""Calling a likelihood that is any Python function: one point or a batch at a time, outside JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from zhat.errors import BadType
from zhat.model.values import batch_of_values, describe_point, single_value

if TYPE_CHECKING:
    from zhat.model.core import Shown
    from zhat.model.model import Model

# How the note on an error of a user's likelihood begins.
RAISED_BY_LIKELIHOOD = "raised by the log likelihood of"
# What JAX says of a compiled function that is called in single and in double precision.
TWO_PRECISIONS = "verifier errors"


@dataclass(frozen=True)
class BlackBox:
    """The part of a model that a call of its likelihood needs: what a worker receives."""

    log_likelihood: Callable[..., Any]
    batched: bool
    data: Any
    hyper: Any
    name: str
    shown: Shown | None = None

    @staticmethod
    def of(model: Model) -> BlackBox:
        """That of a model."""
        return BlackBox(model.core.log_likelihood, model.core.batched, model.data, model.hyper, model.name, model.core.shown)

    def values(self, params: Mapping[str, np.ndarray]) -> np.ndarray:
        """Log likelihoods at a batch of points of the space (leading axis n), each checked to be a real number.

        The function receives copies, so that it cannot change the caller's points. Its exceptions are raised unchanged, with a
        note of the point. Where it calls functions that JAX compiles they run in double precision, wherever this is called from.
        """
        with jax.enable_x64(True):
            return self._values(params)

    def _values(self, params: Mapping[str, np.ndarray]) -> np.ndarray:
        n = len(next(iter(params.values())))
        if n == 0:
            return np.empty(0)
        if self.shown is not None:
            params = self.shown.outward(dict(params))
        if self.batched:
            batch = {k: np.array(v) for k, v in params.items()}
            try:
                values = self.log_likelihood(batch, self.data, self.hyper)
            except Exception as error:  # a user's function may raise anything
                if self._takes({k: v[0] for k, v in batch.items()}):
                    raise BadType(
                        f"log_likelihood fails on {n} points at once (batched=True): {str(error).rstrip('.')}. It takes one point at a "
                        "time: set batched=False, or write it for arrays with a leading axis of points."
                    ) from error
                _add_notes(error, f"{RAISED_BY_LIKELIHOOD} {self.name!r} on a batch of {n} points.")
                raise
            return batch_of_values(values, n)
        out = np.empty(n)
        for i in range(n):
            point = {k: np.array(v[i]) for k, v in params.items()}
            try:
                value = self.log_likelihood(point, self.data, self.hyper)
            except Exception as error:  # as above
                if self._takes({k: v[None] for k, v in point.items()}):
                    raise BadType(
                        f"log_likelihood fails at one point (batched=False): {str(error).rstrip('.')}. It takes arrays with a leading axis "
                        "of points: set batched=True."
                    ) from error
                _add_notes(error, f"{RAISED_BY_LIKELIHOOD} {self.name!r} at {describe_point(params, i)}.")
                raise
            out[i] = single_value(value)
        return out

    def _takes(self, params: Mapping[str, np.ndarray]) -> bool:
        """Whether the function returns one number for one point given in the other form, as a batch or as a point."""
        try:
            value = self.log_likelihood({k: np.array(v) for k, v in params.items()}, self.data, self.hyper)
            return value is not None and np.asarray(value).size == 1 and np.asarray(value).dtype.kind in "iuf"
        except Exception:  # a user's function may raise anything
            return False


def _add_notes(error: Exception, where: str) -> None:
    """Say where a user's function failed, and what to do where JAX had compiled it in single precision before: it cannot be both."""
    error.add_note(where)
    if TWO_PRECISIONS in str(error):
        error.add_note(
            "JAX has compiled it in single precision before, and zhat calls it in double precision: begin the script with "
            "jax.config.update('jax_enable_x64', True)."
        )


def black_box_values(model: Model, params: Mapping[str, np.ndarray]) -> np.ndarray:
    """Log likelihoods of a model at a batch of points, in this process."""
    return BlackBox.of(model).values(params)
