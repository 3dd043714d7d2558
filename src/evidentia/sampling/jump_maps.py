"""Jumps along a map of the user's: dimensions matched by standard normals, the Jacobian by automatic differentiation.

From model i with noise v to model j with what is left over v', (u', v') = T(u, v), a jump is accepted with probability min(1, r),

    r = pi_j(u') N(v') J(j, i) / ( pi_i(u) N(v) J(i, j) ) |dT / d(u, v)|

(Green 1995). T acts on the unconstrained vectors in which densities are held, so that its Jacobian there is all that is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from evidentia.sampling.lanes import Lanes


@dataclass(frozen=True)
class Map:
    """A jump between two models by a map of the user's, in unconstrained vectors with what randomness is needed to fill up.

    `there(u, noise)` gives ``(u', rest)`` and `back` undoes it; `n_there` and `n_back` are the lengths of noise and rest.
    """

    first: int
    second: int
    there: Callable[[Any, Any], tuple[Any, Any]]
    back: Callable[[Any, Any], tuple[Any, Any]]
    n_there: int
    n_back: int


def mapped(
    lanes: Lanes, map_: Map, m: Any, k: Any, here: Any, noise: Any, position: Any, log_back: Any, xp: Any
) -> tuple[Any, Any]:
    """Proposals and log proposal ratios, with those of lanes that jump between the map's two models put in their place."""
    pairs = ((map_.first, map_.second, map_.there, map_.n_there), (map_.second, map_.first, map_.back, map_.n_back))
    for start, end, function, n_noise in pairs:
        d, d_new = lanes.model(start).n_dimensions, lanes.model(end).n_dimensions

        def along(u: Any, extra: Any, d: int = d, n_noise: int = n_noise, function: Any = function) -> Any:
            def flat(joined: Any) -> Any:
                found, rest = function(joined[:d], joined[d:])
                return jnp.concatenate([jnp.ravel(found), jnp.ravel(rest)])

            joined = jnp.concatenate([u[:d], extra[:n_noise]])
            return flat(joined), jnp.linalg.slogdet(jax.jacfwd(flat)(joined))[1]

        def all_along(u: Any, extra: Any, along: Any = along) -> Any:
            return jax.vmap(along)(u, extra)

        if lanes.traced:
            found, log_jacobian = all_along(here, noise["extra"])
        else:
            with jax.enable_x64(True):
                compiled = lanes.core.compiled(("map", map_, start), partial(_itself, all_along))
                found, log_jacobian = (np.asarray(part) for part in compiled(here, noise["extra"]))
        rest, used = found[:, d_new:], noise["extra"][:, :n_noise]
        proposed = xp.concatenate([found[:, :d_new], noise["fresh"][:, d_new:]], axis=1)
        # What the spare coordinates weigh is in both densities, and drawn from: it cancels.
        spare = _half_squares(here[:, d:], xp) - _half_squares(noise["fresh"][:, d_new:], xp)
        weight = log_jacobian - _half_squares(rest, xp) + _half_squares(used, xp) - spare
        weight = weight + 0.5 * np.log(2.0 * np.pi) * (n_noise - rest.shape[1] + d - d_new)
        chosen = (m == start) & (k == end)
        position = xp.where(chosen[:, None], proposed, position)
        log_back = xp.where(chosen, weight, log_back)
    return position, log_back


def _itself(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _half_squares(x: Any, xp: Any) -> Any:
    return 0.5 * xp.sum(x * x, axis=1)
