"""Reversible jump in lanes: every chain moves within its model by a kernel, then proposes another model.

The proposal of a jump from model m to k is drawn afresh from q_k, a mixture of Student t's fitted to the posterior of k alone, so
that there is nothing to match and the Jacobian is one: the jump is accepted with probability min(1, r),

    r = exp(b_k) prior_k L_k(u') q_m(u) J(k, m) / ( exp(b_m) prior_m L_m(u) q_k(u') J(m, k) ),

with J(m, k) = v_k / (1 - v_m) for k other than m, and b what was added to make jumps frequent. A pair of models may have a map of
the user's instead (`sampling.jump_maps`). Independence makes jumps as likely as the fits are good; what the fits miss, the
kernel's moves within the model must reach. (Green 1995; proposals near the models' own posteriors as Carlin & Chib 1995 advise
for their pseudo-priors.)

Noise is drawn in bulk by NumPy, as for kernels, and a block of moves of all chains is one compiled call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.compiled import compiled_on
from zhat.sampling.backend.evaluation import reevaluate
from zhat.sampling.backend.loop import Loop
from zhat.sampling.between_models.maps import Map, mapped
from zhat.sampling.between_models.states import Lanes, ModelSetBackend
from zhat.sampling.kernels._base import Kernel, State, Tuning, log_uniforms, screen
from zhat.seeding import Key

AT_ONCE = 50  # moves in one compiled call


class Shapes(NamedTuple):
    """What the sampler knows of M models: K components of the proposal of each, and how its kernel moves there.

    Arrays over models; factors and inverses are (M, K, D, D) for proposals and (M, D, D) for the kernel.
    """

    log_visit: Any  # log v, by which the model to jump to is chosen
    boost: Any  # b
    log_share: Any  # (M, K), of the components
    mean: Any  # (M, K, D)
    factor: Any
    inverse: Any
    log_constant: Any  # (M, K), of the t's density, determinant included
    degrees_of_freedom: Any  # one for all
    size: Any  # (M,) coordinates that are the model's own
    centre: Any  # (M, D)
    root: Any
    root_inverse: Any
    scale: Any  # (M,), the kernel's


class Lane(NamedTuple):
    """Where the chains are: (C,) names, (C, D) positions, and what is known there."""

    index: Any
    position: Any
    log_prior: Any
    log_likelihood: Any


@dataclass(frozen=True)
class JumpRun:
    """What the chains did after warm-up: names (moves, C), a thinned set of positions (kept, C, D), and how moves went."""

    index: NDArray[np.int64]
    kept: NDArray[np.int64]  # which moves' positions were kept
    position: Array
    log_prior: Array
    log_likelihood: Array
    jump_acceptance: float
    acceptance: Array  # (M,), of the kernel in each model; NaN where no chain was
    scale: Array


def run_jumps(
    lanes: Lanes,
    shapes: Shapes,
    kernel: Kernel,
    maps: tuple[Map, ...],
    n_chains: int,
    n_warmup: int,
    n_moves: int,
    n_within: int,
    thin: int,
    likelihood: bool,
    key: Key,
    loop: Loop,
) -> JumpRun:
    """Chains started from the proposals, warmed up (the kernel's scale is tuned model by model), and run."""
    rng = key.generator()
    step = _compiled(lanes, kernel, maps, n_within, likelihood, loop)
    state = _start(lanes, shapes, n_chains, likelihood, rng, loop)
    n_warm, n_run = -(-n_warmup // AT_ONCE), -(-n_moves // AT_ONCE)
    names, kept, parts, jumps, accepted = [], [], [], [], []
    for block in range(n_warm + n_run):
        noise = _noise(lanes, shapes, kernel, maps, n_chains, n_within, rng)
        state, out = step(lanes.arguments, state, noise, shapes)
        _raise_if_bad(lanes, out[6], out[7], loop)
        if lanes.traced and likelihood:
            loop.count(n_likelihood=AT_ONCE * n_chains * (n_within + 1))
        index, within = out[0], _by_model(out[5], out[8], lanes.n_models)
        if block < n_warm:
            known = ~np.isnan(within)
            tuned = [kernel.next_scale(float(s), float(a)) for s, a in zip(shapes.scale[known], within[known], strict=True)]
            scale = shapes.scale.copy()
            scale[known] = tuned
            shapes = shapes._replace(scale=scale)
        else:
            left = n_moves - (block - n_warm) * AT_ONCE
            names.append(index[:left])
            moves = np.arange(min(AT_ONCE, left))
            some = moves[(moves + (block - n_warm) * AT_ONCE) % thin == 0]
            kept.append(some + (block - n_warm) * AT_ONCE)
            parts.append(tuple(out[i][some] for i in (1, 2, 3)))
            jumps.append(out[4][:left].mean())
            accepted.append(within)
        loop.tick(f"{'warm-up' if block < n_warm else 'jumps'}  accepted {out[4].mean():.2f}")
    position, log_prior, log_likelihood = (np.concatenate(part) for part in zip(*parts, strict=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        acceptance = np.nansum(accepted, axis=0) / np.sum(~np.isnan(accepted), axis=0)
    arrays = (np.concatenate(names).astype(np.int64), np.concatenate(kept), position, log_prior, log_likelihood)
    return JumpRun(*arrays, float(np.mean(jumps)), acceptance, np.asarray(shapes.scale))


def log_proposal(shapes: Shapes, index: Any, position: Any, xp: Any) -> Any:
    """Log density of every lane's position under the proposal of the model that `index` names."""
    z = xp.einsum("ckij,ckj->cki", shapes.inverse[index], position[:, None, :] - shapes.mean[index])
    own = xp.arange(position.shape[1])[None, :] < shapes.size[index][:, None]
    nu, d = shapes.degrees_of_freedom, shapes.size[index]
    squared = xp.sum(xp.where(own[:, None, :], z * z, 0.0), axis=2)
    log_t = shapes.log_constant[index] - 0.5 * (nu + d)[:, None] * xp.log1p(squared / nu)
    log_parts = shapes.log_share[index] + log_t
    top = xp.max(log_parts, axis=1)
    mixed = top + xp.log(xp.sum(xp.exp(log_parts - top[:, None]), axis=1))
    spare = xp.where(own, 0.0, position)
    return mixed - 0.5 * xp.sum(spare * spare, axis=1) - 0.5 * (position.shape[1] - d) * np.log(2.0 * np.pi)


def draw_proposal(shapes: Shapes, index: Any, noise: dict[str, Any], xp: Any) -> Any:
    """A position for every lane from the proposal of the model that `index` names."""
    edges = xp.cumsum(xp.exp(shapes.log_share[index]), axis=1)
    component = xp.minimum(xp.sum(edges <= noise["component"][:, None], axis=1), edges.shape[1] - 1)
    own = xp.arange(noise["fresh"].shape[1])[None, :] < shapes.size[index][:, None]
    stretch = xp.sqrt(0.5 * shapes.degrees_of_freedom / noise["gamma"])
    z = xp.where(own, stretch[:, None], 1.0) * noise["fresh"]
    return shapes.mean[index, component] + xp.einsum("cij,cj->ci", shapes.factor[index, component], z)


def _noise(
    lanes: Lanes, shapes: Shapes, kernel: Kernel, maps: tuple[Map, ...], n: int, n_within: int, rng: np.random.Generator
) -> dict[str, Any]:
    width = lanes.widest.n_dimensions
    within = [kernel.noise(rng, AT_ONCE, n, lanes.widest, 1.0) for _ in range(n_within)]
    return {
        "within": tuple(within),
        "target": rng.random((AT_ONCE, n)),
        "component": rng.random((AT_ONCE, n)),
        "fresh": rng.standard_normal((AT_ONCE, n, width)),
        "gamma": rng.standard_gamma(0.5 * float(shapes.degrees_of_freedom), (AT_ONCE, n)),
        "extra": rng.standard_normal((AT_ONCE, n, max([0, *(max(m.n_there, m.n_back) for m in maps)]))),
        "log_uniform": log_uniforms(rng, AT_ONCE, n),
    }


def _start(lanes: Lanes, shapes: Shapes, n: int, likelihood: bool, rng: np.random.Generator, loop: Loop) -> Lane:
    """Chains spread over the models as they will visit them, at draws from the proposals."""
    visit = np.exp(np.asarray(shapes.log_visit))
    edges = np.cumsum(visit / visit.sum())
    index = np.minimum(np.searchsorted(edges, (rng.permutation(n) + rng.random()) / n), lanes.n_models - 1)
    noise = {
        "component": rng.random(n),
        "fresh": rng.standard_normal((n, lanes.widest.n_dimensions)),
        "gamma": rng.standard_gamma(0.5 * float(shapes.degrees_of_freedom), n),
    }
    position = draw_proposal(shapes, index, noise, np)
    if lanes.traced:

        def density(arguments: Any, index: Any, position: Any) -> Any:
            return lanes.density(arguments, index, position, likelihood)

        purpose = ("lanes", lanes.identity, likelihood)
        found = compiled_on(lanes.core, purpose, density, lanes.arguments, index, position)
        log_prior, log_likelihood = (np.asarray(part) for part in found)
    else:
        log_prior, log_likelihood = lanes.density((), index, position, likelihood)
    bad = np.isnan(log_likelihood) | (log_likelihood == np.inf)
    if bad.any():
        _raise_if_bad(lanes, bad, position[bad][:1], loop)
    return Lane(index.astype(np.int64), position, log_prior, np.where(bad, -np.inf, log_likelihood))


def _compiled(
    lanes: Lanes, kernel: Kernel, maps: tuple[Map, ...], n_within: int, likelihood: bool, loop: Loop
) -> Callable[..., Any]:
    """A function of (arguments, state, noise, shapes) that moves all chains AT_ONCE times: compiled, or the same in NumPy."""
    if lanes.traced:

        def run(arguments: Any, state: Any, noise: Any, shapes: Any) -> Any:
            def one(state: Any, noise: Any) -> Any:
                return _step(lanes, arguments, kernel, maps, likelihood, state, noise, shapes, jnp)

            return jax.lax.scan(one, Lane(*state), noise)

        def call(*args: Any) -> Any:
            purpose = ("jumps", lanes.identity, kernel, maps, n_within, likelihood)
            return jax.tree.map(np.asarray, compiled_on(lanes.core, purpose, run, *args))

        return call

    def by_hand(arguments: Any, state: Any, noise: Any, shapes: Any) -> Any:
        rows = []
        for i in range(AT_ONCE):
            some = jax.tree.map(lambda x, i=i: x[i], noise)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                state, row = _step(lanes, arguments, kernel, maps, likelihood, state, some, shapes, np)
            rows.append(row)
            loop.tick("jumps")
        return state, tuple(np.stack(column) for column in zip(*rows, strict=True))

    return by_hand


def _step(
    lanes: Lanes,
    arguments: Any,
    kernel: Kernel,
    maps: tuple[Map, ...],
    likelihood: bool,
    state: Lane,
    noise: Any,
    shapes: Any,
    xp: Any,
) -> Any:
    """Moves within the models, then one jump; and what to report of both."""
    shapes = Shapes(*shapes)
    m = state.index
    n_bad, bad, within = 0, state.position[0], 0.0
    tuning = Tuning(shapes.centre[m], shapes.root[m], shapes.root_inverse[m], shapes.scale[m][:, None])
    backend = ModelSetBackend(xp, lambda position: lanes.density(arguments, m, position, likelihood))
    inside = State(state.position, state.log_prior, state.log_likelihood, xp.zeros((len(m), 0)))
    for some in noise["within"]:
        inside, info = kernel.step(backend, inside, some, tuning, 1.0)
        bad = xp.where(info.n_bad > 0, info.bad_position, bad)
        n_bad, within = n_bad + info.n_bad, within + info.acceptance / len(noise["within"])
    here = Lane(m, inside.position, inside.log_prior, inside.log_likelihood)

    k, log_choice = _another(shapes.log_visit, m, noise["target"], xp)
    position = draw_proposal(shapes, k, noise, xp)
    log_back = log_proposal(shapes, m, here.position, xp) - log_proposal(shapes, k, position, xp)
    for map_ in maps:
        position, log_back = mapped(lanes, map_, arguments, m, k, here.position, noise, position, log_back, xp)
    log_prior, log_likelihood = lanes.density(arguments, k, position, likelihood)
    log_likelihood, more_bad, bad_position = screen(xp, position, log_likelihood)
    bad = xp.where(more_bad > 0, bad_position, bad)
    new = shapes.boost[k] + xp.where(log_likelihood == -xp.inf, -xp.inf, log_prior + log_likelihood)
    old = shapes.boost[m] + xp.where(here.log_likelihood == -xp.inf, -xp.inf, here.log_prior + here.log_likelihood)
    log_ratio = xp.where(new == -xp.inf, -xp.inf, new - old + log_back + log_choice)
    take = noise["log_uniform"] < xp.where(xp.isnan(log_ratio), -xp.inf, log_ratio)
    there = Lane(
        xp.where(take, k, m),
        xp.where(take[:, None], position, here.position),
        xp.where(take, log_prior, here.log_prior),
        xp.where(take, log_likelihood, here.log_likelihood),
    )
    return there, (*there, take, within + xp.zeros(len(m)), n_bad + more_bad, bad, m)


def _another(log_visit: Any, m: Any, uniform: Any, xp: Any) -> tuple[Any, Any]:
    """A model other than m in proportion to v, and log J(k, m) - log J(m, k)."""
    visit = xp.exp(log_visit)
    edges = xp.cumsum(visit)
    # A uniform on what is left without m, with m's piece of the line stepped over.
    below = edges[m] - visit[m]
    spot = uniform * (edges[-1] - visit[m])
    spot = spot + xp.where(spot >= below, visit[m], 0.0)
    k = xp.minimum(xp.sum(edges[None, :] <= spot[:, None], axis=1), len(edges) - 1)
    # At the very seam rounding may name m itself: then its neighbour, which no more than 1e-16 of the time is not the one meant.
    k = xp.where(k == m, xp.where(m > 0, m - 1, m + 1), k)
    rest = xp.log(edges[-1] - visit)
    return k, log_visit[m] - rest[k] - log_visit[k] + rest[m]


def _by_model(within: Array, index: Array, n_models: int) -> Array:
    """Mean acceptance of the kernel in each model; NaN where no chain was."""
    count = np.bincount(index.ravel(), minlength=n_models)
    total = np.bincount(index.ravel(), weights=within.ravel(), minlength=n_models)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(count > 0, total / count, np.nan))


def _raise_if_bad(lanes: Lanes, n_bad: Array, positions: Array, loop: Loop) -> None:
    """Evaluated again on the host, a point with a NaN likelihood raises in its own model's name, or is counted."""
    if not np.sum(n_bad):
        return
    point = positions[int(np.argmax(np.asarray(n_bad) > 0))] if len(positions) > 1 else positions[0]
    for k in range(lanes.n_models):
        model: Model = lanes.model(k)
        reevaluate(model, 1, point[: model.n_dimensions], loop)
