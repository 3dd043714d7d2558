"""Reversible jump: every chain moves within its model by a kernel, then proposes another model.

The proposal of a jump from model m to k is drawn afresh from q_k, a mixture of Student t's fitted to the posterior of k alone, so
that no dimensions need matching and the Jacobian is one: the jump is accepted with probability min(1, r),

    r = exp(b_k) prior_k L_k(u') q_m(u) J(k, m) / ( exp(b_m) prior_m L_m(u) q_k(u') J(m, k) ),

with J(m, k) = v_k / (1 - v_m) for k other than m, and b log weights that make jumps frequent. A pair of models may have a map
given by the user instead (`between_models.maps`). Jumps are accepted often where the fits are good; regions that the fits miss
must be reached by the kernel's moves within the model. (Green 1995; proposals near the models' own posteriors as Carlin & Chib
1995 advise for their pseudo-priors.)

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
from zhat.sampling.between_models.maps import Map, Proposed, mapped
from zhat.sampling.between_models.model_sets import BoundModels, ModelSet
from zhat.sampling.between_models.proposals import Shapes, draw_proposal, log_proposal
from zhat.sampling.kernels._base import Kernel, log_uniforms, screen
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.tuning import Tuning
from zhat.seeding import Key

AT_ONCE = 50  # moves in one compiled call


class Placed(NamedTuple):
    """Chains between models: the index of the model that each is in, (C,), and its state there, positions (C, D)."""

    index: Any
    state: State


class Report(NamedTuple):
    """What a move did: where it ended, jumps accepted, acceptance within models (and in which), likelihoods NaN or +inf."""

    placed: Placed
    jumped: Any
    acceptance: Any
    moved_in: Any
    n_bad: Any
    bad_position: Any


@dataclass(frozen=True)
class JumpPlan:
    """How chains jump.

    Attributes
    ----------
    kernel : Kernel
        Moves within the models, `n_within` times before each jump.
    maps : tuple of Map
        Jumps along maps given by the user.
    n_chains, n_warmup, n_moves : int
        Chains; moves that are thrown away, and moves that are kept.
    thin : int
        Every so many moves the positions are kept.
    likelihood : bool
        If False, chains visit the models with their prior probabilities.
    """

    kernel: Kernel
    maps: tuple[Map, ...]
    n_chains: int
    n_warmup: int
    n_moves: int
    n_within: int
    thin: int
    likelihood: bool


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


def run_jumps(models: ModelSet, shapes: Shapes, plan: JumpPlan, key: Key, loop: Loop) -> JumpRun:
    """Chains started from the proposals, warmed up (the kernel's scale is tuned model by model), and run."""
    rng, kernel, n_chains = key.generator(), plan.kernel, plan.n_chains
    move = _compiled(models, plan, loop)
    placed = _start(models, shapes, plan, rng, loop)
    n_warm, n_run = -(-plan.n_warmup // AT_ONCE), -(-plan.n_moves // AT_ONCE)
    names, kept, parts, jumps, accepted = [], [], list[State](), [], []
    for block in range(n_warm + n_run):
        noise = _noise(models, shapes, plan, rng)
        placed, report = move(models.arguments, placed, noise, shapes)
        _count_bad(models, report.n_bad, report.bad_position, loop)
        if models.traced and plan.likelihood:
            loop.count(n_likelihood=AT_ONCE * n_chains * (plan.n_within + 1))
        within = _by_model(report.acceptance, report.moved_in, models.n_models)
        if block < n_warm:
            known = ~np.isnan(within)
            scale = shapes.scale.copy()
            scale[known] = [kernel.next_scale(float(s), float(a)) for s, a in zip(scale[known], within[known], strict=True)]
            shapes = shapes._replace(scale=scale)
        else:
            done = (block - n_warm) * AT_ONCE
            left = plan.n_moves - done
            names.append(report.placed.index[:left])
            moves = np.arange(min(AT_ONCE, left))
            some = moves[(moves + done) % plan.thin == 0]
            kept.append(some + done)
            parts.append(report.placed.state.take(some))
            jumps.append(report.jumped[:left].mean())
            accepted.append(within)
        loop.tick(f"{'warm-up' if block < n_warm else 'jumps'}  accepted {report.jumped.mean():.2f}")
    states = State.joined(parts)
    with np.errstate(invalid="ignore", divide="ignore"):
        acceptance = np.nansum(accepted, axis=0) / np.sum(~np.isnan(accepted), axis=0)
    return JumpRun(
        index=np.concatenate(names).astype(np.int64),
        kept=np.concatenate(kept),
        position=states.position,
        log_prior=states.log_prior,
        log_likelihood=states.log_likelihood,
        jump_acceptance=float(np.mean(jumps)),
        acceptance=acceptance,
        scale=np.asarray(shapes.scale),
    )


def _noise(models: ModelSet, shapes: Shapes, plan: JumpPlan, rng: np.random.Generator) -> dict[str, Any]:
    n, width = plan.n_chains, models.widest.n_dimensions
    within = [plan.kernel.noise(rng, AT_ONCE, n, models.widest, Tempered(1.0)) for _ in range(plan.n_within)]
    return {
        "within": tuple(within),
        "target": rng.random((AT_ONCE, n)),
        "component": rng.random((AT_ONCE, n)),
        "fresh": rng.standard_normal((AT_ONCE, n, width)),
        "gamma": rng.standard_gamma(0.5 * float(shapes.degrees_of_freedom), (AT_ONCE, n)),
        "extra": rng.standard_normal((AT_ONCE, n, max([0, *(max(m.n_there, m.n_back) for m in plan.maps)]))),
        "log_uniform": log_uniforms(rng, AT_ONCE, n),
    }


def _start(models: ModelSet, shapes: Shapes, plan: JumpPlan, rng: np.random.Generator, loop: Loop) -> Placed:
    """Chains spread over the models as they will visit them, at draws from the proposals."""
    n, visit = plan.n_chains, np.exp(np.asarray(shapes.log_visit))
    edges = np.cumsum(visit / visit.sum())
    index = np.minimum(np.searchsorted(edges, (rng.permutation(n) + rng.random()) / n), models.n_models - 1)
    noise = {
        "component": rng.random(n),
        "fresh": rng.standard_normal((n, models.widest.n_dimensions)),
        "gamma": rng.standard_gamma(0.5 * float(shapes.degrees_of_freedom), n),
    }
    position = draw_proposal(shapes, index, noise, np)

    def density(arguments: Any, index: Any, position: Any) -> Any:
        return models.density(arguments, index, position, plan.likelihood)

    if models.traced:
        purpose = ("models", models.identity, plan.likelihood)
        out = compiled_on(models.core, purpose, density, models.arguments, index, position)
    else:
        out = density((), index, position)
    log_prior, log_likelihood = (np.asarray(part) for part in out)
    infinite = log_likelihood == np.inf
    bad = np.isnan(log_likelihood) | infinite
    if bad.any():
        _count_bad(models, bad, position[infinite if infinite.any() else bad][:1], loop)
    state = State(position=position, log_prior=log_prior, log_likelihood=np.where(bad, -np.inf, log_likelihood))
    return Placed(index.astype(np.int64), state)


def _compiled(models: ModelSet, plan: JumpPlan, loop: Loop) -> Callable[..., Any]:
    """A function of (arguments, placed, noise, shapes) that moves all chains AT_ONCE times: compiled, or the same in NumPy."""
    if models.traced:

        def run(arguments: Any, placed: Any, noise: Any, shapes: Any) -> Any:
            bound = BoundModels(models, arguments, plan.likelihood, jnp)
            return jax.lax.scan(lambda placed, noise: _step(bound, plan, placed, noise, shapes), placed, noise)

        def call(*args: Any) -> Any:
            purpose = ("jumps", models.identity, plan.kernel, plan.maps, plan.n_within, plan.likelihood)
            return jax.tree.map(np.asarray, compiled_on(models.core, purpose, run, *args))

        return call

    def in_numpy(arguments: Any, placed: Placed, noise: Any, shapes: Shapes) -> Any:
        bound, reports = BoundModels(models, arguments, plan.likelihood, np), []
        for i in range(AT_ONCE):
            some = jax.tree.map(lambda x, i=i: x[i], noise)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                placed, report = _step(bound, plan, placed, some, shapes)
            reports.append(report)
            loop.tick("jumps")
        return placed, jax.tree.map(lambda *rows: np.stack(rows), *reports)

    return in_numpy


def _step(bound: BoundModels, plan: JumpPlan, placed: Placed, noise: Any, shapes: Shapes) -> tuple[Placed, Report]:
    """Moves within the models, then one jump; and a report of both."""
    xp, m, here = bound.xp, placed.index, placed.state
    n_bad, bad, within = 0, here.position[0], 0.0
    tuning = Tuning(shapes.centre[m], shapes.root[m], shapes.root_inverse[m], shapes.scale[m][:, None])
    for some in noise["within"]:
        here, info = plan.kernel.step(bound.backend(m), here, some, tuning, Tempered(1.0))
        bad = xp.where(info.n_bad > 0, info.bad_position, bad)
        n_bad, within = n_bad + info.n_bad, within + info.acceptance / len(noise["within"])

    k, log_choice = _another(shapes.log_visit, m, noise["target"], xp)
    position = draw_proposal(shapes, k, noise, xp)
    log_back = log_proposal(shapes, m, here.position, xp) - log_proposal(shapes, k, position, xp)
    proposed = Proposed(m, k, here.position, position, log_back)
    for map_ in plan.maps:
        proposed = mapped(bound, map_, proposed, noise)
    log_prior, log_likelihood = bound.density(k, proposed.position)
    log_likelihood, bad_jumps, bad_position = screen(xp, proposed.position, log_likelihood)
    bad = xp.where(bad_jumps > 0, bad_position, bad)
    there = State(position=proposed.position, log_prior=log_prior, log_likelihood=log_likelihood)
    new, old = (shapes.boost[i] + Tempered(1.0).log_density(state, xp) for i, state in ((k, there), (m, here)))
    log_ratio = xp.where(new == -xp.inf, -xp.inf, new - old + proposed.log_back + log_choice)
    take = noise["log_uniform"] < xp.where(xp.isnan(log_ratio), -xp.inf, log_ratio)
    after = Placed(xp.where(take, k, m), there.chosen(take, here, xp))
    return after, Report(after, take, within + xp.zeros(len(m)), m, n_bad + bad_jumps, bad)


def _another(log_visit: Any, m: Any, uniform: Any, xp: Any) -> tuple[Any, Any]:
    """A model other than m in proportion to v, and log J(k, m) - log J(m, k)."""
    visit = xp.exp(log_visit)
    edges = xp.cumsum(visit)
    # A uniform on the cumulative probabilities without m: the interval of m is skipped.
    below = edges[m] - visit[m]
    spot = uniform * (edges[-1] - visit[m])
    spot = spot + xp.where(spot >= below, visit[m], 0.0)
    k = xp.minimum(xp.sum(edges[None, :] <= spot[:, None], axis=1), len(edges) - 1)
    # At a boundary rounding may give m itself; its neighbour is taken instead, which affects at most 1e-16 of the probability.
    k = xp.where(k == m, xp.where(m > 0, m - 1, m + 1), k)
    rest = xp.log(edges[-1] - visit)
    return k, log_visit[m] - rest[k] - log_visit[k] + rest[m]


def _by_model(within: Array, index: Array, n_models: int) -> Array:
    """Mean acceptance of the kernel in each model; NaN where no chain was."""
    count = np.bincount(index.ravel(), minlength=n_models)
    total = np.bincount(index.ravel(), weights=within.ravel(), minlength=n_models)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(count > 0, total / count, np.nan))


def _count_bad(models: ModelSet, n_bad: Array, positions: Array, loop: Loop) -> None:
    """Count the points of NaN likelihood; evaluated again on the host, one of +inf raises in its own model's name."""
    n_nan = int(np.sum(n_bad))
    if not n_nan:
        return
    n_nan += loop.n_nan
    point = positions[int(np.argmax(np.asarray(n_bad) > 0))] if len(positions) > 1 else positions[0]
    for k in range(models.n_models):
        model: Model = models.model(k)
        reevaluate(model, 1, point[: model.n_dimensions], loop)
    loop.n_nan = n_nan
