"""Jumps along a map given by the user: dimensions matched by standard normals, the Jacobian by automatic differentiation.

From model i with noise v to model j with the remainder v', (u', v') = T(u, v), a jump is accepted with probability min(1, r),

    r = pi_j(u') N(v') J(j, i) / ( pi_i(u) N(v) J(i, j) ) |dT / d(u, v)|

(Green 1995). The user's T is a function of named parameters; it is composed with the transformations to unconstrained vectors, in
which densities are evaluated, so that only its Jacobian there is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from zhat.errors import UnsupportedModel
from zhat.model.model import Model
from zhat.sampling.backend.compiled import compiled_on
from zhat.sampling.between_models.model_sets import BoundModels


@dataclass(frozen=True)
class Map:
    """A jump between two models of a list, by their rows.

    ``there(params, noise)`` gives the second model's parameters and the remainder, and `back` is its inverse; `n_there` and
    `n_back` are the lengths of noise and remainder.
    """

    first: int
    second: int
    there: Callable[[Any, Any], tuple[Any, Any]]
    back: Callable[[Any, Any], tuple[Any, Any]]
    n_there: int
    n_back: int


def along(start: Model, end: Model, function: Callable[..., Any], given: Any) -> Callable[[Any, Any], tuple[Any, Any]]:
    """The user's function between unconstrained vectors; `given` holds data and hyperparameters of both models."""
    for model in (start, end):
        if model.core.shown is not None:
            raise UnsupportedModel(
                f"a map between models takes their parameters, and those of {model.name!r} are behind a prior transform: give it a "
                "dictionary of distributions, zhat.Model(log_likelihood, prior)."
            )
    (data, hyper), (data_end, hyper_end) = given

    def flat(u: Any, noise: Any) -> tuple[Any, Any]:
        params, rest = function(start.space.constrain(u, data, hyper)[0], noise)
        return end.space.unconstrain(params, data_end, hyper_end), jnp.ravel(jnp.asarray(rest, jnp.float64))

    return flat


class Proposed(NamedTuple):
    """Where points (n, D) jump from and to: models, positions, and the log ratio of the densities of the ways back and there."""

    old_index: Any
    new_index: Any
    origin: Any
    position: Any
    log_back: Any


def mapped(bound: BoundModels, map_: Map, proposed: Proposed, noise: Any) -> Proposed:
    """The proposals, with those of points that jump between the map's two models put in their place."""
    models, xp, here = bound.models, bound.xp, proposed.origin
    position, log_back = proposed.position, proposed.log_back
    for i, j, function, n_noise in (
        (map_.first, map_.second, map_.there, map_.n_there),
        (map_.second, map_.first, map_.back, map_.n_back),
    ):
        start, end = models.model(i), models.model(j)
        d, d_new, used = start.n_dimensions, end.n_dimensions, noise["extra"][:, :n_noise]
        if models.traced:
            given = (bound.arguments[i], bound.arguments[j])
            target, log_jacobian = _all_along(start, end, function)(here[:, :d], used, given)
        else:
            given = ((start.data, start.hyper), (end.data, end.hyper))
            along_map, purpose = _all_along(start, end, function), ("map", map_, end.core, i)
            out = compiled_on(start.core, purpose, along_map, here[:, :d], used, given)
            target, log_jacobian = (np.asarray(part) for part in out)
        rest = target[:, d_new:]
        there = xp.concatenate([target[:, :d_new], noise["fresh"][:, d_new:]], axis=1)
        # The density of the spare coordinates is in the target and in the proposal: it cancels.
        spare = _half_squares(here[:, d:], xp) - _half_squares(noise["fresh"][:, d_new:], xp)
        weight = log_jacobian - _half_squares(rest, xp) + _half_squares(used, xp) - spare
        weight = weight + 0.5 * np.log(2.0 * np.pi) * (n_noise - rest.shape[1] + d - d_new)
        chosen = (proposed.old_index == i) & (proposed.new_index == j)
        position = xp.where(chosen[:, None], there, position)
        log_back = xp.where(chosen, weight, log_back)
    return proposed._replace(position=position, log_back=log_back)


def _all_along(start: Model, end: Model, function: Callable[..., Any]) -> Callable[..., Any]:
    """For a batch of points with noise: their images, remainder included, and the log Jacobian."""

    def run(position: Any, noise: Any, given: Any) -> Any:
        flat, d = along(start, end, function, given), position.shape[1]

        def joined(both: Any) -> Any:
            return jnp.concatenate(flat(both[:d], both[d:]))

        def one(both: Any) -> Any:
            return joined(both), jnp.linalg.slogdet(jax.jacfwd(joined)(both))[1]

        return jax.vmap(one)(jnp.concatenate([position, noise], axis=1))

    return run


def _half_squares(x: Any, xp: Any) -> Any:
    return 0.5 * xp.sum(x * x, axis=1)
