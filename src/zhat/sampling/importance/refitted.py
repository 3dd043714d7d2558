"""A proposal around posterior draws that is refitted to them and to weighted draws of its own.

Draws of slowly mixing chains are worth few independent ones, and a covariance of d^2 / 2 numbers fitted to few leaves weights too
uneven for a standard error. Weighted draws of the proposal are independent: each round of them, pooled with the draws that were
given, improves the next fit. (A Gaussian in 100 dimensions, 4 x 1000 draws with an effective sample size of 100 to 300 in the slowest
direction, 50,000 weighted draws a round: an effective sample size of 1,000 to 2,000 in the first, 4,000 to 7,000 in the second, 20,000 in the
third.) The answer comes from fresh draws of the last proposal, so it is right whatever the given draws are worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from zhat.errors import BadInput
from zhat.numerics.weights import Weights
from zhat.results.records import Array, Draws
from zhat.sampling.importance.proposals import Mixture, Proposal, StudentT, fitted

# Degrees of freedom of the t's that are tried: heavy tails, and tails that are nearly normal, without which 100 dimensions have no overlap.
TAILS = (5.0, 100.0)
# Factor of a t's covariance: a fit is as narrow as the draws, and in 100 dimensions half as much again would cost 3.6 nats.
WIDER = 1.1
# Components of the mixtures that are tried where the draws suffice for them.
COMPONENTS = (2, 4)
# Share of the proposal that stays with the first, wide one.
WIDE_SHARE = 0.1
HELD_OUT = 0.25


@dataclass(frozen=True)
class Refitted:
    """The wide proposal `first`, and the (n, d) posterior draws that it was fitted to."""

    first: Proposal
    position: Array

    def draw(self, rng: np.random.Generator, n: int) -> Array:
        """See `Proposal`."""
        return self.first.draw(rng, n)

    def log_density(self, position: Array) -> Array:
        """See `Proposal`."""
        return self.first.log_density(position)

    def after(self, rounds: Sequence[Draws], rng: np.random.Generator) -> Proposal | None:
        """The proposal fitted to the given draws and these weighted ones; None where their covariance is singular."""
        parts = [_weighted(draws) for draws in rounds]
        position = np.concatenate([self.position, *(x for x, _ in parts)])
        weight = np.concatenate([np.ones(len(self.position)), *(w for _, w in parts)])
        try:
            best = _best(position, weight, rng)
        except BadInput:
            return None
        return Mixture((best, self.first), (1.0 - WIDE_SHARE, WIDE_SHARE))


def _weighted(draws: Draws) -> tuple[Array, Array]:
    """Positions, and weights whose sum is their effective sample size: a round of one huge weight counts as one draw."""
    assert draws.log_weight is not None
    alive = np.isfinite(draws.log_weight) & np.isfinite(draws.position).all(axis=1)
    log_weight = draws.log_weight[alive]
    weight = np.exp(log_weight - log_weight.max())
    return draws.position[alive], weight * weight.sum() / np.sum(weight**2)


def _best(position: Array, weight: Array, rng: np.random.Generator) -> Proposal:
    """The t or mixture of t's with the highest likelihood on weighted draws that were held out of the fit."""
    kept_back = rng.random(len(position)) < HELD_OUT
    used, its_weight = position[~kept_back], weight[~kept_back]
    d = position.shape[1]
    mean = its_weight @ used / its_weight.sum()
    covariance = np.atleast_2d(np.cov(used.T, aweights=its_weight, ddof=0))
    candidates: list[Proposal] = [StudentT(mean, WIDER * covariance * (nu - 2.0) / nu, nu) for nu in TAILS]
    for k in COMPONENTS:
        if its_weight.sum() < k * d * d:  # fewer effective draws than twice the numbers to fit
            break
        candidates.append(fitted(used, its_weight, k, TAILS[0], rng))
    scores = [float(weight[kept_back] @ candidate.log_density(position[kept_back])) for candidate in candidates]
    return candidates[int(np.argmax(np.nan_to_num(scores, nan=-np.inf)))]


def is_better(new: Weights, old: Weights) -> bool:
    """Whether a round of weighted draws is worth so much more than the last that another may pay: a fifth."""
    return float(new.ess) > 1.2 * float(old.ess)
