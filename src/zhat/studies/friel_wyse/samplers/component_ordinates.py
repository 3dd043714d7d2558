"""Chib & Jeliazkov's method with the one-coefficient-at-a-time random walk of Friel & Wyse (2012): an ordinate for each coefficient.

    posterior(theta*) = prod_j  E[ alpha(theta_j, theta_j* | ...) q(theta_j, theta_j*) ]  /  E[ alpha(theta_j*, theta_j | ...) ]

The numerator is averaged over a chain in which the coefficients before j are held at theta*, the denominator over proposals along
the next such chain, in which j is held there too (Chib & Jeliazkov 2001). The paper does not say how its 200,000 samples are
shared among these chains; here they get equal shares. One chain a run, each with its own theta*, the best of its first draws.
"""

from __future__ import annotations

import numpy as np

from zhat.model.model import Model
from zhat.numerics.logspace import log_mean_exp
from zhat.results.records import Array
from zhat.sampling.backend.evaluation import log_densities, state_at
from zhat.sampling.backend.loop import Loop
from zhat.sampling.state import State
from zhat.seeding import Key
from zhat.studies.friel_wyse.samplers.component_walk import ComponentWalk
from zhat.studies.friel_wyse.samplers.long_chains import Length, Watch, after, sweeps, untuned


def ordinates_by_component(model: Model, precision: float, start: State, length: Length, key: Key, loop: Loop) -> Array:
    """Log evidence of every chain, from d + 1 runs of `n_draws` sweeps each."""
    (n, d), n_draws = start.position.shape, length.n_draws
    kernel = ComponentWalk(precision)
    here = after(start, sweeps(model, untuned(model, kernel), start, length.n_burn, key.child("burn").generator(), loop))
    stars = _best(model, precision, here, length.n_burn, key.child("point"), loop)
    log_prior, log_likelihood = log_densities(model, stars, loop)
    log_ordinate = np.zeros(n)
    for j in range(d + 1):
        rng = key.child("chain", j).generator()
        held = here.position.copy()
        held[:, :j] = stars[:, :j]
        here = state_at(model, held, loop)
        if j < d:
            moving = untuned(model, kernel, scale=1.0 + j)
            here = after(here, sweeps(model, moving, here, length.n_burn, rng, loop))
            states = State.joined([part.states for part in sweeps(model, moving, here, n_draws, rng, loop)])
            draws, density = states.position, states.log_prior + states.log_likelihood
            here = state_at(model, draws[-1], loop)
        else:  # no coefficient is free: the point itself, repeated
            draws = np.broadcast_to(stars, (n_draws, n, d))
            density = np.broadcast_to(log_prior + log_likelihood, (n_draws, n))
        if j < d:
            log_ordinate += log_mean_exp(_toward_point(model, precision, draws, density, stars, j, loop), axis=0)
        if j > 0:
            log_ordinate -= log_mean_exp(_away_from_point(model, precision, draws, density, j - 1, rng, loop), axis=0)
    return np.asarray(log_prior + log_likelihood - log_ordinate)


def _best(model: Model, precision: float, here: State, n_draws: int, key: Key, loop: Loop) -> Array:
    """The best of some draws of each chain."""
    watch = Watch(len(here.position), model.n_dimensions)
    moving = untuned(model, ComponentWalk(precision))
    for _ in watch.seeing(sweeps(model, moving, here, n_draws, key.generator(), loop)):
        pass
    return watch.best


def _toward_point(model: Model, precision: float, draws: Array, density: Array, stars: Array, j: int, loop: Loop) -> Array:
    """log alpha q of the step that puts coefficient j of each draw at the point: (draws, chains)."""
    target = draws.copy()
    target[:, :, j] = stars[:, j]
    gap = draws[:, :, j] - stars[:, j]
    log_q = 0.5 * np.log(precision / (2.0 * np.pi)) - 0.5 * precision * gap**2
    return np.minimum(_density(model, target, loop) - density, 0.0) + log_q


def _away_from_point(
    model: Model, precision: float, draws: Array, density: Array, j: int, rng: np.random.Generator, loop: Loop
) -> Array:
    """log alpha of a proposal of coefficient j, which is held at the point, along a chain: (draws, chains)."""
    target = draws.copy()
    target[:, :, j] += rng.standard_normal(draws.shape[:2]) / np.sqrt(precision)
    return np.minimum(_density(model, target, loop) - density, 0.0)


def _density(model: Model, position: Array, loop: Loop) -> Array:
    flat = position.reshape(-1, position.shape[-1])
    log_prior, log_likelihood = log_densities(model, flat, loop)
    return np.asarray((log_prior + log_likelihood).reshape(position.shape[:-1]))
