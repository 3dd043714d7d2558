"""Prior mean: the likelihood averaged over draws from the prior.

    Z = E_prior[ L(theta) ]   so   log Z  is estimated by  log (1/N) sum_i L(theta_i),   theta_i ~ prior.

The definition itself, as a Monte Carlo average (the "arithmetic mean" of Friel & Wyse 2012). Needs prior draws only, and is
unbiased for Z; its logarithm is low by about half the squared standard error.

*Its standard error.* The delta method's, sd(L) / (sqrt(N) mean(L)), given only when the weights' Pareto k is below 0.5 (so that
their variance exists) and the effective sample size is large enough.

*When it lies.* When the posterior is much narrower than the prior, the few draws that matter are not among the N: the
average is then too low. Pareto k and the effective sample size show it as long as *some* draw comes near the mode; a mode without
a draw leaves no trace in the weights. So a mode check follows (`missed_mass.mode_check`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from zhat.methods._base import Method, Size, check_count
from zhat.missed_mass.look import Look
from zhat.missed_mass.witnesses import Sampled
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
    mode_check: bool = True

    name: ClassVar[str] = "prior-mean"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS})
    cites: ClassVar[tuple[str, ...]] = ("friel2012", "robert2009")
    sizes: ClassVar[tuple[Size, ...]] = (Size("n_draws", 100),)
    look: ClassVar[Look] = Look.from_modes()
    when: ClassVar[str] = "the prior is hardly wider than the posterior; a sanity check in few dimensions"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("PriorMean", "n_draws", self.n_draws, 100, "an average of likelihoods needs draws to average")

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        bench.loop.tick(f"{self.n_draws:,} draws from the prior")
        draws = prior_draws(model, self.n_draws, key.child("prior"), bench.loop)
        weights = Weights.of(draws.log_likelihood)
        # Weighted by the likelihood the draws stand for the posterior, as those of every other record.
        record, remedy = (
            with_parameters(model, replace(draws, log_weight=draws.log_likelihood)),
            "use zhat.SMC(), which tempers from the prior to the posterior",
        )
        estimate = weights_estimate(weights, record, remedy)
        return self.checked(model, estimate, Sampled(draws), key.child("mode"), bench.loop) if self.mode_check else estimate
