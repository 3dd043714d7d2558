"""A point hypothesis on a parameter, or on one entry of it: its coordinates, and the prior density there.

`"delta"` is a whole parameter, `"beta[2]"` one entry. An entry has a coordinate of its own where changing it moves no other (not in a
simplex or an ordered vector). Its prior density given the other entries is the site's density along that coordinate over the integral of
that, by quadrature; if it is the same at all draws the entry is independent of the others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from zhat.errors import BadInput, UnsupportedModel
from zhat.model.model import Model
from zhat.model.space import Site
from zhat.results.estimate import Status
from zhat.results.records import Array, Draws
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.evaluation import site_priors, unconstrained
from zhat.sampling.chains.transitions import Columns

# Nats by which log priors may differ from draw to draw and still be equal, relative to their size.
ROUNDING = 1e-8
# Draws at which the prior densities are compared; for an entry, at each of which one integral is computed, fewer.
COMPARED, INTEGRATED = 256, 16
# Nodes of the quadrature along a coordinate, t = median + width sinh(x) for x from -REACH to REACH: it ends 2e8 widths out, where a Cauchy has
# 1e-9 left. Half of the nodes must agree with all to QUADRATURE nats.
REACH, NODES, QUADRATURE = 20.0, 4001, 1e-4


@dataclass(frozen=True)
class Point:
    """The hypothesis that a parameter, or the entry `index` of it, has the value `at`.

    `columns` are its coordinates in the flat vector, `position` their values at the point.
    """

    name: str
    site: int
    columns: Columns
    position: Array
    is_entry: bool

    def moved(self, position: Array) -> Array:
        """The vectors with these coordinates at the point."""
        out = position.copy()
        out[:, self.columns] = self.position
        return out


def point_of(model: Model, name: str, at: Any, draws: Draws) -> Point:
    """The point by the name of a parameter or entry and its value; `draws` are posterior draws of the model."""
    whole, index = _parsed(model, name)
    k = model.space.names.index(whole)
    site = model.space.sites[k]
    value = _numbers(at)
    shape = site.shape if index is None else ()
    if value.shape != shape:
        first = ",".join("0" for _ in site.shape)
        hint = f" (one entry is named {whole}[{first}])" if index is None and site.shape else ""
        raise BadInput(f"savage_dickey(at=...): the point has shape {value.shape}, and {name!r} has shape {shape}{hint}.")
    start = int(np.sum([s.size for s in model.space.sites[:k]], dtype=np.int64))
    columns = np.arange(start, start + site.size)
    params = {key: np.array(values) for key, values in constrain_batch(model, draws.position[:1])[0].items()}
    params[whole][(0, *(index or ()))] = value
    there = unconstrained(model, params)[0]
    if index is not None:
        columns = columns[[_column(site, index, there[columns] - draws.position[0, columns])]]
    if not np.isfinite(there[columns]).all():
        raise BadInput(
            f"savage_dickey(at={at}): the point is at the edge of the support of {name!r}, or outside of it, where the density is not "
            "defined; a hypothesis at an edge needs a model of its own."
        )
    return Point(name, k, columns, np.asarray(there[columns]), index is not None)


def prior_at(model: Model, position: Array, prior: Array, point: Point) -> tuple[float, Status]:
    """Log prior density at the point, and whether it is independent of the other parameters and entries.

    `position` are posterior draws, `prior` draws from the prior, both as vectors.
    """
    some = position[:: max(1, len(position) // COMPARED)][:COMPARED]
    here, there = site_priors(model, some), site_priors(model, point.moved(some))
    others = np.delete(here - there, point.site, axis=1)
    scale = ROUNDING * max(1.0, float(np.abs(there).max()))
    own = there[:, point.site]
    if point.is_entry:
        few = some[:INTEGRATED]
        own = own[:INTEGRATED] - _log_integrals(model, few, prior[:, point.columns[0]], point)
        scale = max(scale, QUADRATURE)
    if np.ptp(own) <= scale and (np.abs(others) <= scale).all():
        return float(own[0]), Status.ok()
    sentence = (
        f"the prior of {point.name!r} and those of other parameters depend on each other: the ratio of densities is a Bayes factor only if "
        f"the restricted model has the priors that the others have given {point.name} at the point; write that model and use zhat.compare."
    )
    return float(np.log(np.mean(np.exp(own - own.max()))) + own.max()), Status.suspect("prior-depends", sentence)


def _numbers(at: Any) -> Array:
    try:
        value = np.asarray(at)
        if value.dtype.kind in "iuf" and np.isfinite(value).all():
            return value.astype(np.float64)
    except ValueError:  # a ragged list
        pass
    raise BadInput(f"savage_dickey(at={at!r}): give a finite number, or an array of them, such as at=0.0.")


def _parsed(model: Model, name: str) -> tuple[str, tuple[int, ...] | None]:
    """The parameter, and the entry if one is named."""
    found = re.fullmatch(r"(.+)\[([\d, ]+)\]", name)
    whole = found[1] if found and name not in model.space.names else name
    if whole not in model.space.names:
        raise BadInput(f"savage_dickey: {model.name!r} has no parameter {whole!r}; it has {', '.join(model.space.names)}.")
    if whole == name or found is None:
        return name, None
    index = tuple(int(i) for i in found[2].split(",") if i.strip())
    shape = model.space.sites[model.space.names.index(whole)].shape
    if len(index) != len(shape) or any(i >= n for i, n in zip(index, shape, strict=True)):
        raise BadInput(f"savage_dickey: {whole!r} has shape {shape}, and no entry {name!r}; entries are counted from zero.")
    return whole, index


def _column(site: Site, index: tuple[int, ...], change: Array) -> int:
    """Which of the site's coordinates is that of the entry; refused where the entry has none of its own."""
    column = int(np.ravel_multi_index(index, site.shape)) if site.free_shape == site.shape else -1
    others = np.delete(change, column) if column >= 0 else change
    if column < 0 or (np.abs(others) > 1e-6).any():
        raise BadInput(
            f"savage_dickey: one entry of {site.name!r} ({site.support}) cannot change alone. Write the restricted model and use zhat.compare."
        )
    return column


def _log_integrals(model: Model, position: Array, prior: Array, point: Point) -> Array:
    """Log of the integral of the site's prior density along the entry's coordinate, at each of these draws."""
    low, middle, high = np.quantile(prior, [0.25, 0.5, 0.75])
    width = max(float(high - low), 1e-300)
    x = np.linspace(-REACH, REACH, NODES)
    log_step = np.log(width * np.cosh(x) * (x[1] - x[0]))
    out = np.empty(len(position))
    for i, row in enumerate(position):
        line = np.repeat(row[None], NODES, axis=0)
        line[:, point.columns[0]] = middle + width * np.sinh(x)
        with np.errstate(invalid="ignore"):
            terms = np.nan_to_num(site_priors(model, line)[:, point.site] + log_step, nan=-np.inf, posinf=-np.inf)
        out[i] = np.logaddexp.reduce(terms)
        half = np.logaddexp.reduce(terms[::2]) + np.log(2.0)
        if not abs(half - out[i]) < QUADRATURE:
            raise UnsupportedModel(
                f"savage_dickey: the prior density of {point.name} could not be integrated (two grids differ by {abs(half - out[i]):.2g} "
                "nats). Write the restricted model and use zhat.compare."
            )
    return out
