"""Importance sampling: weighted draws from a density near the posterior.

    Z = E_q[ L(theta) prior(theta) / q(theta) ]   so   log Z  is estimated by  log (1/N) sum_i w_i.

By default q is a Student t (or several) at the modes that a multistart search finds, shaped by their curvature (Geweke 1989), or
any proposal given. Pilot runs refit it: while their weights are uneven, mixtures of one, two, four t's are fitted to the weighted
draws, and the best one is used, which helps with skewed and curved posteriors. Pilot draws are not used for the answer. A tenth
of the draws comes from the prior itself and is counted in q (Hesterberg 1995), so that a mode which the search missed but the
prior reaches shows up as a few huge weights.

*Its standard error.* The delta method's, sd(w) / (sqrt(N) mean(w)), given only when the weights' Pareto k is below 0.5 and their
effective sample size is large enough; otherwise the number is suspect and comes without one. Z is unbiased; log Z is low by
half the squared standard error, which is far below it.

*When it lies.* A mode that neither the search nor the prior's share of draws reaches leaves no trace in the weights. So a
coverage check follows: a small tempered population from the prior shows mass where the proposal has hardly any density
(`missed_mass.coverage_check`). Modes found that way are added to the proposal, once, and everything is computed and checked
again. A mode that the population does not reach either, or one of a few hundredths of the mass, remains undetected. In many
dimensions the posterior of a hierarchical model may have no usable mode at all; then the result fails (`no-mode`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from zhat.errors import BadInput
from zhat.methods._base import Method, Size, check_count
from zhat.missed_mass.effort import SHARP
from zhat.missed_mass.finding import Answer, Finding
from zhat.missed_mass.look import Look, look_for_missed_mass
from zhat.missed_mass.witnesses import Proposed
from zhat.model.model import Model, Offer
from zhat.numerics.weights import Weights
from zhat.results.estimate import Estimate, Status
from zhat.sampling.backend.evaluation import with_parameters
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Mode
from zhat.sampling.importance.proposals import Mixture, Proposal, at_modes, fitted
from zhat.sampling.importance.weighted_draws import weighted_draws
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.learned_modes import learning
from zhat.verdicts.missed_mass import after_look
from zhat.verdicts.weights import weights_estimate

REMEDY = "use zhat.SMC(), which needs no proposal"
# Components of the mixtures that the pilots try in turn, and the share of effective draws that needs no better one.
COMPONENTS = (1, 2, 4)
GOOD_EFFICIENCY = 0.6
HEAVY = 0.3


@dataclass(frozen=True)
class Importance(Method):
    """Importance sampling from a Student t at the mode, or from `proposal`."""

    n_draws: int = 50_000
    proposal: Proposal | None = None
    degrees_of_freedom: float = 5.0
    defensive: float = 0.1
    n_pilot: int = 8_000
    coverage_check: bool = True

    name: ClassVar[str] = "importance"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.LIKELIHOOD, Offer.PRIOR_DRAWS})
    evaluations: ClassVar[tuple[float, float]] = (1.3, 0.0)
    cites: ClassVar[tuple[str, ...]] = ("geweke1989", "hesterberg1995", "vehtari2024")
    sizes: ClassVar[tuple[Size, ...]] = (Size("n_draws", 1000), Size("n_pilot", 500, grows=False))
    look: ClassVar[Look] = Look.from_prior(SHARP)
    when: ClassVar[str] = "one or a few clear modes, up to some tens of dimensions; the default first choice"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("Importance", "n_draws", self.n_draws, 1000, "Pareto k and the standard error need enough draws")
        check_count("Importance", "n_pilot", self.n_pilot, 500, "refitting the proposal needs draws")
        if not 0.0 <= self.defensive < 1.0:
            raise BadInput(f"Importance(defensive={self.defensive}): give the prior's share of draws, from 0 to below 1.")
        if not self.degrees_of_freedom > 0:
            raise BadInput(f"Importance(degrees_of_freedom={self.degrees_of_freedom}): must be above zero.")

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        if self.proposal is not None:
            estimate, finding = self._answer(model, self.proposal, 0, float("nan"), key, bench.loop)
            return estimate if finding is None else after_look(estimate, finding)
        modes = bench.modes(self.look.effort.search_starts(model))
        if not modes.usable:
            return _no_proposal(modes.n_starts)
        return learning(partial(self._at, model, bench.loop), modes.usable, key)

    def _at(self, model: Model, loop: Loop, modes: tuple[Mode, ...], key: Key) -> tuple[Estimate, Finding | None]:
        """The answer of a proposal at these modes, and the finding of the check for missed mass, if it was made."""
        first = at_modes(modes, self.degrees_of_freedom)
        proposal, efficiency = self._refit(model, first, key.child("pilot"), loop)
        return self._answer(model, proposal, len(modes), efficiency, key, loop)

    def _answer(
        self, model: Model, proposal: Proposal, n_modes: int, efficiency: float, key: Key, loop: Loop
    ) -> tuple[Estimate, Finding | None]:
        loop.tick(f"{self.n_draws:,} draws from the proposal")
        draws = weighted_draws(model, proposal, self.n_draws, key.child("draws"), loop, self.defensive)
        assert draws.log_weight is not None
        record, weights = with_parameters(model, draws), Weights.of(draws.log_weight)
        estimate = weights_estimate(weights, record, REMEDY, n_modes=n_modes, pilot_efficiency=efficiency)
        if not self.coverage_check or not estimate.log_evidence_se:
            return estimate, None
        answer = Answer(estimate.log_evidence, estimate.log_evidence_se)
        witnesses = Proposed(proposal, draws, weights, self.defensive)
        return estimate, look_for_missed_mass(model, answer, witnesses, self.look.effort, key.child("look"), loop)

    def _refit(self, model: Model, proposal: Proposal, key: Key, loop: Loop) -> tuple[Proposal, float]:
        """The best of the proposal at the modes and mixtures fitted to weighted pilot draws; and its efficiency."""
        first, best, best_score = proposal, proposal, -1.0
        pooled: list[tuple[np.ndarray, np.ndarray]] = []
        for n_components in (*COMPONENTS, 0):
            loop.tick(f"pilot {len(pooled) + 1}")
            draws = weighted_draws(model, proposal, self.n_pilot, key.child(n_components), loop, self.defensive)
            assert draws.log_weight is not None
            weights = Weights.of(draws.log_weight)
            efficiency = float(weights.ess) / self.n_pilot
            pooled.append((draws.position, draws.log_weight))
            # Heavy weights in the pilot would be heavier in the answer: efficiency alone prefers proposals that are too narrow.
            score = efficiency if weights.pareto_k < HEAVY else 0.3 * efficiency
            if score > best_score:
                best, best_score = proposal, score
            if best_score > GOOD_EFFICIENCY or weights.ess < 4 * model.n_dimensions or not n_components:
                break
            position, log_weight = (np.concatenate([part[i] for part in pooled[-2:]]) for i in (0, 1))
            weight = np.exp(log_weight - log_weight.max())
            alive = (weight > 0) & np.isfinite(position).all(axis=1)
            try:
                rng = key.child("fit", n_components).generator()
                fit = fitted(position[alive], weight[alive], n_components, self.degrees_of_freedom, rng)
            except BadInput:  # the covariance of the weighted draws is singular: nothing can be fitted
                break
            proposal = Mixture((first, fit), (0.25, 0.75))
        return best, best_score


def _no_proposal(n_starts: int) -> Estimate:
    sentence = (
        f"none of {n_starts} searches ended in a mode at which a proposal can be put (the mode may lie at the edge of a support, or "
        f"the posterior is flat there); {REMEDY}, or give one: zhat.Importance(proposal=zhat.proposals.StudentT(...))."
    )
    return Estimate(np.nan, None, Status.failed("no-mode", sentence))
