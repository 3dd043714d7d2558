"""Several moves of a batch of points in one compiled call: the inner loop of chains, populations and live points."""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

import jax
import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.backend import Backend, log_prior_at, on_host, run
from zhat.sampling.backend.compiled import SAVED_BY_DERIVATIVES, SAVED_BY_SWEEP, is_short, parameters_at, positions_of
from zhat.sampling.backend.evaluation import reevaluate
from zhat.sampling.backend.host import HostBackend
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import CompiledKernel, Kernel, PacedKernel, TunedKernel
from zhat.sampling.state import State
from zhat.sampling.target import AboveLikelihood

# Moves of a run after which its sweeps are one compiled program. Compiling takes about a second, reading the program in another process a sixth
# of one; a move of 2,000 points on the host takes 0.3 to 1.5 milliseconds more than a compiled one, and a run may have three or four kinds of
# moves: together they lose less than a second before they are compiled, and most runs end before. Moves of a few points (local moves) that take
# no gradients lose a tenth of a millisecond each.
MOVES_ON_HOST, MOVES_OF_FEW_ON_HOST, FEW_POINTS = 200, 1000, 256
# Gradients of a move, where it needs any: Hamiltonian trajectories.
GRADIENTS = 16


class Rate(NamedTuple):
    """The mean of a rate over some moves, and that of each move.

    The mean is summed by compiled code: on a rough target Hamiltonian trajectories diverge if the scale differs in
    its last digit.
    """

    mean: float
    each: Array

    def for_scale(self, scale: Any) -> Any:
        """What a kernel's `next_scale` takes: the mean, or all where the scale is several numbers."""
        return self.mean if np.ndim(scale) == 0 else self.each


class Swept(NamedTuple):
    """States after each of m moves of n points (leading axes m, n), and how the moves went.

    `acceptance` is the mean probability of acceptance, `accepted` the accepted share of all proposals.
    """

    states: State
    acceptance: Rate
    accepted: Rate

    @property
    def last(self) -> State:
        """The last states."""
        return self.states.take(-1)

    @property
    def n_moves(self) -> int:
        """The number of moves of every point."""
        return len(self.states.log_likelihood)

    def first(self, n_moves: int) -> Swept:
        """The states of the first of the moves, with the rates of all."""
        return self._replace(states=self.states.take(slice(0, n_moves)))


def sweep(
    model: Model,
    moving: TunedKernel,
    start: State,
    n_moves: int,
    rng: np.random.Generator,
    loop: Loop,
    priors: bool = True,
) -> Swept:
    """Move every point `n_moves` times and keep every state.

    Compiled once for a model, a kernel, a kind of target and a number of moves and of points; all else is an argument. For
    sweeps that read no prior its evaluation would take as long as the sweeps: without `priors` their `log_prior` is None.
    """
    kernel = moving.kernel
    priors = priors or not kernel.moves_parameters
    noise = kernel.noise(rng, n_moves, len(start.log_likelihood), model, moving.target)
    log_prior, tuning = start.log_prior, moving.tuning
    if kernel.moves_parameters:
        log_prior, tuning = None, None  # every array argument takes time, even if it is not read
    elif log_prior is None:
        log_prior = log_prior_at(model, start.position)
    state = State(position=start.position, log_prior=log_prior, log_likelihood=start.log_likelihood)
    target = jax.tree.map(_as_float, moving.target)

    purpose = ("sweep", kernel, type(moving.target).__name__, priors)
    body, arguments = partial(_moves, kernel, priors), (state, noise, tuning, target)
    # Nested sampling makes hundreds of moves in every run, so it begins compiled.
    in_nested = isinstance(moving.target, AboveLikelihood)
    only_compiled = kernel.moves_parameters or _only_compiled(type(kernel))
    moves_made = loop.moves_of(purpose, n_moves)
    n_numbers = moves_made * len(start.log_likelihood) * (model.data_size + model.n_dimensions**2)
    few = len(start.log_likelihood) <= FEW_POINTS and not kernel.needs_gradient
    at_most = MOVES_OF_FEW_ON_HOST if few else MOVES_ON_HOST
    if model.is_black_box or only_compiled or in_nested or moves_made > at_most:
        # A program that is not optimised loses 0.1 s in each run of nested sampling.
        quick = not only_compiled and not in_nested and is_short(n_numbers, SAVED_BY_SWEEP)
        states, counted, (bad_at_move, bad_position) = run(model, loop, purpose, body, *arguments, quick=quick)
    else:
        quick = is_short(n_numbers * GRADIENTS, SAVED_BY_DERIVATIVES)
        states, counted, (bad_at_move, bad_position) = on_host(HostBackend(model, loop, quick=quick), body, *arguments)
    counted = np.asarray(counted)
    acceptance, accepted, n_likelihood, n_gradient, n_bad = counted[:5].tolist()
    each = counted[5:].reshape(2, -1)
    states = State(*(None if part is None else np.asarray(part) for part in states))
    if kernel.moves_parameters:
        states = states._replace(position=states.position.swapaxes(1, 2))
    if not model.is_black_box:  # a black box counts its own calls
        loop.count(n_likelihood=int(n_likelihood), n_gradient=int(n_gradient))
    if n_bad:
        reevaluate(model, bad_at_move, bad_position, loop)
    return Swept(states, Rate(acceptance, each[0]), Rate(accepted, each[1]))


@cache  # looking for the attributes of a protocol takes longer than moving some points
def _only_compiled(kind: type[Kernel]) -> bool:
    return isinstance(kind, CompiledKernel)


def _as_float(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) else np.float64(value)


def _moves(kernel: Kernel, priors: bool, backend: Backend, state: State, noise: Any, tuning: Any, target: Any) -> Any:
    xp = backend.xp
    if kernel.moves_parameters:
        state = state._replace(position=parameters_at(backend, state.position))
    state = kernel.init(backend, state, target)

    def one(state: State, noise: Any) -> Any:
        state, info = kernel.step(backend, state, noise, tuning, target)
        position, log_prior, bad = state.position, state.log_prior, info.bad_position
        if kernel.moves_parameters:
            (position, log_prior), (bad, _) = positions_of(backend, position), positions_of(backend, bad)
        kept = State(position=position, log_prior=log_prior if priors else None, log_likelihood=state.log_likelihood)
        counted = [xp.asarray(part) for part in (info.n_likelihood, info.n_gradient, info.n_bad)]
        return state, (kept, xp.mean(info.acceptance), xp.mean(info.accepted), *counted, bad)

    if isinstance(kernel, PacedKernel):
        states, info = kernel.steps(backend, state, noise, tuning, target)
        acceptance, accepted = xp.mean(info.acceptance, axis=1), xp.mean(info.accepted, axis=1)
        n_likelihood, n_gradient, n_bad, bad = info[2:]
    else:
        states, acceptance, accepted, n_likelihood, n_gradient, n_bad, bad = backend.scan(one, state, noise)[1]
    # Summed here and returned in one array: a small operation between compiled calls takes as long as a dozen likelihoods.
    sums = [1.0 * xp.sum(number) for number in (n_likelihood, n_gradient, n_bad)]
    counted = xp.concatenate([xp.stack([xp.mean(acceptance), xp.mean(accepted), *sums]), acceptance, accepted])
    return states, counted, (n_bad, bad)
