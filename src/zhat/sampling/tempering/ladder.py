"""Chains up the ladder from the prior to the posterior, each rung started from the one before.

Every chain begins with its own draws from the prior. At the next beta it starts from one of its states at the last, drawn in
proportion to the likelihood to the power of the step; moves until the chains, looked at together, have forgotten where they
started; and then keeps `n_kept` states. Chains live in islands. Within an island they are resampled at every step, so that
separated modes keep their proper shares (without, a mode keeps the share it had when it parted, whatever its likelihood does:
0.9 nats wrong on a two-mode example). Islands never exchange states: each one's whole history is independent of the others', and
what they say together has an error that is simply their scatter. (They do share what is tuned: the schedule, and the shape of
proposals, which each island takes from the others.)

The record is a `PathRun` with a rung at every beta, the posterior included: power posteriors and stepping stones are two ways
to read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zhat.model.model import Model
from zhat.numerics.resampling import one_in_columns, systematic_in_rows
from zhat.results.records import Array, Draws, PathRun
from zhat.sampling.backend.backend import log_prior_at
from zhat.sampling.backend.evaluation import prior_draws
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.kernels._base import Kernel, State, Tuning
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.kernels.tuning import Moments
from zhat.sampling.observer import Observer
from zhat.sampling.tempering.gibbs_ladder import gibbs_rungs
from zhat.sampling.tempering.ladder_settings import ChainRung, LadderChains
from zhat.sampling.tempering.population import KernelChoice, Start, increments, move_until_forgotten
from zhat.sampling.tempering.schedules import FixedLadder, PowerLadder, Schedule, progress_of
from zhat.sampling.tempering.stragglers import idleness_after
from zhat.sampling.tempering.sweep import sweep
from zhat.seeding import Key

# States from which proposals are shaped.
ENOUGH = 20_000


def run_ladder(
    model: Model,
    chains: LadderChains,
    schedule: Schedule,
    kernels: tuple[Kernel, ...],
    key: Key,
    loop: Loop,
    first: Draws | None = None,
    observer: Observer | None = None,
) -> PathRun:
    """Run all chains from the prior to the posterior; stopped by budget or Ctrl-C, return the rungs that were finished.

    `first` are the chains' draws from the prior, `n_kept` of each, if there are some already. The `observer` sees every rung.
    """
    m, n, d = chains.n_kept, chains.n_chains, model.n_dimensions
    choice = KernelChoice(kernels, [kernel.first_scale(d) for kernel in kernels])
    first = first or prior_draws(model, m * n, key.child("prior"), loop)
    shaped = first.position.reshape(m, n, d), first.log_prior.reshape(m, n), first.log_likelihood.reshape(m, n)
    rung = ChainRung(*shaped, ancestors=np.arange(n), idleness=np.zeros(n))
    betas, rungs = [0.0], [rung]

    def arrive(beta: float, rung: ChainRung) -> None:
        rungs[-1] = _without_points(rungs[-1])  # only the last rung's points are wanted
        betas.append(beta)
        rungs.append(rung)

    try:
        for beta, next_rung in _several(model, chains, schedule, kernels, rung, key, loop):
            arrive(beta, next_rung)
        while betas[-1] < 1.0:
            rung = rungs[-1]
            beta = schedule.next_beta(rung.log_likelihood.ravel(), betas[-1])
            if not beta > betas[-1]:
                loop.stop(
                    "stalled",
                    f"beyond beta = {betas[-1]:.3g} the likelihood varies so much that no next step is a number; rescale the "
                    "log likelihood or bound the prior",
                )
            words, share = progress_of([*betas, beta])
            loop.stage(f"{words}  mean log likelihood {np.mean(rung.log_likelihood):.4g}", share)
            choice.rung += 1
            rung = _next_rung(model, chains, rung, betas[-1], beta, choice, key.child("rung", len(betas)), loop)
            if observer is not None:
                observer(beta, rung, choice)
            arrive(beta, rung)
    except Stopped:
        pass
    finally:
        loop.end_stage()
    return _record(model, chains, betas, rungs)


def _several(
    model: Model,
    chains: LadderChains,
    schedule: Schedule,
    kernels: tuple[Kernel, ...],
    first: ChainRung,
    key: Key,
    loop: Loop,
) -> Iterator[tuple[float, ChainRung]]:
    """The rungs that ask for no decision here, from the first on: Gibbs sweeps alone, on rungs that are known.

    They are not watched by scouts, as no rung of Gibbs sweeps is: these know no log prior.
    """
    if isinstance(schedule, PowerLadder | FixedLadder) and len(kernels) == 1 and isinstance(kernels[0], Gibbs):
        betas = np.asarray(schedule.betas)
        yield from zip(betas[1:].tolist(), gibbs_rungs(model, chains, kernels[0], betas, first, key, loop), strict=False)


def _next_rung(
    model: Model, chains: LadderChains, last: ChainRung, last_beta: float, beta: float, choice: KernelChoice, key: Key, loop: Loop
) -> ChainRung:
    """Resample chains within their islands, start each from one of its parent's states, burn in, keep."""
    rng = key.generator()
    assert last.ancestors is not None and last.idleness is not None
    log_weights = increments(last.log_likelihood, beta - last_beta)  # (m, n)
    best = log_weights.max(axis=0)
    weights = np.exp(log_weights - np.where(best > -np.inf, best, 0.0))  # of a chain's states, beside its best
    parent = _parents(best, weights, chains.n_islands, rng)
    chosen = one_in_columns(weights.take(parent, axis=1), rng.random(chains.n_chains))
    log_prior = None if last.log_prior is None else last.log_prior[chosen, parent]
    state = State(last.position[chosen, parent], log_prior, last.log_likelihood[chosen, parent], None)
    ancestors = last.ancestors[parent]
    tuning = _tuning(chains, last, log_weights, state, any(kernel.needs_tuning for kernel in choice.kernels))
    start = Start(state, ancestors, tuning, last.idleness[parent])
    burnt = move_until_forgotten(model, start, beta, choice, chains.burn_in, rng, loop, priors=False)

    idleness, idle = burnt.idleness, burnt.unmoved
    log_prior = None if burnt.log_prior is None else burnt.log_prior[-1]
    state = State(burnt.position[-1], log_prior, burnt.log_likelihood[-1], None)
    kernel, scale = choice.kernels[choice.current], choice.scales[choice.current]
    at_once = chains.burn_in.at_once
    kept, left = [], chains.n_kept
    while left > 0:  # in calls of the burn-in's size, which is compiled already
        scaled = tuning._replace(scale=np.float64(scale))
        part = sweep(model, kernel, state, at_once, beta, scaled, rng, loop, priors=False)
        idleness = idleness_after(idleness, state, part)
        state = part.last
        kept.append(part)
        left -= at_once
        loop.tick(f"kept states  acceptance {part.acceptance:.2f}")
    position, log_prior, log_likelihood = (
        _together([getattr(part, name) for part in kept], chains.n_kept) for name in ("position", "log_prior", "log_likelihood")
    )
    acceptance = sum(part.acceptance for part in kept) / len(kept)
    n_moves = burnt.n_moves + at_once * len(kept)
    counted = acceptance, burnt.correlation, burnt.memory, n_moves
    return ChainRung(position, log_prior, log_likelihood, *counted, ancestors, idleness, idle, tuning)


def _parents(best: Array, weights: Array, n_islands: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which chain each chain goes on from: one of its island, by the mean weight of the states there."""
    n = len(best)
    with np.errstate(divide="ignore"):
        by_chain = (best + np.log(weights.mean(axis=0))).reshape(n_islands, -1)
    alive, island = (by_chain > -np.inf).any(axis=1), np.arange(n_islands)
    if not alive.all():  # a dead one takes another's
        island = np.where(alive, island, rng.choice(np.flatnonzero(alive), n_islands))
    size = n // n_islands
    within = systematic_in_rows(by_chain[island], rng.random(n_islands), size)
    return np.asarray((island[:, None] * size + within).ravel(), dtype=np.int64)


def _tuning(chains: LadderChains, last: ChainRung, log_weights: Array, state: State, for_moves: bool) -> Tuning:
    """The shape of the next rung as each island's others have it; none where no kernel asks for it."""
    d = last.position.shape[-1]
    if not for_moves:
        unit = np.broadcast_to(np.eye(d), (chains.n_islands, d, d))
        return Tuning(np.zeros((chains.n_islands, d)), unit, unit, np.float64(1.0))
    # States of a chain are alike: as many of them as a covariance can want are enough.
    thin = slice(None, None, max(1, last.log_likelihood.size // ENOUGH))
    groups = last.position[thin].swapaxes(0, 1).reshape(chains.n_islands, -1, d)
    weights = np.exp(log_weights[thin].T - log_weights.max()).reshape(chains.n_islands, -1)
    centre = state.position[0]
    return Moments.of(groups, weights, centre).of_others().tuning(centre, 1.0)


def _together(parts: list[Any], n: int) -> Any:
    """The first n states of several parts; None if some are not known."""
    if any(part is None for part in parts):
        return None
    return parts[0][:n] if len(parts) == 1 else np.concatenate(parts)[:n]


def _without_points(rung: ChainRung) -> ChainRung:
    return ChainRung(**{**vars(rung), "position": np.empty(0), "log_prior": None, "tuning": None})


def _record(model: Model, chains: LadderChains, betas: list[float], rungs: list[ChainRung]) -> PathRun:
    last = rungs[-1]
    position = last.position.reshape(-1, model.n_dimensions)
    final = Draws(
        position,
        last.log_likelihood.ravel(),
        log_prior_at(model, position) if last.log_prior is None else last.log_prior.ravel(),
        n_drawn=last.log_likelihood.size,
        log_weight=np.zeros(last.log_likelihood.size),
        chain=np.tile(np.arange(chains.n_chains), chains.n_kept),
    )
    return PathRun(
        betas=np.asarray(betas),
        log_likelihood=tuple(rung.log_likelihood for rung in rungs),
        ancestors=tuple(rung.ancestors for rung in rungs if rung.ancestors is not None),
        n_islands=chains.n_islands,
        acceptance=np.asarray([rung.acceptance for rung in rungs]),
        correlation=np.asarray([rung.correlation for rung in rungs]),
        memory=np.asarray([rung.memory for rung in rungs]),
        n_moves=np.asarray([rung.n_moves for rung in rungs], dtype=np.int64),
        resampled=chains.n_islands < chains.n_chains,
        settled=True,
        final=final,
        idle=np.asarray([rung.idle for rung in rungs]),
    )
