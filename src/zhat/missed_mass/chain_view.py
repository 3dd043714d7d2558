"""The view from posterior chains, for an answer that was tempered from a normal at the mode in hundreds of dimensions.

A population tempered from the prior is no second view there: in a thousand dimensions its path has a hundred rungs, and a hundred particles
give a log evidence that is nats too low (five on a Gaussian whose evidence the path from the mode gives to twelve digits). Chains cost
less. They start at prior draws, each goes up the slope until it is a few nats for each dimension below the answer's draws (not further: a
slab around the peak at the mode would lose its chains), and moves by Hamiltonian trajectories in the coordinates in which the normal is
white. If the chains agree with each other (R-hat), their draws are annealed *back* along the answer's path, from the posterior to the normal:

    E_posterior[ w ] = 1 / Z,      w the weight of a lineage (Neal 2001; Grosse, Ghahramani & Adams 2015).

Up the path log Z is low on average, back it is high, and mass that the answer's particles never entered is among the chains' draws in
proportion: its lineages have hardly any weight, and the estimate is above the answer by minus the log of the share of the others.

*What it cannot see*: modes that neither the survey nor a chain reached.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from zhat.missed_mass.effort import Effort
from zhat.missed_mass.finding import SecondEstimate
from zhat.model.model import Model
from zhat.numerics.series import r_hat
from zhat.numerics.weights import pareto_k
from zhat.results.records import Array
from zhat.sampling.backend.batches import gradients_at
from zhat.sampling.backend.evaluation import prior_draws, state_at
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.reference import Reference
from zhat.sampling.kernels._base import TunedKernel
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.sweep import sweep
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.tempering.population import increments
from zhat.sampling.tuning import Tuning
from zhat.seeding import Key


@dataclass(frozen=True)
class Way:
    """The path of an answer: where it starts, its rungs, and the lowest log density of its draws, in the reference's coordinates."""

    reference: Reference
    betas: Array
    lowest: float


@dataclass(frozen=True)
class ChainView:
    """The largest R-hat of the chains, and the log evidence by annealing back from them; None where they disagree."""

    r_hat: float
    estimate: SecondEstimate | None


def view_from_chains(model: Model, way: Way, effort: Effort, key: Key, loop: Loop) -> ChainView:
    """Chains from prior draws, climbing first to where trajectories carry them on, and the way back from them."""
    rng, d, reference = key.generator(), model.n_dimensions, way.reference
    starts = _starts(model, reference, effort, key.child("prior"), loop)
    state = _climbed(reference.model, starts, way.lowest - effort.stop_below * d, effort, loop)
    kernel = HMC()
    white = Tuning(np.zeros((1, d)), np.ones((1, d)), np.ones((1, d)), np.float64(1.0))
    moving, scale = TunedKernel(kernel, Tempered(1.0), white), kernel.first_scale(d)
    for _ in range(effort.warm_up // effort.trajectories_at_once):
        part = sweep(reference.model, moving.scaled(scale), state, effort.trajectories_at_once, rng, loop)
        state, scale = part.last, kernel.next_scale(scale, part.acceptance.mean)
        loop.tick(f"chains from the prior  acceptance {part.acceptance.mean:.2f}")
    kept = []
    for _ in range(effort.kept):
        state = sweep(reference.model, moving.scaled(scale), state, effort.trajectories_between, rng, loop).last
        loop.tick("chains from the prior")
        kept.append(state)
    draws = State.joined(kept)
    density = (draws.log_prior + draws.log_likelihood).reshape(effort.kept, -1).T
    series = draws.position.reshape(effort.kept, effort.chains, d).transpose(2, 1, 0)
    worst = max(r_hat(density), *(r_hat(each) for each in series))
    if not worst < effort.r_hat:
        return ChainView(worst, None)
    log_weights = np.zeros(len(draws.log_likelihood))
    down = np.asarray(way.betas)[::-1]
    for beta, lower in itertools.pairwise(down):
        if beta < 1.0:
            rung = TunedKernel(kernel, Tempered(float(beta)), white).scaled(scale)
            draws = sweep(reference.model, rung, draws, 1, rng, loop).last
            loop.tick(f"back to the mode  beta {beta:.2g}")
        log_weights -= increments(draws.log_likelihood, float(beta - lower))
    return ChainView(worst, _estimate(log_weights.reshape(effort.kept, effort.chains)))


def _starts(model: Model, reference: Reference, effort: Effort, key: Key, loop: Loop) -> State:
    """As many prior draws of positive density as there are chains, in the reference's coordinates; its centre where there are none."""
    drawn = prior_draws(model, effort.chain_starts, key, loop)
    alive = np.flatnonzero(np.isfinite(drawn.log_prior + drawn.log_likelihood) & np.isfinite(drawn.position).all(axis=1))
    if not len(alive):
        return state_at(reference.model, np.zeros((effort.chains, model.n_dimensions)), loop)
    position = drawn.position[np.resize(alive, effort.chains)]
    white = np.linalg.solve(reference.factor, (position - reference.centre).T).T
    return state_at(reference.model, np.asarray(white, np.float64), loop)


def _climbed(model: Model, state: State, level: float, effort: Effort, loop: Loop) -> State:
    """The points after steps up the slope, each of a length of its own, until their log density is at the level."""
    target = Tempered(1.0)
    position, length = state.position, np.full(len(state.position), effort.first_climb)
    here = gradients_at(model, position, target)
    density = here.log_prior + here.log_likelihood
    gradient = np.asarray(here.gradient)
    for _ in range(effort.climbs):
        low = ~(density >= level)
        if not low.any():
            break
        tried = np.where(low[:, None], position + length[:, None] * gradient, position)
        there = gradients_at(model, tried, target)
        loop.count(n_gradient=len(tried))
        value = there.log_prior + there.log_likelihood
        better = low & (value > density)
        position = np.where(better[:, None], tried, position)
        gradient = np.where(better[:, None], there.gradient, gradient)
        density = np.where(better, value, density)
        length *= np.where(better, effort.longer, np.where(low, effort.shorter, 1.0))
        loop.tick("chains climb from the prior")
    return state_at(model, np.asarray(position, np.float64), loop)


def _estimate(log_weights: Array) -> SecondEstimate:
    """Log Z from the weights of lineages back, (draws, chains); the standard error from the means of the chains, whose draws are correlated."""
    top = float(log_weights.max())
    by_chain = np.exp(log_weights - top).mean(axis=0)
    mean = float(by_chain.mean())
    se = float(by_chain.std(ddof=1) / (mean * np.sqrt(len(by_chain))))
    return SecondEstimate(-(top + float(np.log(mean))), se, float(pareto_k(log_weights.ravel())))
