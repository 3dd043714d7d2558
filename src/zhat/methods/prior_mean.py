"""Prior mean: the likelihood averaged over draws from the prior.

    Z = E_prior[ L(theta) ]   so   log Z  is estimated by  log (1/N) sum_i L(theta_i),   theta_i ~ prior.

The definition itself, read as a Monte Carlo average (the review's "arithmetic mean"). Needs prior draws only, and is
unbiased for Z; its logarithm is low by about half the squared error. The error is the delta method's,
sd(L) / (sqrt(N) mean(L)), and is shown only when the weights' Pareto k is below 0.5 (so that their variance exists) and
enough of them count.

*When it lies.* When the posterior is much narrower than the prior, the few draws that matter are not among the N: the
average is then confidently low. Pareto k and the effective sample size notice as long as *some* draw comes near the
peak; a peak that no draw met leaves no trace in the weights. Compare with a method that starts from the mode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from zhat.methods._base import Method, check_count
from zhat.model.model import Model, Offer
from zhat.numerics.weights import Weights
from zhat.results.estimate import Estimate
from zhat.sampling.backend.evaluation import prior_draws, with_parameters
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.weights import weights_estimate


@dataclass(frozen=True)
class PriorMean(Method):
    """The average likelihood over `n_draws` draws from the prior."""

    n_draws: int = 50_000

    name: ClassVar[str] = "prior-mean"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS})
    cites: ClassVar[tuple[str, ...]] = ("friel2012", "robert2009")
    when: ClassVar[str] = "the prior is hardly wider than the posterior; a sanity check in few dimensions"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("PriorMean", "n_draws", self.n_draws, 100, "an average of likelihoods needs draws to average")

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        bench.loop.tick(f"{self.n_draws:,} draws from the prior")
        draws = prior_draws(model, self.n_draws, key.child("prior"), bench.loop)
        weights = Weights.of(draws.log_likelihood)
        return weights_estimate(
            weights, with_parameters(model, draws), remedy="use SMC, which goes from the prior to the posterior in steps"
        )
