"""Weighted draws from a proposal: the raw material of importance sampling, with a defensive share of prior draws.

The weight of a draw is prior x likelihood / proposal. With a share `defensive` of the draws taken from the prior and
counted in the proposal's density, no weight can exceed likelihood / share (Hesterberg 1995, Owen & Zhou 2000): a mode that
the proposal misses, but the prior covers, then shows as a few very large weights.
"""

from __future__ import annotations

import numpy as np

from zhat.model.model import Model
from zhat.numerics.logspace import log_add_exp
from zhat.numerics.resampling import systematic
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import log_densities, prior_positions
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.proposals import Proposal
from zhat.seeding import Key


def weighted_draws(model: Model, proposal: Proposal, n: int, key: Key, loop: Loop, defensive: float = 0.0) -> Draws:
    """n draws from the (defended) proposal with log weights log prior + log likelihood - log proposal."""
    n_prior = round(defensive * n) if model.space.has_prior else 0
    position = proposal.draw(key.child("proposal").generator(), n - n_prior)
    if n_prior:
        position = np.concatenate([position, prior_positions(model, n_prior, key.child("defensive"))])
    log_prior, log_likelihood = log_densities(model, position, loop)
    log_proposal = defended(proposal, position, log_prior, n_prior / n)
    with np.errstate(invalid="ignore"):
        log_weight = np.where(log_likelihood == -np.inf, -np.inf, log_prior + log_likelihood - log_proposal)
    return Draws(position=position, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=n, log_weight=log_weight)


def resampled(draws: Draws, n: int, key: Key) -> Draws:
    """n draws of equal weight, in proportion to their weights."""
    assert draws.log_weight is not None
    rows = systematic(draws.log_weight, float(key.generator().random()), n)
    return Draws(
        position=draws.position[rows], log_prior=draws.log_prior[rows], log_likelihood=draws.log_likelihood[rows], n_drawn=n
    )


def defended(proposal: Proposal, position: Array, log_prior: Array, share: float) -> Array:
    """Log density of the proposal with a share of prior draws mixed in."""
    # A prior draw may be at infinity in the unconstrained space (a scale that underflows), where the proposal density is zero.
    reachable = np.isfinite(position).all(axis=1)
    log_proposal = np.full(len(position), -np.inf)
    log_proposal[reachable] = proposal.log_density(position[reachable])
    if share == 0.0:
        return log_proposal
    return log_add_exp(np.log1p(-share) + log_proposal, np.log(share) + log_prior)
