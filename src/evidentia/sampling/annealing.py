"""Lineages along the path, up or down, that never meet: the walk of annealed importance sampling.

    log w = sum_k (beta_{k+1} - beta_k) log L(theta_k),      theta_k = T_{beta_k}(theta_{k-1}),

with T_beta any kernel that leaves prior x likelihood^beta invariant. From prior draws up to beta = 1 the mean of w is Z,
without bias; from posterior draws down to beta = 0 it is 1/Z (Neal 2001; Grosse, Ghahramani & Adams 2015).

Both hold only when neither the rungs nor the kernels' tuning depend on the lineages. So all of that is fixed beforehand in a
`Plan`, and what a plan must know is learnt by a *pilot*, a small resampled population that walks the path first
(`sampling.annealing_plan`). Because the plan is fixed, many rungs go through in one compiled call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from evidentia.model import Model
from evidentia.records import Array, Draws, PathRun
from evidentia.sampling.annealing_plan import Plan
from evidentia.sampling.evaluate import log_densities
from evidentia.sampling.kernels._base import Kernel, State, Tuning
from evidentia.sampling.loop import Loop
from evidentia.sampling.world import JaxWorld, NumpyWorld, World, block_size
from evidentia.seeding import Key

# Rungs in one compiled call, fewer where their noise would fill more than so many numbers.
RUNGS_AT_ONCE = 16
NOISE_NUMBERS = 4_000_000
# Lineages among which correlations are looked at.
LOOK_AT = 1000


@dataclass(frozen=True)
class Walk:
    """What n lineages did: log likelihoods (K, n) at the start and after each of the K - 1 rungs, and where they ended."""

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
        """The walk up from the prior, as all tempered runs are recorded.

        Correlations are those of the log likelihoods, from a rung to the next: a lineage is not asked to forget at a rung.
        """
        n_rungs, n = self.log_likelihood.shape
        memory = np.concatenate([[0.0], _memory(self.log_likelihood[:, :LOOK_AT])])
        own = np.arange(n)
        return PathRun(
            betas=self.betas,
            log_likelihood=tuple(self.log_likelihood[:, None, :]),
            eves=(own,) * n_rungs,
            n_islands=1,
            acceptance=np.concatenate([[1.0], self.acceptance]),
            correlation=memory,
            memory=memory,
            n_moves=np.concatenate([[0], np.full(n_rungs - 1, self.n_sweeps)]).astype(np.int64),
            resampled=False,
            settled=False,
            final=Draws(self.position, self.log_likelihood[-1], self.log_prior, n_drawn=n, log_weight=self.log_weights),
        )


def path_log_weights(betas: Array, log_likelihood: Array) -> Array:
    """Sum over rungs of step x log likelihood, (K + 1,) betas and (K, n) log likelihoods; zero likelihood weighs nothing."""
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


def walk(model: Model, plan: Plan, start: Draws, at_once: int, key: Key, loop: Loop) -> Walk:
    """Send every draw of `start` along the plan, `at_once` of them together (which must divide their number)."""
    n, n_between = len(start.position), len(plan.kernels)
    values = np.empty((n_between + 1, n))
    values[0] = start.log_likelihood
    position, log_prior = np.array(start.position), np.array(start.log_prior)
    acceptance = np.zeros(n_between)
    for i in range(0, n, at_once):
        some = slice(i, i + at_once)
        state = State(start.position[some], start.log_prior[some], start.log_likelihood[some], None)
        state, accepted = _walk(model, plan, state, values[1:, some], key.child(i), loop)
        position[some], log_prior[some] = state.position, state.log_prior
        acceptance += accepted * (at_once / n)
    return Walk(plan.betas, values, position, log_prior, acceptance, plan.n_sweeps)


def _walk(model: Model, plan: Plan, state: State, values: Array, key: Key, loop: Loop) -> tuple[State, Array]:
    """Move these lineages along the plan; their log likelihoods go into `values`, a row for each rung."""
    n_between = len(plan.kernels)
    rng = key.generator()
    size = _rungs_at_once(plan, state, model)
    acceptance = np.empty(n_between)
    done = 0
    while done < n_between:
        kernel = plan.kernels[done]
        n = 1
        while n < size and done + n < n_between and plan.kernels[done + n] == kernel:
            n += 1
        n = n if n == size else 1  # another number of rungs would be another program: the odd ones go one by one
        if done and kernel.needs_prior and not plan.kernels[done - 1].needs_prior:
            state = _with_prior(model, state, loop)
        rungs = slice(done, done + n)
        state, values[rungs], acceptance[rungs] = _some_rungs(model, kernel, plan, rungs, state, rng, loop)
        done += n
        words = f"rung {done} of {n_between}  beta {plan.betas[done]:.3g}  acceptance {acceptance[done - 1]:.2f}"
        loop.tick(words, done / n_between)
    if n_between and not plan.kernels[-1].needs_prior:
        state = _with_prior(model, state, loop)
    return state, acceptance


def _with_prior(model: Model, state: State, loop: Loop) -> State:
    """The state with the log prior that a kernel which needs none did not keep."""
    return state._replace(log_prior=log_densities(model, np.asarray(state.position), loop)[0])


def _rungs_at_once(plan: Plan, state: State, model: Model) -> int:
    """How many rungs go together: a number that divides theirs, if there is one near enough."""
    n_between, size = len(plan.kernels), RUNGS_AT_ONCE
    if n_between % size:
        size = next((other for other in range(2 * size, size, -1) if n_between % other == 0), size)
    while size > 1 and size * plan.n_sweeps * state.position.shape[0] * (model.n_dimensions + 2) > NOISE_NUMBERS:
        size //= 2
    return size


def _some_rungs(
    model: Model, kernel: Kernel, plan: Plan, rungs: slice, state: State, rng: np.random.Generator, loop: Loop
) -> tuple[State, Array, Array]:
    """Move along several rungs in one compiled call: the state, log likelihoods (rungs, n) and acceptances."""
    betas = plan.betas[1:-1][rungs]
    n = state.position.shape[0]
    noise = [kernel.noise(rng, plan.n_sweeps, n, model, float(beta)) for beta in betas]
    stacked = jax.tree.map(lambda *parts: np.stack(parts), *noise)
    tuning = Tuning(*(np.ascontiguousarray(part[rungs]) for part in plan.tuning))
    args = (state.position, state.log_prior, state.log_likelihood, stacked, tuning, np.ascontiguousarray(betas))
    if model.is_black_box:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            out = _steps(NumpyWorld(model, loop), kernel, *args)
    else:
        core, block = model.core, block_size(model.data_size)

        def build() -> Callable[..., Any]:
            def run(data: Any, hyper: Any, *rest: Any) -> Any:
                return _steps(JaxWorld(core, data, hyper, block), kernel, *rest)

            return run

        with jax.enable_x64(True):
            out = core.compiled(("anneal", kernel), build)(model.data, model.hyper, *args)
    (position, log_prior, log_likelihood), (values, acceptance, n_likelihood, n_gradient, n_bad, bad) = out
    if not model.is_black_box:  # a black box counts its own calls
        loop.count(n_likelihood=int(np.asarray(n_likelihood).sum()), n_gradient=int(np.asarray(n_gradient).sum()))
    n_bad = np.asarray(n_bad)
    if n_bad.any():
        # Asked again on the host, the point raises in the user's own parameters (or is counted, if the model says so).
        first = np.unravel_index(np.argmax(n_bad > 0), n_bad.shape)
        log_densities(model, np.asarray(bad)[first][None], loop)
        loop.n_nan += int(n_bad.sum()) - 1
    return State(position, log_prior, log_likelihood, None), values, acceptance


def _steps(
    world: World, kernel: Kernel, position: Any, log_prior: Any, log_likelihood: Any, noise: Any, tuning: Tuning, betas: Any
) -> Any:
    """Rung after rung, sweep after sweep."""
    xp = world.xp
    n_sweeps = jax.tree.leaves(noise)[0].shape[1]
    # Gibbs sweeps read and write one coordinate of all points at a time: kept side by side they go through faster.
    by_column = not kernel.needs_prior

    def one_rung(carry: Any, given: Any) -> Any:
        noise, tuning, beta = given
        position, log_prior, log_likelihood = carry
        position = position.T if by_column else position
        state = State(position, log_prior, log_likelihood, xp.zeros((position.shape[0], 0)))
        state = kernel.init(world, state, beta)

        def one_sweep(state: State, noise: Any) -> Any:
            state, info = kernel.step(world, state, noise, tuning, beta)
            counted = [xp.asarray(part) for part in (info.n_likelihood, info.n_gradient, info.n_bad)]
            return state, (xp.mean(info.acceptance), *counted, info.bad_position)

        if n_sweeps == 1:
            state, (accepted, *counted) = one_sweep(state, jax.tree.map(lambda part: part[0], noise))
        else:
            state, (accepted, *counted) = world.scan(one_sweep, state, noise)
        # A prior that the kernel does not read is not computed at every rung; the end of the walk asks for it.
        kept = state.log_prior if kernel.needs_prior else log_prior
        position = state.position.T if by_column else state.position
        return (position, kept, state.log_likelihood), (state.log_likelihood, xp.mean(accepted), *counted)

    start = (position.T if by_column else position, log_prior, log_likelihood)
    (position, *rest), seen = world.scan(one_rung, start, (noise, tuning, betas))
    return (position.T if by_column else position, *rest), seen
