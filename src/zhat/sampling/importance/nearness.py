"""Which starts of a survey are compared with the known modes: those whose density is high for their distance from the mode.

In the basin of an unknown mode the density is higher than elsewhere at the same distance from a known one, provided that distances are
measured so that the density of the known mode depends on little else. No coordinates do so for every model: a normal posterior under a
uniform prior is elliptical in the parameters and far from it in their unconstrained coordinates, that of a scale parameter rather in the
latter. So distances in both are tried, each in the standard deviations of the mode, and those are taken with which the density of the
starts falls more steadily (by Spearman's rank correlation). This takes no likelihoods.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zhat.model.model import Model
from zhat.numerics.shells import high_for_distance
from zhat.results.records import Array, Draws
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.importance.modes import Mode

# The share of the starts that are compared with modes: the highest at their distance.
COMPARED = 1 / 16
# Starts that tell which distances are better.
ENOUGH = 1024
# Step of a difference quotient, in standard deviations of the mode.
STEP = 1e-3


def high_starts(model: Model, draws: Draws, modes: list[Mode]) -> NDArray[np.bool_]:
    """Which starts have one of the highest densities at their distance from the mode that explains them best."""
    density = draws.log_prior + draws.log_likelihood
    nearest, distance = max(_views(model, draws.position, modes), key=lambda view: _agreement(view, modes, density))
    high = np.zeros(len(density), dtype=bool)
    for i in np.unique(nearest):
        there = np.flatnonzero(nearest == i)
        high[there] = high_for_distance(density[there], distance[there], COMPARED)
    return high


def _views(model: Model, position: Array, modes: list[Mode]) -> list[tuple[NDArray[np.int64], Array]]:
    """In each kind of coordinates: the mode whose normal approximation is highest at each point, and the distance from it."""
    values = _values(model, position)
    views = [_nearest(np.stack([mode.distances(position) for mode in modes]), modes)]
    in_values = [] if values is None else [_in_values(model, mode, values) for mode in modes]
    if in_values and all(distance is not None for distance in in_values):
        views.append(_nearest(np.stack(in_values), modes))  # type: ignore[arg-type]
    return views


def _nearest(distances: Array, modes: list[Mode]) -> tuple[NDArray[np.int64], Array]:
    nearest = np.argmax(np.array([mode.log_density for mode in modes])[:, None] - 0.5 * distances**2, axis=0)
    return nearest, distances[nearest, np.arange(distances.shape[1])]


def _agreement(view: tuple[NDArray[np.int64], Array], modes: list[Mode], density: Array) -> float:
    """The rank correlation of the first densities with what the normal approximations expect."""
    nearest, distance = (part[:ENOUGH] for part in view)
    return _rank_correlation(np.array([mode.log_density for mode in modes])[nearest] - 0.5 * distance**2, density[:ENOUGH])


def _values(model: Model, position: Array) -> Array | None:
    """The parameters themselves, as flat vectors; None where they are not as many as their coordinates."""
    if any(site.shape != site.free_shape for site in model.space.sites):
        return None
    params, _ = constrain_batch(model, position)
    return np.concatenate([params[site.name].reshape(len(position), -1) for site in model.space.sites], axis=1)


def _in_values(model: Model, mode: Mode, values: Array) -> Array | None:
    """Distances from a mode in the parameters, whose covariance there follows from the slopes of the map."""
    d = len(mode.position)
    steps = STEP * np.diag(np.sqrt(np.diag(mode.covariance)))
    at = _values(model, np.concatenate([mode.position[None], mode.position + steps, mode.position - steps]))
    assert at is not None
    slopes = (at[1 : d + 1] - at[d + 1 :]).T / (2.0 * np.diag(steps))
    try:
        factor = np.linalg.cholesky(slopes @ mode.covariance @ slopes.T)
    except np.linalg.LinAlgError:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        squared = (np.linalg.solve(factor, (values - at[0]).T) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(np.where(np.isfinite(squared), squared, np.inf)))


def _rank_correlation(a: Array, b: Array) -> float:
    """Spearman's; zero for a single point."""
    first, second = (np.argsort(np.argsort(x, kind="stable"), kind="stable") for x in (a, b))
    return float(np.corrcoef(first, second)[0, 1]) if len(a) > 1 else 0.0
