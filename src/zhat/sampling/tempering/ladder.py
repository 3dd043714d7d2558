"""Chains on a ladder of inverse temperatures from the prior to the posterior, each rung (one beta) started from the one before.

Every chain begins with its own draws from the prior. At the next beta it starts from one of its states at the last, drawn in
proportion to the likelihood to the power of the step; moves until the chains, taken together, are hardly correlated with their
starts; and then keeps `n_kept` states. Chains are grouped in islands. Within an island they are resampled at every step, so that
separated modes keep their proper shares (without resampling a mode keeps the share that it had when the modes separated: 0.9 nats
wrong on a two-mode example). Islands never exchange states: their histories are independent, and the standard error of their mean
is given by their scatter. (They do share the tuning: the schedule, and the shape of proposals, which each island takes from the
others.)

The record is a `PathRun` with a rung at every beta, the posterior included: power posteriors and stepping stones are two
estimators from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zhat.model.model import Model
from zhat.numerics.resampling import one_in_columns, systematic_in_rows
from zhat.results.records import Array, Draws, PathRun
from zhat.sampling.backend.backend import log_prior_at
from zhat.sampling.backend.evaluation import prior_draws
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.kernels._base import TunedKernel
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.kernels.sweep import sweep
from zhat.sampling.observer import Observer
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.tempering.gibbs_ladder import gibbs_rungs
from zhat.sampling.tempering.kernel_choice import KernelChoice
from zhat.sampling.tempering.ladder_settings import Ladder, LadderChains
from zhat.sampling.tempering.population import increments
from zhat.sampling.tempering.rung import Rung, StandingRungs, path_run
from zhat.sampling.tempering.rung_moves import RungPlan, Start, move_until_decorrelated
from zhat.sampling.tempering.schedules import FixedLadder, PowerLadder, progress_of
from zhat.sampling.tempering.stragglers import surprisal_after
from zhat.sampling.tuning import Moments, Tuning
from zhat.seeding import Key

# States from which proposals are shaped.
ENOUGH = 20_000


def run_ladder(
    model: Model,
    ladder: Ladder,
    key: Key,
    loop: Loop,
    first: Draws | None = None,
    observer: Observer | None = None,
) -> PathRun:
    """Run all chains from the prior to the posterior; stopped by budget or Ctrl-C, return the rungs that were finished.

    `first` are the chains' draws from the prior, `n_kept` of each, if they exist already. The `observer` is called with every
    rung.
    """
    chains = ladder.chains
    m, n = chains.n_kept, chains.n_chains
    choice = KernelChoice.of(ladder.kernels, model.n_dimensions)
    standing = StandingRungs("ladder", model, ladder, key, choice, observer)
    found = standing.found(loop)
    if found is None:
        first = first or prior_draws(model, m * n, key.child("prior"), loop)
        found = [0.0], [Rung(State.of_draws(first).with_moves(m), np.arange(n), np.zeros(n))]
    betas, rungs = found

    def arrive(beta: float, rung: Rung) -> None:
        rungs[-1] = rungs[-1].without_points()
        betas.append(beta)
        rungs.append(rung)

    try:
        for beta, next_rung in _several(model, ladder, rungs[-1], key, loop) if len(rungs) == 1 else ():
            arrive(beta, next_rung)
        while betas[-1] < 1.0:
            rung = rungs[-1]
            beta = ladder.schedule.next_beta(rung.log_likelihood.ravel(), betas[-1])
            if not beta > betas[-1]:
                loop.stop(
                    "stalled",
                    f"beyond beta = {betas[-1]:.3g} the likelihood varies so much that no next step is a number; rescale the "
                    "log likelihood or bound the prior",
                )
            words, share = progress_of([*betas, beta])
            loop.stage(f"{words}  mean log likelihood {np.mean(rung.log_likelihood):.4g}", share)
            choice.rung += 1
            rung = _next_rung(model, chains, rung, (betas[-1], beta), choice, key.child("rung", len(betas)), loop)
            if observer is not None:
                observer(beta, rung, choice)
            arrive(beta, rung)
            standing.note(loop, betas, rungs)
    except Stopped:
        pass
    finally:
        loop.end_stage()
    return _record(model, chains, betas, rungs)


def _several(model: Model, ladder: Ladder, first: Rung, key: Key, loop: Loop) -> Iterator[tuple[float, Rung]]:
    """The rungs that need no decision here, from the first on: Gibbs sweeps alone, on rungs that are known.

    The observer is not called with them: Gibbs sweeps compute no log prior.
    """
    schedule, kernels = ladder.schedule, ladder.kernels
    if isinstance(schedule, PowerLadder | FixedLadder) and len(kernels) == 1 and isinstance(kernels[0], Gibbs):
        betas = np.asarray(schedule.betas)
        rungs = gibbs_rungs(model, ladder.chains, kernels[0], betas, first, key, loop)
        yield from zip(betas[1:].tolist(), rungs, strict=False)


def _next_rung(
    model: Model, chains: LadderChains, last: Rung, betas: tuple[float, float], choice: KernelChoice, key: Key, loop: Loop
) -> Rung:
    """Resample chains within their islands, start each from one of its parent's states, burn in, keep."""
    rng = key.generator()
    last_beta, beta = betas
    log_weights = increments(last.log_likelihood, beta - last_beta)  # (m, n)
    best = log_weights.max(axis=0)
    weights = np.exp(log_weights - np.where(best > -np.inf, best, 0.0))  # of a chain's states, relative to its largest
    parent = _parents(best, weights, chains.n_islands, rng)
    chosen = one_in_columns(weights.take(parent, axis=1), rng.random(chains.n_chains))
    state = last.states.take((chosen, parent))
    ancestors = last.ancestors[parent]
    tuning = _tuning(chains, last, log_weights, state, any(kernel.needs_tuning for kernel in choice.kernels))
    start = Start(state, ancestors, tuning, last.surprisal[parent])
    burnt = move_until_decorrelated(model, start, RungPlan(beta, chains.burn_in, priors=False), choice, rng, loop)

    surprisal, state = burnt.surprisal, burnt.states.take(-1)
    moving = TunedKernel(choice.kernel, Tempered(beta), tuning).scaled(choice.scale)
    at_once = chains.burn_in.at_once
    kept, left = [], chains.n_kept
    while left > 0:  # in calls of the burn-in's size, for which a compiled program exists
        part = sweep(model, moving, state, at_once, rng, loop, priors=False)
        surprisal = surprisal_after(surprisal, state, part)
        state = part.last
        kept.append(part)
        left -= at_once
        loop.tick(f"kept states  acceptance {part.acceptance.mean:.2f}")
    return replace(
        burnt,
        states=State.joined([part.states for part in kept]).take(slice(0, chains.n_kept)),
        surprisal=surprisal,
        acceptance=sum(part.acceptance.mean for part in kept) / len(kept),
        n_moves=burnt.n_moves + at_once * len(kept),
    )


def _parents(best: Array, weights: Array, n_islands: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which chain each chain goes on from: one of the same island, with probability proportional to the mean weight of its states."""
    n = len(best)
    with np.errstate(divide="ignore"):
        by_chain = (best + np.log(weights.mean(axis=0))).reshape(n_islands, -1)
    alive, island = (by_chain > -np.inf).any(axis=1), np.arange(n_islands)
    if not alive.all():  # an island of zero weight continues from another
        island = np.where(alive, island, rng.choice(np.flatnonzero(alive), n_islands))
    size = n // n_islands
    within = systematic_in_rows(by_chain[island], rng.random(n_islands), size)
    return np.asarray((island[:, None] * size + within).ravel(), dtype=np.int64)


def _tuning(chains: LadderChains, last: Rung, log_weights: Array, state: State, for_moves: bool) -> Tuning:
    """For each island the mean and covariance of the next rung from the other islands; the identity where no kernel uses them."""
    d = last.position.shape[-1]
    if not for_moves:
        unit = np.broadcast_to(np.eye(d), (chains.n_islands, d, d))
        return Tuning(np.zeros((chains.n_islands, d)), unit, unit, np.float64(1.0))
    # States of a chain are correlated, so a subset of them gives nearly the same covariance.
    thin = slice(None, None, max(1, last.log_likelihood.size // ENOUGH))
    groups = last.position[thin].swapaxes(0, 1).reshape(chains.n_islands, -1, d)
    weights = np.exp(log_weights[thin].T - log_weights.max()).reshape(chains.n_islands, -1)
    centre = state.position[0]
    return Moments.of(groups, weights, centre).of_others().tuning(centre, 1.0)


def _record(model: Model, chains: LadderChains, betas: list[float], rungs: list[Rung]) -> PathRun:
    last = rungs[-1]
    position = last.position.reshape(-1, model.n_dimensions)
    final = Draws(
        position=position,
        log_prior=log_prior_at(model, position) if last.log_prior is None else last.log_prior.ravel(),
        log_likelihood=last.log_likelihood.ravel(),
        n_drawn=last.log_likelihood.size,
        log_weight=np.zeros(last.log_likelihood.size),
        chain=np.tile(np.arange(chains.n_chains), chains.n_kept),
    )
    return path_run(betas, rungs, chains.n_islands, chains.n_islands < chains.n_chains, True, final)
