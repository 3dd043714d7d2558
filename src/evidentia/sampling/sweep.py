"""Several moves of a batch of points in one compiled call: the inner loop of chains and populations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from evidentia.model import Model
from evidentia.records import Array
from evidentia.sampling.evaluate import log_densities
from evidentia.sampling.kernels._base import Kernel, State, Tuning
from evidentia.sampling.loop import Loop
from evidentia.sampling.path import tempered
from evidentia.sampling.world import JaxWorld, NumpyWorld, World, block_size


class Swept(NamedTuple):
    """States after each of m moves of n points (leading axes m, n), and how the moves went."""

    position: Array
    log_prior: Array
    log_likelihood: Array
    acceptance: float


def sweep(
    model: Model,
    kernel: Kernel,
    start: State,
    n_moves: int,
    beta: float,
    tuning: Tuning,
    rng: np.random.Generator,
    loop: Loop,
    floor: Array | None = None,
) -> Swept:
    """Move every point `n_moves` times and keep every state.

    With a `floor`, one for each block of the tuning, moves to where the log target is less than that above the log frame are
    refused: points that start above it stay above it, and a reversible kernel leaves the target invariant there. Compiled once
    for a model, a kernel, a number of moves and of points, with a floor or without; all else is an argument.
    """
    n = start.position.shape[0]
    noise = kernel.noise(rng, n_moves, n, model, beta)
    args = (start.position, start.log_prior, start.log_likelihood, noise, tuning, np.float64(beta), floor)
    if model.is_black_box:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            out = _moves(NumpyWorld(model, loop), kernel, *args)
    else:
        core, block = model.core, block_size(model.data_size)

        def build() -> Callable[..., Any]:
            def run(data: Any, hyper: Any, *rest: Any) -> Any:
                return _moves(JaxWorld(core, data, hyper, block), kernel, *rest)

            return run

        with jax.enable_x64(True):
            out = jax.tree.map(np.asarray, core.compiled(("sweep", kernel), build)(model.data, model.hyper, *args))
    position, log_prior, log_likelihood, acceptance, n_likelihood, n_gradient, n_bad, bad = out
    if not model.is_black_box:  # a black box counts its own calls
        loop.count(n_likelihood=int(np.sum(n_likelihood)), n_gradient=int(np.sum(n_gradient)))
    if np.sum(n_bad):
        # Asked again on the host, the point raises in the user's own parameters (or is counted, if the model says so).
        log_densities(model, bad[int(np.argmax(n_bad > 0))][None], loop)
        loop.n_nan += int(np.sum(n_bad)) - 1
    return Swept(position, log_prior, log_likelihood, float(np.mean(acceptance)))


def _moves(
    world: World,
    kernel: Kernel,
    position: Any,
    log_prior: Any,
    log_likelihood: Any,
    noise: Any,
    tuning: Tuning,
    beta: Any,
    floor: Any,
) -> Any:
    state = State(position, log_prior, log_likelihood, world.xp.zeros((position.shape[0], 0)))
    state = kernel.init(world, state, beta)

    def one(state: State, noise: Any) -> Any:
        moved, info = kernel.step(world, state, noise, tuning, beta)
        state = moved if floor is None else _above(world, state, moved, tuning, beta, floor)
        kept = (state.position, state.log_prior, state.log_likelihood, world.xp.mean(info.acceptance))
        counted = (
            world.xp.asarray(info.n_likelihood),
            world.xp.asarray(info.n_gradient),
            world.xp.asarray(info.n_bad),
            info.bad_position,
        )
        return state, kept + counted

    return world.scan(one, state, noise)[1]


def _above(world: World, state: State, moved: State, tuning: Tuning, beta: Any, floor: Any) -> State:
    """The moved points where they stand above the floor, and the points before the move where not."""
    xp = world.xp
    height = tempered(moved.log_prior, moved.log_likelihood, beta, xp) - tuning.log_frame(moved.position, xp)
    stays = (height.reshape(len(floor), -1) >= floor[:, None]).reshape(-1)
    return State(
        xp.where(stays[:, None], moved.position, state.position),
        xp.where(stays, moved.log_prior, state.log_prior),
        xp.where(stays, moved.log_likelihood, state.log_likelihood),
        xp.where(stays[:, None], moved.gradient, state.gradient),
    )
