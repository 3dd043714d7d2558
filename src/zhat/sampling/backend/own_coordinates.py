"""Records of runs in the standard coordinates of a model, taken back to the coordinates that readers of a record know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import numpy as np

from zhat.model.model import Model
from zhat.results.records import Draws
from zhat.sampling.backend.compiled import JaxBackend, compiled

# Draws that are taken back at a time, so that one program serves.
AT_ONCE = 4096


def in_users_coordinates(model: Model, record: Any) -> Any:
    """The record of a run on `model`, with its posterior draws in the coordinates of the user's model.

    Points of an `OrdinateRun` stay as they are: no family of the default makes one.
    """
    if record is None or not getattr(model.space, "standard", False):
        return record
    if isinstance(record, Draws):
        return _taken_back(model, record)
    return record if record.final is None else replace(record, final=_taken_back(model, record.final))


def _taken_back(model: Model, draws: Draws) -> Draws:
    position, log_prior = np.empty_like(draws.position), np.empty_like(draws.log_prior)
    for start in range(0, len(position), AT_ONCE):
        part = draws.position[start : start + AT_ONCE]
        padded = np.concatenate([part, np.broadcast_to(part[:1], (AT_ONCE - len(part), part.shape[1]))])
        moved, density = compiled(model, "own coordinates", _own, padded)
        position[start : start + AT_ONCE] = np.asarray(moved)[: len(part)]
        log_prior[start : start + AT_ONCE] = np.asarray(density)[: len(part)]
    return replace(draws, position=position, log_prior=log_prior)


def _own(backend: JaxBackend, points: Any) -> Any:
    standard, data, hyper = backend.core.space, backend.data, backend.hyper
    own = standard.other_coordinates
    assert own is not None

    def one(u: Any) -> Any:
        params, _ = standard.constrain(u, data, hyper)
        position = own.unconstrain(params, data, hyper)
        return position, own.constrain(position, data, hyper)[1]

    return jax.vmap(one)(points)
