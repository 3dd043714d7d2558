"""Batches of points between the unconstrained space and the unit cube of the prior (`model.coordinates.cube`), by compiled functions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import jax
import numpy as np

from zhat.model.coordinates.cube import CubeMap, cube_map
from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.compiled import JaxBackend, compiled
from zhat.sampling.backend.evaluation import prior_positions
from zhat.seeding import Key

# Prior draws by which the maps are fitted and tested; they cost no likelihoods.
N_TESTED = 1024
# Kolmogorov's distance of a coordinate of the prior draws from the uniform beyond which its distribution function is not used: that of
# 1,024 exact draws exceeds it once in 10^6.
KOLMOGOROV = 0.08
# The largest error of going to the cube and back, relative to the spread of the prior draws.
THERE_AND_BACK = 1e-6
# The standard deviation of a standard logistic; the logistic is made half as wide again as the prior's draws, for its tails.
LOGISTIC, WIDER = np.pi / np.sqrt(3.0), 1.5
# Points that are mapped together: the few of one batch of a black box, or many. Each size is a program of its own, which takes longer to compile than
# a run's calls lose by padding; compiled models, whose batches are larger, have one.
TOGETHER = (64, 2048)


@dataclass(frozen=True)
class Cube:
    """The cube of a model's prior."""

    model: Model
    map: CubeMap
    location: Array
    scale: Array

    @property
    def is_uniform(self) -> bool:
        """Whether the prior is uniform in the cube."""
        return self.map.is_uniform

    def of(self, position: Array) -> tuple[Array, Array]:
        """Coordinates in the cube of some points (n, d), and the log density of the prior there."""
        return self._mapped("to cube", position)

    def positions(self, coordinates: Array) -> tuple[Array, Array]:
        """The unconstrained vectors at some points of the cube, and the log density of the prior in the cube."""
        return self._mapped("from cube", coordinates)

    def _mapped(self, way: str, points: Array) -> tuple[Array, Array]:
        if not len(points):
            return points, np.empty(0)
        n = len(points)
        size = TOGETHER[0] if self.model.is_black_box and way == "from cube" and n <= TOGETHER[0] else TOGETHER[1]
        filled = np.concatenate([points, np.broadcast_to(points[:1], (-n % size, points.shape[1]))])
        map_ = self.map

        def body(backend: JaxBackend, filled: Any, location: Any, scale: Any) -> Any:
            one = map_.to_cube if way == "to cube" else map_.from_cube
            return jax.vmap(lambda x: one(x, location, scale, backend.data, backend.hyper))(filled)

        parts = [
            compiled(self.model, (way, map_.exact), body, filled[i : i + size], self.location, self.scale, quick=True)
            for i in range(0, len(filled), size)
        ]
        to, log_q = (np.concatenate([np.asarray(part) for part in column])[:n] for column in zip(*parts, strict=True))
        return to, log_q


# Without the model: a value that holds its key would keep the model, and what is compiled for it, for ever.
_CUBES: WeakKeyDictionary[Model, tuple[CubeMap, Array, Array]] = WeakKeyDictionary()


def cube_of(model: Model) -> Cube:
    """The cube of a model, made once; a distribution function that fails on prior draws is not used."""
    if model not in _CUBES:
        made = _made(model)
        _CUBES[model] = made.map, made.location, made.scale
    return Cube(model, *_CUBES[model])


def _made(model: Model) -> Cube:
    draws = prior_positions(model, N_TESTED, Key(0).child("cube"))
    draws = draws[np.isfinite(draws).all(axis=1)]
    location, spread = np.median(draws, axis=0), np.maximum(draws.std(axis=0), 1e-12)
    cube = Cube(model, cube_map(model.space, model.data, model.hyper), location, WIDER * spread / LOGISTIC)
    coordinates, _ = cube.of(draws)
    back, _ = cube.positions(coordinates)
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(back - draws).max(axis=0) < THERE_AND_BACK * spread)
    steps = np.arange(len(draws)) / len(draws)
    distance = np.abs(np.sort(coordinates, axis=0) - steps[:, None]).max(axis=0)
    wrong |= ~(distance < KOLMOGOROV)
    start, failed = 0, set()
    for site in model.space.sites:
        if wrong[start : start + site.size].any():
            failed.add(site.name)
        start += site.size
    return replace(cube, map=cube.map.without(failed)) if failed & cube.map.exact else cube
