"""Where the optimisation of a guide starts: the best mode, the moments of weighted draws, or those of tempered prior draws.

Started at a mode the optimum is often the guide of that mode alone; one broad Gaussian over several modes may have a higher bound, and
the moments of weighted draws at all modes lead to it.
"""

from __future__ import annotations

import numpy as np

from zhat.model.model import Model
from zhat.numerics.weights import Weights
from zhat.results.records import Array, Draws
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Mode
from zhat.sampling.importance.proposals import at_modes
from zhat.sampling.importance.weighted_draws import weighted_draws
from zhat.sampling.variational.guide import Start
from zhat.seeding import Key

# Weighted draws for moments, and the effective sample size below which there are none.
N_DRAWS = 4000
FEWEST_EFFECTIVE = 100.0
EFFECTIVE_A_DIMENSION = 4.0


def from_modes(model: Model, modes: tuple[Mode, ...], key: Key, loop: Loop) -> list[Start]:
    """The mode of the largest mass; and the moments of weighted draws at all of them where these are good enough."""
    starts = [Start(modes[0].position, modes[0].covariance)]
    draws = weighted_draws(model, at_modes(modes), N_DRAWS, key, loop)
    assert draws.log_weight is not None
    weights = Weights.of(draws.log_weight)
    d = len(modes[0].position)
    if weights.ess > max(FEWEST_EFFECTIVE, EFFECTIVE_A_DIMENSION * d):
        starts.append(_moments(draws.position, draws.log_weight))
    return starts


def from_prior(prior: Draws) -> Start:
    """Moments of prior draws, tempered towards the posterior as far as their effective sample size allows."""
    usable = np.isfinite(prior.position).all(axis=1) & np.isfinite(prior.log_likelihood)
    position, log_likelihood = prior.position[usable], prior.log_likelihood[usable]
    wanted = max(FEWEST_EFFECTIVE, EFFECTIVE_A_DIMENSION * position.shape[1])
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if Weights.of(middle * log_likelihood).ess > wanted else (low, middle)
    return _moments(position, low * log_likelihood)


def _moments(position: Array, log_weight: Array) -> Start:
    share = np.exp(log_weight - log_weight.max())
    alive = (share > 0) & np.isfinite(position).all(axis=1)
    position, share = position[alive], share[alive] / share[alive].sum()
    mean = share @ position
    covariance = np.atleast_2d(np.cov(position.T, aweights=share, ddof=0))
    width = np.diag(covariance) + 1e-300
    return Start(mean, covariance + 1e-9 * np.diag(width))
