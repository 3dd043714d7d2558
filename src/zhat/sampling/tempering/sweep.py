"""Several moves of a batch of points in one compiled call: the inner loop of chains and populations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.backend import Backend, log_prior_at, run
from zhat.sampling.backend.compiled import parameters_at, positions_of
from zhat.sampling.backend.evaluation import reevaluate
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import Kernel, State, Tuning
from zhat.sampling.tempering.schedules import tempered


class Swept(NamedTuple):
    """States after each of m moves of n points (leading axes m, n), and how the moves went."""

    position: Array
    log_prior: Any  # None where it was not asked for
    log_likelihood: Array
    acceptance: float

    @property
    def last(self) -> State:
        """Where the points stand now."""
        log_prior = None if self.log_prior is None else self.log_prior[-1]
        return State(self.position[-1], log_prior, self.log_likelihood[-1], None)


def sweep(
    model: Model,
    kernel: Kernel,
    start: State,
    n_moves: int,
    beta: float,
    tuning: Tuning | None,
    rng: np.random.Generator,
    loop: Loop,
    priors: bool = True,
    floor: Array | None = None,
) -> Swept:
    """Move every point `n_moves` times and keep every state.

    With a `floor`, one for each block of the tuning, moves to where the log target is less than that above the log frame are
    refused: points that start above it stay above it, and a reversible kernel leaves the target invariant there. Compiled once
    for a model, a kernel, a number of moves and of points, with a floor or without; all else is an argument. Sweeps that read no
    prior can do without its values, which would take as long as the sweeps: without `priors` their `log_prior` is None.
    """
    n, log_prior = start.position.shape[0], start.log_prior
    priors = priors or not kernel.moves_parameters
    if kernel.moves_parameters:
        log_prior, tuning = None, None  # every array that is handed over costs its time, read or not
    elif log_prior is None:
        log_prior = log_prior_at(model, start.position)
    noise = kernel.noise(rng, n_moves, n, model, beta)
    args = (start.position, log_prior, start.log_likelihood, noise, tuning, np.float64(beta), floor)
    purpose = "sweep above a floor" if floor is not None else "sweep" if priors else "sweep without priors"

    def body(backend: Backend, *args: Any) -> Any:
        return _moves(backend, kernel, priors, *args)

    states, counted, screened = run(model, loop, (purpose, kernel), body, *args)
    position, log_prior, log_likelihood = (None if part is None else np.asarray(part) for part in states)
    acceptance, n_likelihood, n_gradient, n_bad = np.asarray(counted).tolist()
    assert position is not None and log_likelihood is not None
    if kernel.moves_parameters:
        position = position.swapaxes(1, 2)
    if not model.is_black_box:  # a black box counts its own calls
        loop.count(n_likelihood=int(n_likelihood), n_gradient=int(n_gradient))
    if n_bad:
        bad_at_move, where = screened
        reevaluate(model, bad_at_move, where, loop)
    return Swept(position, log_prior, log_likelihood, acceptance)


def _moves(
    backend: Backend,
    kernel: Kernel,
    priors: bool,
    position: Any,
    log_prior: Any,
    log_likelihood: Any,
    noise: Any,
    tuning: Any,
    beta: Any,
    floor: Any,
) -> Any:
    start = parameters_at(backend, position) if kernel.moves_parameters else position
    state = kernel.init(backend, State(start, log_prior, log_likelihood, None), beta)

    def one(state: State, noise: Any) -> Any:
        moved, info = kernel.step(backend, state, noise, tuning, beta)
        state = moved if floor is None else _above(backend, state, moved, tuning, beta, floor)
        position, log_prior, bad = state.position, state.log_prior, info.bad_position
        if kernel.moves_parameters:
            (position, log_prior), (bad, _) = positions_of(backend, position), positions_of(backend, bad)
        kept = (position, log_prior if priors else None, state.log_likelihood, backend.xp.mean(info.acceptance))
        counted = (
            backend.xp.asarray(info.n_likelihood),
            backend.xp.asarray(info.n_gradient),
            backend.xp.asarray(info.n_bad),
            bad,
        )
        return state, kept + counted

    *states, acceptance, n_likelihood, n_gradient, n_bad, bad = backend.scan(one, state, noise)[1]
    xp = backend.xp
    # Summed here and in one array: on the host, between compiled calls, every small thing takes as long as a dozen likelihoods.
    counted = xp.stack([xp.mean(acceptance), *(1.0 * xp.sum(number) for number in (n_likelihood, n_gradient, n_bad))])
    return states, counted, (n_bad, bad)


def _above(backend: Backend, state: State, moved: State, tuning: Tuning, beta: Any, floor: Any) -> State:
    """The moved points where they stand above the floor, and the points before the move where not."""
    xp = backend.xp
    height = tempered(moved.log_prior, moved.log_likelihood, beta, xp) - tuning.log_frame(moved.position, xp)
    stays = (height.reshape(len(floor), -1) >= floor[:, None]).reshape(-1)
    return State(
        xp.where(stays[:, None], moved.position, state.position),
        xp.where(stays, moved.log_prior, state.log_prior),
        xp.where(stays, moved.log_likelihood, state.log_likelihood),
        xp.where(stays[:, None], moved.gradient, state.gradient),
    )
