"""Independent lineages along the path, from prior to posterior or back: annealed importance sampling.

    log w = sum_k (beta_{k+1} - beta_k) log L(theta_k),      theta_k = T_{beta_k}(theta_{k-1}),

with T_beta any kernel that leaves prior x likelihood^beta invariant. From prior draws up to beta = 1 the mean of w is Z,
without bias; from posterior draws down to beta = 0 it is 1/Z (Neal 2001; Grosse, Ghahramani & Adams 2015).

Both hold only when neither the rungs nor the kernels' tuning depend on the lineages. So all of that is fixed beforehand in a
`Plan`, and what a plan must know is learnt by a *pilot*, a small resampled population that runs first
(`tempering.path_survey`). Because the plan is fixed, many rungs run in one compiled call.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array, Draws, PathRun
from zhat.sampling.backend.backend import Backend, run
from zhat.sampling.backend.buffers import Buffers
from zhat.sampling.backend.compiled import parameters_at, positions_of
from zhat.sampling.backend.evaluation import reevaluate
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.tempering.path_survey import Plan
from zhat.seeding import Key

# Rungs in one compiled call, and the most random numbers that a call may take (then fewer rungs).
RUNGS_AT_ONCE = 16
NOISE_NUMBERS = 4_000_000
# Lineages from which correlations are computed.
N_COMPARED = 1000


@dataclass(frozen=True)
class LineageRun:
    """Annealed lineages, n of them: log likelihoods (K, n) at the start and after each of the K - 1 rungs, and final states."""

    betas: Array
    log_likelihood: Array
    position: Array
    log_prior: Array
    acceptance: Array
    n_sweeps: int

    @property
    def log_weights(self) -> Array:
        """The log weight of each lineage."""
        return path_log_weights(self.betas, self.log_likelihood)

    def record(self) -> PathRun:
        """The record of lineages from the prior, in the form of every tempered run.

        Correlations are those of the log likelihoods, from a rung to the next: a lineage need not reach equilibrium at a rung.
        """
        n_rungs, n = self.log_likelihood.shape
        memory = np.concatenate([[0.0], _memory(self.log_likelihood[:, :N_COMPARED])])
        own = np.arange(n)
        return PathRun(
            betas=self.betas,
            log_likelihood=tuple(self.log_likelihood[:, None, :]),
            ancestors=(own,) * n_rungs,
            n_islands=1,
            acceptance=np.concatenate([[1.0], self.acceptance]),
            correlation=memory,
            memory=memory,
            n_moves=np.concatenate([[0], np.full(n_rungs - 1, self.n_sweeps)]).astype(np.int64),
            resampled=False,
            settled=False,
            final=Draws(
                position=self.position,
                log_prior=self.log_prior,
                log_likelihood=self.log_likelihood[-1],
                n_drawn=n,
                log_weight=self.log_weights,
            ),
        )


def path_log_weights(betas: Array, log_likelihood: Array) -> Array:
    """Sum over rungs of step x log likelihood, (K + 1,) betas and (K, n) log likelihoods; zero likelihood has weight zero."""
    possible = log_likelihood > -np.inf
    if possible.all():
        return np.asarray(np.diff(betas) @ log_likelihood)
    total = np.diff(betas) @ np.where(possible, log_likelihood, 0.0)
    return np.where(possible.all(axis=0), total, -np.inf)


def _memory(log_likelihood: Array) -> Array:
    """Correlations of the log likelihoods of one rung with the next."""
    possible = np.isfinite(log_likelihood).all(axis=0)
    rows = log_likelihood[:, possible]
    if rows.shape[1] < 2:
        return np.zeros(len(log_likelihood) - 1)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = rows - rows.mean(axis=1, keepdims=True)
        size = np.sqrt(np.einsum("kn,kn->k", rows, rows))
        together = np.einsum("kn,kn->k", rows[1:], rows[:-1])
        product = size[1:] * size[:-1]
        return np.where(np.isfinite(product) & (product > 0), together / np.where(product > 0, product, 1.0), 0.0)


def anneal(model: Model, plan: Plan, start: Draws, at_once: int, key: Key, loop: Loop) -> LineageRun:
    """Anneal every draw of `start` along the plan, `at_once` of them together (which must divide their number)."""
    n, n_between = len(start.position), len(plan.kernels)
    values = np.empty((n_between + 1, n))
    values[0] = start.log_likelihood
    position, log_prior = np.array(start.position), np.array(start.log_prior)
    acceptance = np.zeros(n_between)
    buffer_pair = Buffers(), Buffers()
    for i in range(0, n, at_once):
        some = slice(i, i + at_once)
        state = State.of_draws(start).take(some)
        state, accepted = _anneal_batch(model, plan, state, values[1:, some], key.child(i).generator(), buffer_pair, loop)
        position[some], log_prior[some] = state.position, state.log_prior
        acceptance += accepted * (at_once / n)
    return LineageRun(plan.betas, values, position, log_prior, acceptance, plan.n_sweeps)


def _anneal_batch(
    model: Model,
    plan: Plan,
    state: State,
    values: Array,
    rng: np.random.Generator,
    buffer_pair: tuple[Buffers, Buffers],
    loop: Loop,
) -> tuple[State, Array]:
    """Move these lineages along the plan; their log likelihoods go into `values`, a row for each rung.

    Compiled calls run asynchronously: the noise of the next call is drawn while the present one runs.
    """
    n_between, n = len(plan.kernels), len(state.log_likelihood)
    acceptance = np.empty(n_between)
    together = _together(plan, _rungs_at_once(plan, state, model))

    def noise(i: int) -> Any:
        if i == len(together):
            return None
        kernel, betas = plan.kernels[together[i].start], plan.betas[1:-1][together[i]]
        if isinstance(kernel, Gibbs):
            return kernel.noise_along(rng, plan.n_sweeps, n, model, betas, buffer_pair[i % 2])
        parts = [kernel.noise(rng, plan.n_sweeps, n, model, Tempered(float(beta))) for beta in betas]
        return jax.tree.map(lambda *leaves: np.stack(leaves), *parts)

    coming = noise(0)
    for i, rungs in enumerate(together):
        moved = _some_rungs(model, plan, rungs, state, coming, loop)
        coming = noise(i + 1)
        state, values[rungs], acceptance[rungs] = _arrived(model, moved, loop)
        done = rungs.stop
        words = f"rung {done} of {n_between}  beta {plan.betas[done]:.3g}  acceptance {acceptance[done - 1]:.2f}"
        loop.tick(words, done / n_between)
    return state, acceptance


def _together(plan: Plan, size: int) -> list[slice]:
    """Groups of rungs for one call each: `size` rungs of one kernel, or a single rung, so that two programs serve."""
    groups, done = [], 0
    while done < len(plan.kernels):
        some = plan.kernels[done : done + size]
        groups.append(slice(done, done + (size if len(some) == size and all(kernel == some[0] for kernel in some) else 1)))
        done = groups[-1].stop
    return groups


def _rungs_at_once(plan: Plan, state: State, model: Model) -> int:
    """How many rungs go in one call: a divisor of their number, if there is one near `RUNGS_AT_ONCE`."""
    n_between, size = len(plan.kernels), RUNGS_AT_ONCE
    if n_between % size:
        size = next((other for other in range(2 * size, size, -1) if n_between % other == 0), size)
    while size > 1 and size * plan.n_sweeps * state.position.shape[0] * (model.n_dimensions + 2) > NOISE_NUMBERS:
        size //= 2
    return size


def _some_rungs(model: Model, plan: Plan, rungs: slice, state: State, noise: Any, loop: Loop) -> Any:
    """Run several rungs in one compiled call, which may still be running when this returns."""
    kernel = plan.kernels[rungs.start]
    betas = np.ascontiguousarray(plan.betas[1:-1][rungs])
    # Every array argument of a call takes time, even if it is not read.
    tuning = None if kernel.moves_parameters else plan.tuning_of(rungs)
    body = partial(_steps, kernel)
    return run(model, loop, ("anneal", kernel), body, state._replace(gradient=None), noise, tuning, Tempered(betas))


def _arrived(model: Model, moved: Any, loop: Loop) -> tuple[State, Array, Array]:
    """The state, log likelihoods (rungs, n) and acceptances of a call, counted and checked."""
    state, (values, acceptance, *counted) = moved
    n_likelihood, n_gradient, n_bad, bad = (np.asarray(part) for part in counted)
    if not model.is_black_box:  # a black box counts its own calls
        loop.count(n_likelihood=int(n_likelihood.sum()), n_gradient=int(n_gradient.sum()))
    if n_bad.any():
        reevaluate(model, n_bad, bad, loop)
    return state, values, acceptance


def _steps(kernel: Kernel, backend: Backend, state: State, noise: Any, tuning: Any, targets: Tempered) -> Any:
    """Rung after rung, sweep after sweep; the targets have a leading axis of rungs."""
    xp = backend.xp
    n_sweeps = jax.tree.leaves(noise)[0].shape[1]

    def one_rung(state: State, given: Any) -> Any:
        noise, tuning, target = given
        state = kernel.init(backend, state, target)

        def one_sweep(state: State, noise: Any) -> Any:
            state, info = kernel.step(backend, state, noise, tuning, target)
            counted = [xp.asarray(part) for part in (info.n_likelihood, info.n_gradient, info.n_bad)]
            return state, (xp.mean(info.acceptance), *counted, info.bad_position)

        if n_sweeps == 1:
            state, (accepted, *counted) = one_sweep(state, jax.tree.map(lambda part: part[0], noise))
        else:
            state, (accepted, *counted) = backend.scan(one_sweep, state, noise)
        return state._replace(gradient=None), (state.log_likelihood, xp.mean(accepted), *counted)

    if kernel.moves_parameters:
        state = state._replace(position=parameters_at(backend, state.position))
    state, (*records, bad) = backend.scan(one_rung, state, (noise, tuning, targets))
    if kernel.moves_parameters:
        (position, log_prior), (bad, _) = positions_of(backend, state.position), positions_of(backend, bad)
        state = state._replace(position=position.T, log_prior=log_prior)
        bad = xp.moveaxis(bad, 0, -1)
    return state, (*records, bad)
