"""Starts of a survey: points that fill the prior evenly.

Multiples of a vector of irrational numbers, modulo one (Kronecker's sequence, by the generalised golden ratio: Roberts 2018) fill the unit
cube more evenly than random points, and the prior's quantile functions carry them to the parameters (`model.coordinates.cube.quantiles_at`). The sequence is
shifted at random, so every point is a draw from the prior: n starts meet a basin that holds the share s of the
prior n s times on average, as random ones do; but the number varies less. It is also cheaper: quantiles cost less than random numbers of
NumPyro. If some parameter has no quantile function, all are drawn at random.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.evaluation import positions_at, prior_positions
from zhat.seeding import Key

# In more dimensions tens of thousands of points of no sequence are spread more evenly than random ones.
SPREAD_UP_TO = 40
# Random draws by which the quantile functions are tested, and the distance of Kolmogorov (1933) of the two sets in a coordinate beyond which
# the starts are random draws: exact quantiles exceed it once in 10^5.
N_TESTED = 1024
KOLMOGOROV = 0.08
# Keeps quantiles finite.
EDGE = 1e-12


def spread_positions(model: Model, n: int, key: Key, after: int = 0) -> Array:
    """n draws from the prior, as unconstrained vectors, spread evenly; those that follow `after` earlier ones of the same key."""
    d = model.n_dimensions
    if d > SPREAD_UP_TO or not model.space.has_quantiles:
        return prior_positions(model, n, key.child(after))
    coordinates = _even_points(d, np.arange(after, after + n), key.generator())
    position = positions_at(model, coordinates)
    if model.space.has_exact_quantiles:
        return position
    tested = prior_positions(model, min(n, N_TESTED), key.child("tested"))
    return position if _is_alike(position[:N_TESTED], tested) else prior_positions(model, n, key.child(after))


def _even_points(d: int, numbers: NDArray[np.int64], rng: np.random.Generator) -> Array:
    """These members of a sequence that fills the unit cube, shifted at random."""
    ratio = 1.5
    for _ in range(60):  # the root of x^(d+1) = x + 1
        ratio = (1.0 + ratio) ** (1.0 / (d + 1.0))
    steps = ratio ** -np.arange(1.0, d + 1.0)
    return np.clip((rng.random(d) + numbers[:, None] * steps) % 1.0, EDGE, 1.0 - EDGE)


def _is_alike(some: Array, others: Array) -> bool:
    """Whether two sets of points agree in the distribution of every coordinate."""
    n = len(others)
    some, others = (np.sort(np.where(np.isnan(points), np.inf, points), axis=0) for points in (some, others))
    steps = np.arange(1, len(some) + 1) / len(some)
    allowed = KOLMOGOROV * np.sqrt(N_TESTED / min(n, len(some)))
    return all(
        np.abs(np.searchsorted(others[:, i], some[:, i], side="right") / n - steps).max() < allowed for i in range(some.shape[1])
    )
