"""Points at which Chib's two methods estimate the posterior density.

The identity log Z = log L + log prior - log posterior density holds at every point. The first point gives the answer; it is
computed again at the others, and differences beyond the standard error make the result suspect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.evaluation import unconstrained


def central_points(position: Array, rng: np.random.Generator) -> Array:
    """Four points at which to check an answer: mean, median and two draws of these (n, d) posterior draws."""
    draws = position[rng.choice(len(position), 2, replace=False)]
    return np.stack([position.mean(axis=0), np.median(position, axis=0), *draws])


def point_of(model: Model, given: Mapping[str, Any], owner: str) -> Array:
    """The user's point as an unconstrained vector, if the posterior density there is above zero."""
    for site in model.space.sites:
        shape = np.shape(given[site.name]) if site.name in given else site.shape
        if shape != site.shape:
            raise BadInput(f"{owner}(point=...): {site.name!r} has shape {shape} there and {site.shape} in the model.")
    log_prior, log_likelihood = model.evaluate(**given)
    position = unconstrained(model, {name: np.asarray(given[name], np.float64)[None] for name in model.space.names})[0]
    if not (np.isfinite(log_prior) and np.isfinite(log_likelihood) and np.isfinite(position).all()):
        raise BadInput(
            f"{owner}(point={dict(given)}): log prior {log_prior}, log likelihood {log_likelihood}: the posterior density is "
            "zero there, and its log is wanted. Give a point of high density, or none to have one chosen."
        )
    return position
