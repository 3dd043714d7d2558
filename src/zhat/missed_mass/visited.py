"""Does a lower answer agree on the part of the posterior that its run visited?

Nested sampling loses a narrow mode when no live point is in it, and its answer is then low by that mode's share, with a small standard error. An
answer from the modes that has both does not contradict it: where the lower run's draws have no density, it says nothing, and on the rest both
estimate one number. So a density is fitted to the draws of the lower run, and the share of the posterior is taken, by the weighted draws of
the higher answer, where that density is not far below the posterior's. This takes no likelihoods.

*What it cannot see*: a mode that neither run has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zhat.missed_mass.effort import EFFORT
from zhat.missed_mass.finding import Answer
from zhat.results.records import Draws
from zhat.sampling.importance.from_draws import around_weighted
from zhat.seeding import Key


@dataclass(frozen=True)
class Visited:
    """The share of an answer's posterior that another run visited, and the standard error of its log."""

    share: float
    se: float

    def agrees(self, answer: Answer, lower: Answer) -> bool:
        """Whether the lower answer is the other one without what its run did not visit.

        No slack is allowed beyond the standard errors: it would pass a difference that nothing lost explains.
        """
        if not 0.0 < self.share < 1.0:
            return False
        joint = math.hypot(answer.se, lower.se, self.se)
        gap = answer.log_evidence + math.log(self.share) - lower.log_evidence
        return abs(gap) <= EFFORT.joint_errors * joint


def visited_by(answer: Answer, draws: Draws, other: Draws, key: Key) -> Visited | None:
    """What of the posterior, by the weighted draws of an answer, the weighted draws of another run visited; None where they have no density."""
    density = around_weighted(other, key)
    if density is None or draws.log_weight is None:
        return None
    weight = np.exp(draws.log_weight - draws.log_weight.max())
    weight /= weight.sum()
    above = draws.log_prior + draws.log_likelihood - answer.log_evidence - density.log_density(draws.position)
    there = above <= math.log(EFFORT.huge)
    share = float(weight[there].sum())
    if not 0.0 < share < 1.0:
        return Visited(share, 0.0)
    return Visited(share, math.sqrt(float((weight**2 * (there - share) ** 2).sum())) / share)
