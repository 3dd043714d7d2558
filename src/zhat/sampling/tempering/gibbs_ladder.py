"""Several rungs of a ladder in one compiled call: Gibbs sweeps at inverse temperatures that are known beforehand.

A sweep of a small model takes less time than its call from Python. Where no decision is needed between rungs, everything that
`tempering.ladder` does at a rung (resampling, burn-in, the correlation with the start, the states that are kept) is compiled
here for several rungs at once, and the noise of the next rungs is drawn while the call runs.

The same random numbers are drawn in the same order as rung by rung, so the chains are the same to rounding. They
are cheaper, because Gibbs sweeps of the burn-in need no likelihood: only its last state is evaluated, for the correlation.

A rung that needs a longer burn-in, an island with zero likelihood everywhere, or a NaN ends the compiled part before that call,
whose rungs are discarded: the ladder runs them again one by one, where it can move longer, copy an island or raise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.buffers import Buffers
from zhat.sampling.backend.compiled import JaxBackend, compiled, parameters_at, positions_of
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.state import State
from zhat.sampling.tempering.ladder_settings import LadderChains
from zhat.sampling.tempering.rung import Rung
from zhat.sampling.tempering.rung_moves import N_COMPARED
from zhat.sampling.tempering.schedules import progress_of
from zhat.seeding import Key

# Random numbers in one call of several rungs, few enough to stay in the processor's cache; and in a call of one rung.
NOISE_NUMBERS, NOISE_OF_ONE = 1_000_000, 4_000_000
# Data entries that the sweeps of one call may read, so that it ends soon after Ctrl-C.
WORK = 1e9


def gibbs_rungs(
    model: Model, chains: LadderChains, kernel: Gibbs, betas: Array, first: Rung, key: Key, loop: Loop
) -> Iterator[Rung]:
    """The rungs at `betas[1:]`, one after another, up to the first that `tempering.ladder` must run itself.

    `first` is the rung at `betas[0]` = 0; the random numbers of the i-th rung come from `key.child("rung", i)`. Only the last
    rung of a call has its points and their log priors.
    """
    moves, n = chains.burn_in, chains.n_chains
    n_sweeps = _sweeps_of_a_rung(chains)
    size = _at_once(model, len(betas) - 1, n_sweeps * n)
    limit = np.inf if moves.at_once >= moves.at_most else moves.correlation
    groups = [slice(i, i + size) for i in range(1, len(betas), size)] if size else []
    buffer_pair, steps = (Buffers(), Buffers()), np.diff(betas, prepend=0.0)

    def noise(group: int) -> Any:
        if group >= len(groups):
            return None
        return _noise(model, chains, kernel, betas, groups[group], key, buffer_pair[group % 2])

    position, log_likelihood, ancestors = np.moveaxis(first.position, -1, 0), first.log_likelihood, first.ancestors
    coming = noise(0)
    for i, rungs in enumerate(groups):
        words, share = progress_of(betas[: rungs.stop].tolist())
        loop.stage(words, share)
        uniforms, blocks = coming
        given = _Given(uniforms, blocks, np.stack([betas[rungs], steps[rungs]], axis=1))
        position, log_prior, log_likelihood, *records = _call(model, kernel, moves.at_once, position, log_likelihood, given)
        coming = noise(i + 1)
        values, parents, (left, memory, alive) = (np.asarray(part) for part in records)
        loop.count(n_likelihood=n * (1 + chains.n_kept) * size)
        if not (alive.all() and (left <= limit).all()):
            return
        for j in range(size):
            ancestors = ancestors[parents[j]]
            states = State(position=np.empty(0), log_prior=None, log_likelihood=values[j])
            if j == size - 1:
                at = np.moveaxis(np.asarray(position), 0, -1)
                states = states._replace(position=at, log_prior=np.asarray(log_prior))
            yield Rung(
                states=states,
                ancestors=ancestors,
                surprisal=np.zeros(n),
                correlation=float(left[j]),
                memory=float(max(memory[j], 0.0)),
                n_moves=n_sweeps,
            )


def _sweeps_of_a_rung(chains: LadderChains) -> int:
    """Burn-in and what is kept, which is drawn in parts of the burn-in's size."""
    at_once = chains.burn_in.at_once
    return at_once * (1 + -(-chains.n_kept // at_once))


def _at_once(model: Model, n_rungs: int, n_moves: int) -> int:
    """How many rungs go in one call: a divisor of their number, so that one program serves; 0 if one rung is too large."""
    numbers = n_moves * model.n_dimensions
    by_noise = NOISE_NUMBERS // numbers or int(numbers <= NOISE_OF_ONE)
    by_work = int(WORK // (n_moves * max(model.data_size, 1)))
    most = min(by_noise, by_work, max(n_rungs // 2, 1))  # of two calls or more, so that noise is drawn beside one
    return max((size for size in range(1, most + 1) if n_rungs % size == 0), default=0)


class _Given(NamedTuple):
    """What each rung of a call is given, on a leading axis: random numbers, its beta, and the step to it."""

    uniforms: Array  # one an island, one a chain
    noise: Any  # (sweeps, chains, ...) of each block
    beta_and_step: Array  # together, because every array argument of a call takes time


def _noise(
    model: Model, chains: LadderChains, kernel: Gibbs, betas: Array, rungs: slice, key: Key, buffers: Buffers
) -> tuple[Array, Any]:
    """The random numbers of some rungs, in the order in which a rung by itself would draw them."""
    n, at_once, size = chains.n_chains, chains.burn_in.at_once, rungs.stop - rungs.start
    n_sweeps = _sweeps_of_a_rung(chains)
    uniforms = buffers.place("uniforms", (size, chains.n_islands + n), np.float64)
    blocks: dict[str, Any] = {}
    for j, beta in enumerate(betas[rungs]):
        rng = key.child("rung", rungs.start + j).generator()
        uniforms[j] = rng.random(chains.n_islands + n)
        for part in range(0, n_sweeps, at_once):
            some = slice(part, part + at_once)
            for i, conditional in enumerate(kernel.conditionals):
                if conditional.noise_into is not None and str(i) in blocks:
                    into = blocks[str(i)][j : j + 1, some]
                    conditional.noise_into(rng, into, np.array([beta]), model.data, model.hyper)
                    continue

                def put(path: Any, drawn: Any, i: int = i, j: int = j, some: slice = some) -> Any:
                    place = buffers.place((i, path), (size, n_sweeps, *drawn.shape[1:]), drawn.dtype)
                    place[j, some] = drawn
                    return place

                drawn = conditional.noise(rng, (at_once, n), float(beta), model.data, model.hyper)
                blocks[str(i)] = jax.tree_util.tree_map_with_path(put, drawn)
    return uniforms, blocks


def _call(model: Model, kernel: Gibbs, n_burn: int, *args: Any) -> Any:
    """Run some rungs in one compiled call, which may still be running when this returns."""
    purpose = ("rungs together", kernel, n_burn)
    return compiled(model, purpose, lambda backend, *args: _rungs(backend, kernel, n_burn, *args), *args)


def _rungs(backend: JaxBackend, kernel: Gibbs, n_burn: int, position: Any, log_likelihood: Any, given: _Given) -> Any:
    """Rung after rung, from states at (d, m, n).

    Returns the positions, log priors and log likelihoods of the last rung; and of every rung log likelihoods, the chains'
    parents, and in one array the largest correlation left after burn-in, the log likelihood's, and whether all values are valid.
    """
    d, m, n = position.shape
    flat = parameters_at(backend, jnp.moveaxis(position, 0, -1).reshape(-1, d))
    params = jax.tree.map(lambda part: part.reshape(m, n, *part.shape[1:]), flat)

    def one(carry: Any, given: _Given) -> Any:
        params, log_likelihood = carry
        beta, step = given.beta_and_step
        islands, chains = given.uniforms[:-n], given.uniforms[-n:]
        chosen, parent, alive = _starts(step * log_likelihood, islands, chains)
        start, value = jax.tree.map(lambda part: part.at[chosen, parent].get(mode="promise_in_bounds"), carry)
        burn, keep = (jax.tree.map(lambda part, some=some: part[some], given.noise) for some in _parts(n_burn, m))

        def move(params: Any, noise: Any) -> Any:
            return kernel.draw(backend, params, noise, beta), None

        def move_and_keep(params: Any, noise: Any) -> Any:
            params = kernel.draw(backend, params, noise, beta)
            return params, (params, kernel.values(backend, params))

        before = _some(backend, start, value, len(islands))
        burnt = jax.lax.scan(move, start, burn)[0]
        value = kernel.values(backend, burnt)
        left, memory = _correlations(before, _some(backend, burnt, value, len(islands)))
        params, log_likelihood = jax.lax.scan(move_and_keep, burnt, keep)[1]
        numbers = jnp.all(value < jnp.inf) & jnp.all(log_likelihood < jnp.inf)  # neither NaN nor infinite
        return (params, log_likelihood), (log_likelihood, parent, jnp.stack([left, memory, 1.0 * (alive & numbers)]))

    (params, log_likelihood), (values, parents, checks) = jax.lax.scan(one, (params, log_likelihood), given)
    return *positions_of(backend, params), log_likelihood, values, parents, checks.T


def _parts(n_burn: int, n_kept: int) -> tuple[slice, slice]:
    """Which sweeps are burn-in and which are kept."""
    return slice(0, n_burn), slice(n_burn, n_burn + n_kept)


def _starts(log_weights: Any, islands: Any, chains: Any) -> tuple[Any, Any, Any]:
    """From which state of which chain each chain goes on, as `ladder._next_rung` has it; and whether every island is alive.

    Written for compiled code: the number of equidistant points of systematic resampling below a cumulative weight is a formula,
    so that no search is needed; and states are summed before chains are gathered, not after.
    """
    n_kept, n_islands = len(log_weights), len(islands)
    best = log_weights.max(axis=0)
    weights = jnp.exp(log_weights - jnp.where(best > -jnp.inf, best, 0.0))
    total, of_states = jax.lax.scan(lambda total, row: (total + row,) * 2, jnp.zeros_like(best), weights)
    by_chain = (best + jnp.log(total / n_kept)).reshape(n_islands, -1)
    top, size = by_chain.max(axis=1, keepdims=True), by_chain.shape[1]
    of_chains = jnp.cumsum(jnp.exp(by_chain - top), axis=1)
    places = jnp.ceil(of_chains / of_chains[:, -1:] * size - islands[:, None])
    below = jnp.clip(places.astype(int), 0, size)  # in this order: a NaN must not become an index outside the array
    marks = jnp.zeros((n_islands, size + 1), int)
    marks = marks.at[jnp.arange(n_islands)[:, None], below].add(1, mode="promise_in_bounds")
    within = jnp.minimum(jnp.cumsum(marks[:, :size], axis=1), size - 1)
    parent = (jnp.arange(n_islands)[:, None] * size + within).reshape(-1)
    of_parent = of_states.at[:, parent].get(mode="promise_in_bounds")
    chosen = jnp.sum(of_parent[:-1] <= chains * of_parent[-1], axis=0)
    return chosen, parent, jnp.all(top > -jnp.inf)


def _some(backend: JaxBackend, params: Any, values: Any, n_islands: int) -> Any:
    """Centred coordinates and log likelihoods of as many chains as correlations are computed from, (d + 1, some)."""

    def of_islands(part: Any) -> Any:
        part = part.reshape(n_islands, -1, *part.shape[1:])
        return part[:, : min(-(-N_COMPARED // n_islands), part.shape[1])].reshape(-1, *part.shape[2:])

    position = positions_of(backend, jax.tree.map(of_islands, params))[0]
    compared = jnp.concatenate([position, of_islands(values)[None]])
    return compared - compared.mean(axis=1, keepdims=True)


def _correlations(before: Any, after: Any) -> tuple[Any, Any]:
    """The largest correlation between start and now over coordinates and log likelihood, and the log likelihood's."""
    sizes = jnp.sqrt(jnp.sum(before**2, axis=1)), jnp.sqrt(jnp.sum(after**2, axis=1))
    product = jnp.sum(before * after, axis=1) / (sizes[0] * sizes[1])
    # A constant has correlation zero; a NaN is left to the ladder.
    constant = (sizes[0] <= 1e-12) | (sizes[1] <= 1e-12)
    correlation = jnp.where(constant, 0.0, product)
    return jnp.max(correlation), correlation[-1]
