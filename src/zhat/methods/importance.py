"""Importance sampling: weighted draws from a density near the posterior.

    Z = E_q[ L(theta) prior(theta) / q(theta) ]   so   log Z  is estimated by  log (1/N) sum_i w_i.

By default q is a Student t (or several) at the modes that a survey finds, shaped by their curvature (Geweke 1989), or any
proposal given. Pilot runs refit it: while their weights are uneven, mixtures of one, two, four t's are fitted to the weighted
draws, and the best one is used, which helps with skewed and curved posteriors. If no such mixture fits, a small tempered population
from the prior adds components: it knows regions that lie at no mode. With posterior draws (`evidence(model, draws=...)`) q is fitted to them, and where its weights are too uneven it is refitted to
these and its own weighted draws together (`sampling.importance.refitted`). Pilot draws are not used for the answer. A tenth of the draws comes from the prior itself and is counted in q (Hesterberg 1995), so that a mode which the search missed but the
prior reaches shows up as a few huge weights.

*In hundreds of dimensions* (above two hundred) a t is unlike any posterior: its radius varies too much. There q is a normal near the
posterior (`sampling.importance.reference`), and the check are posterior chains from prior draws (`missed_mass.chain_view`). It answers
where the posterior is nearly normal; otherwise its weights refuse, and SMC along a path from that normal answers.

*Its standard error.* The delta method's, sd(w) / (sqrt(N) mean(w)), given only when the weights' Pareto k is below 0.5 and their
effective sample size is large enough; otherwise the number is suspect and comes without one. Z is unbiased; log Z is low by
half the squared standard error, which is far below it.

*When it lies.* A mode that neither the search nor the prior's share of draws reaches leaves no trace in the weights. So a
coverage check follows: a small tempered population from the prior shows mass where the proposal has hardly any density
(`missed_mass.coverage_check`). Modes found that way are added to the proposal, once, and everything is computed and checked
again. (Where the posterior is known to have one mode and a likelihood evaluation is expensive, there is nothing to find and no check:
a log-concave density falls at least exponentially, so its weights against a t are bounded.) A mode that the population does not reach either, or one of a few hundredths of the mass, remains undetected. In many
dimensions the posterior of a hierarchical model may have no usable mode at all; then the result fails (`no-mode`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.kinds import shown
from zhat.methods._base import Method, Size, check_count, check_search_effort
from zhat.methods._from_mode import ROUNDING, one_mode, seen_from_chains
from zhat.missed_mass.beside_chains import look_beside_chains
from zhat.missed_mass.chain_view import Way
from zhat.missed_mass.effort import SHARP, Effort
from zhat.missed_mass.finding import Answer, Finding
from zhat.missed_mass.look import Look, look_for_missed_mass
from zhat.missed_mass.prior_view import PriorView, view_from_prior
from zhat.missed_mass.witnesses import Proposed
from zhat.model.model import Model, Offer
from zhat.numerics.weights import Weights, efficiency_elsewhere
from zhat.results.estimate import Estimate, Status
from zhat.results.records import Draws
from zhat.sampling.backend.evaluation import prior_draws, with_parameters
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.in_parameters import InParameters, modes_in_parameters
from zhat.sampling.importance.modes import Mode
from zhat.sampling.importance.parameter_maps import are_coordinates
from zhat.sampling.importance.proposals import Mixture, Proposal, at_modes, fitted
from zhat.sampling.importance.reference import fitted_normal, reference_at
from zhat.sampling.importance.refitted import Refitted, is_better
from zhat.sampling.importance.survey import Survey
from zhat.sampling.importance.weighted_draws import defended, resampled, weighted_draws
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.learned_modes import learning
from zhat.verdicts.missed_mass import after_look
from zhat.verdicts.weights import MAX_PARETO_K, weights_estimate

REMEDY = "use zhat.SMC(), which needs no proposal"
# Draws of a run; with fewer the check for missed mass is smaller too.
N_DRAWS = 50_000
# Components of the mixtures that the pilots try in turn, and the share of effective draws that needs no better one.
COMPONENTS = (1, 2, 4)
GOOD_EFFICIENCY = 0.6
HEAVY = 0.3
# A share of the draws comes from wider t's with heavier tails at the same modes. A posterior of a location and a scale from six data has
# tails as heavy as the proposal's, which the pilots do not see: Pareto k exceeded its limit in 6 of 30 runs.
TAIL_SHARE, TAIL_DEGREES, TAIL_WIDTH = 0.05, 2.0, 4.0
# Draws x dimensions in hundreds of dimensions: 80 MB, of which there are a few copies; 10,000 draws in a thousand dimensions.
MOST_NUMBERS = 10_000_000
# Rounds of weighted draws that refit a proposal around given draws: three brought the weights of 20 Gaussians in 100 dimensions, 4 x 1000
# draws each, to an effective share of a third.
MOST_REFITS = 4
# Draws of equal weight that stand for the posterior in the check for missed mass beside given draws: as many as four chains of 1,000.
MOST_RESAMPLED = 4_000
# How many times the share of effective draws of one proposal another must have to take its place, as pilots know it to some tens of per cent.
CLEARLY = 2.0
# Share of effective draws below which a population from the prior helps to shape the proposal.
POOR_EFFICIENCY = 0.02


@dataclass(frozen=True)
class Importance(Method):
    """Importance sampling from a Student t at the mode, or from `proposal`.

    The survey of the modes makes `search_effort` times its usual starts: with 10 it finds basins that are ten times as narrow.
    """

    n_draws: int = N_DRAWS
    proposal: Proposal | None = None
    degrees_of_freedom: float = 5.0
    defensive: float = 0.1
    n_pilot: int = 8_000
    coverage_check: bool = True
    search_effort: float = 1.0

    name: ClassVar[str] = "importance"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.LIKELIHOOD, Offer.PRIOR_DRAWS})
    evaluations: ClassVar[tuple[float, float]] = (1.3, 0.0)
    cites: ClassVar[tuple[str, ...]] = ("geweke1989", "hesterberg1995", "vehtari2024")
    sizes: ClassVar[tuple[Size, ...]] = (Size("n_draws", 1000), Size("n_pilot", 500, grows=False))
    needs_with_draws: ClassVar[frozenset[Offer]] = frozenset({Offer.JOINT_DENSITY})
    look: ClassVar[Look] = Look.from_prior(SHARP)
    # A thousand draws, which reach a tenth of a nat where the proposal fits.
    first_share: ClassVar[float] = 0.02
    when: ClassVar[str] = "one or a few clear modes, up to some tens of dimensions; the default first choice"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("Importance", "n_draws", self.n_draws, 1000, "Pareto k and the standard error need enough draws")
        check_count("Importance", "n_pilot", self.n_pilot, 500, "refitting the proposal needs draws")
        if not 0.0 <= self.defensive < 1.0:
            raise BadInput(f"Importance(defensive={self.defensive}): give the prior's share of draws, from 0 to below 1.")
        check_search_effort("Importance", self.search_effort)
        if not self.degrees_of_freedom > 0:
            raise BadInput(f"Importance(degrees_of_freedom={self.degrees_of_freedom}): must be above zero.")
        if self.proposal is not None and not callable(getattr(self.proposal, "log_density", None)):
            raise BadType(
                f"Importance(proposal={shown(self.proposal)}): give a proposal such as zhat.proposals.StudentT(mean, scale)."
            )

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        if self.proposal is not None:
            if isinstance(self.proposal, Refitted):
                return self._around_draws(model, self.proposal, bench, key)
            estimate, finding = self._answer(model, _Shaped(self.proposal), (), key, bench.loop)
            return estimate if finding is None else after_look(estimate, finding)
        survey = bench.survey(self.effort.survey(model))
        if survey.ended_early:
            return _too_many_modes(len(survey.modes.usable))
        if not survey.modes.usable:
            return _no_proposal(survey.modes.n_starts)
        if model.n_dimensions > self.effort.hundreds and not model.is_black_box:
            return self._in_hundreds_of_dimensions(model, survey, key, bench.loop)
        estimate = learning(partial(self._at, model, bench.loop), survey.modes.usable, key)
        found = {"one_mode": model.one_mode} if self.effort.relies_on_one_mode(model) else survey.diagnostics
        return replace(estimate, diagnostics={**estimate.diagnostics, **found})

    def _in_hundreds_of_dimensions(self, model: Model, survey: Survey, key: Key, loop: Loop) -> Estimate:
        """From a normal near the posterior: the weights of t's at the mode are worthless there, however good their shape."""
        mode = one_mode(survey, self.effort.negligible)
        if isinstance(mode, Estimate):
            return mode
        reference = reference_at(model, *fitted_normal(model, mode, key.child("normal"), loop))
        n = min(self.n_draws, MOST_NUMBERS // model.n_dimensions)
        loop.tick(f"{n:,} draws from a normal near the posterior")
        drawn = prior_draws(reference.model, n, key.child("draws"), loop)
        weights = Weights.of(drawn.log_likelihood)
        draws = with_parameters(model, replace(reference.draws(model, drawn, loop), log_weight=drawn.log_likelihood))
        estimate = weights_estimate(weights, draws, "use zhat.SMC(), which tempers", n_modes=1, **survey.diagnostics)
        if not self.coverage_check or estimate.log_evidence_se is None or not estimate.status.is_ok:
            return estimate
        se = max(estimate.log_evidence_se, ROUNDING * abs(estimate.log_evidence))
        estimate, answer = replace(estimate, log_evidence_se=se), Answer(estimate.log_evidence, se)
        lowest = float((drawn.log_prior + drawn.log_likelihood).min())
        way = Way(reference, np.array([0.0, 1.0]), lowest)
        finding, status = seen_from_chains(model, answer, way, survey, self.effort, key.child("chains"), loop)
        return after_look(estimate.doubted(status), finding)

    @property
    def effort(self) -> Effort:
        """That of its check: about as many evaluations go into it as into the draws."""
        return self.look.effort.scaled(self.n_draws / N_DRAWS).searched(self.search_effort)

    def _at(self, model: Model, loop: Loop, modes: tuple[Mode, ...], key: Key) -> tuple[Estimate, Finding | None]:
        """The answer of a proposal at these modes, and the finding of the check for missed mass, if it was made."""
        shaped = self._refit(model, _Shaped(at_modes(modes, self.degrees_of_freedom)), COMPONENTS, key.child("pilot"), loop)
        if shaped.is_poor and self.coverage_check and not self.effort.relies_on_one_mode(model):
            shaped = self._with_population(model, shaped, key, loop)
        if not shaped.score > GOOD_EFFICIENCY and are_coordinates(model):
            shaped = self._in_parameters(model, shaped, modes, key.child("parameters"), loop)
        tails = at_modes(modes, min(TAIL_DEGREES, self.degrees_of_freedom), TAIL_WIDTH)
        shaped = replace(shaped, proposal=Mixture((shaped.proposal, tails), (1.0 - TAIL_SHARE, TAIL_SHARE)))
        return self._answer(model, shaped, modes, key, loop)

    def _answer(
        self, model: Model, shaped: _Shaped, modes: tuple[Mode, ...], key: Key, loop: Loop
    ) -> tuple[Estimate, Finding | None]:
        estimate, draws, weights = self._weighted(model, shaped, len(modes), key, loop)
        if not self.coverage_check or not estimate.log_evidence_se:
            return estimate, None
        answer = Answer(estimate.log_evidence, estimate.log_evidence_se)
        witnesses = Proposed(shaped.proposal, draws, weights, self.defensive, modes, shaped.view)
        return estimate, look_for_missed_mass(model, answer, witnesses, self.effort, key.child("look"), loop)

    def _weighted(self, model: Model, shaped: _Shaped, n_modes: int, key: Key, loop: Loop) -> tuple[Estimate, Draws, Weights]:
        """The estimate from weighted draws of a proposal, before the check for missed mass."""
        loop.tick(f"{self.n_draws:,} draws from the proposal")
        draws = weighted_draws(model, shaped.proposal, self.n_draws, key.child("draws"), loop, self.defensive)
        assert draws.log_weight is not None
        record, weights = with_parameters(model, draws), Weights.of(draws.log_weight)
        return weights_estimate(weights, record, REMEDY, n_modes=n_modes, pilot_efficiency=shaped.efficiency), draws, weights

    def _around_draws(self, model: Model, around: Refitted, bench: Workbench, key: Key) -> Estimate:
        """The estimate by a proposal fitted to given draws, with the check for missed mass that an answer from these draws has."""
        estimate, draws, weights = self._weighted(model, _Shaped(around), 0, key, bench.loop)
        if not estimate.log_evidence_se:
            refitted = self._refitted(model, around, draws, key.child("refit"), bench.loop)
            if refitted is not None:
                estimate, draws, weights = self._weighted(model, refitted, 0, key.child("refitted"), bench.loop)
        if not self.coverage_check or not estimate.log_evidence_se:
            return estimate
        answer = Answer(estimate.log_evidence, estimate.log_evidence_se)
        even = resampled(draws, min(MOST_RESAMPLED, int(weights.ess)), key.child("resampled"))
        return after_look(estimate, look_beside_chains(model, answer, even, None, bench, self.effort, key.child("look")))

    def _refitted(self, model: Model, around: Refitted, first: Draws, key: Key, loop: Loop) -> _Shaped | None:
        """A proposal around given draws after rounds of weighted draws, while these improve it; None where they do not help."""
        assert first.log_weight is not None
        rounds, last, best = [first], Weights.of(first.log_weight), None
        for i in range(MOST_REFITS):
            proposal = around.after(rounds, key.child("fit", i).generator())
            if proposal is None:
                return best
            loop.tick(f"refit {i + 1}")
            draws = weighted_draws(model, proposal, self.n_draws, key.child("draws", i), loop, self.defensive)
            assert draws.log_weight is not None
            rounds.append(draws)
            new = Weights.of(draws.log_weight)
            if not is_better(new, last):
                return best
            best, last = _Shaped(proposal, float(new.ess) / self.n_draws, float(new.pareto_k)), new
            if best.pareto_k < HEAVY:
                return best
        return best

    def _with_population(self, model: Model, shaped: _Shaped, key: Key, loop: Loop) -> _Shaped:
        """The proposal with components fitted to a tempered population from the prior, refitted; it may reach what modes do not."""
        view = view_from_prior(model, self.effort, key.child("look"), loop)
        population = view.draws
        if population is None or population.log_weight is None:
            return shaped
        fit = _fit(population.position, population.log_weight, COMPONENTS[-1], self.degrees_of_freedom, key.child("population"))
        if fit is None:
            return replace(shaped, view=view)
        both = _Shaped(Mixture((shaped.proposal, fit), (0.5, 0.5)))
        best = self._refit(model, both, (2 * COMPONENTS[-1],), key.child("second pilot"), loop)
        return replace(best if best.score > shaped.score else shaped, view=view)

    def _in_parameters(self, model: Model, shaped: _Shaped, modes: tuple[Mode, ...], key: Key, loop: Loop) -> _Shaped:
        """The proposal, or an even mixture of it with t's at the modes of the density of the parameters, where that is clearly better.

        Both are judged at draws of the mixture: draws of one alone do not show what it lacks. (T's that fit a spike hardly meet the
        slab around it.)
        """
        others = modes_in_parameters(model, modes)
        if not others:
            return shaped
        in_parameters = InParameters(at_modes(others, self.degrees_of_freedom), model)
        both = Mixture((in_parameters, shaped.proposal), (0.5, 0.5))
        draws = weighted_draws(model, both, self.n_pilot, key, loop, self.defensive)
        assert draws.log_weight is not None
        of_shaped = defended(shaped.proposal, draws.position, draws.log_prior, self.defensive)
        alone = efficiency_elsewhere(draws.log_weight, draws.log_prior + draws.log_likelihood, of_shaped)
        weights = Weights.of(draws.log_weight)
        efficiency = float(weights.ess) / self.n_pilot
        return _Shaped(both, efficiency, float(weights.pareto_k), shaped.view) if efficiency > CLEARLY * alone else shaped

    def _refit(self, model: Model, first: _Shaped, components: tuple[int, ...], key: Key, loop: Loop) -> _Shaped:
        """The best of a proposal and mixtures of it with fits to weighted pilot draws."""
        proposal, best = first.proposal, first
        pooled: list[tuple[np.ndarray, np.ndarray]] = []
        for n_components in (*components, 0):
            loop.tick(f"pilot {len(pooled) + 1}")
            draws = weighted_draws(model, proposal, self.n_pilot, key.child(n_components), loop, self.defensive)
            assert draws.log_weight is not None
            weights = Weights.of(draws.log_weight)
            pooled.append((draws.position, draws.log_weight))
            tried = _Shaped(proposal, float(weights.ess) / self.n_pilot, float(weights.pareto_k))
            if tried.score > best.score:
                best = tried
            if best.score > GOOD_EFFICIENCY or weights.ess < 4 * model.n_dimensions or not n_components:
                break
            position, log_weight = (np.concatenate([part[i] for part in pooled[-2:]]) for i in (0, 1))
            fit = _fit(position, log_weight, n_components, self.degrees_of_freedom, key.child("fit", n_components))
            if fit is None:
                break
            proposal = Mixture((first.proposal, fit), (0.25, 0.75))
        return best


@dataclass(frozen=True)
class _Shaped:
    """A proposal, the share of effective draws and Pareto k of its pilot, and the population that shaped it, if one did."""

    proposal: Proposal
    efficiency: float = float("nan")
    pareto_k: float = float("inf")
    view: PriorView | None = None

    @property
    def score(self) -> float:
        """Its efficiency; less with heavy weights, which would be heavier in the answer: efficiency alone prefers narrow ones."""
        if np.isnan(self.efficiency):
            return -1.0
        return self.efficiency if self.pareto_k < HEAVY else 0.3 * self.efficiency

    @property
    def is_poor(self) -> bool:
        """Whether its draws would hardly give an answer."""
        return not self.pareto_k < MAX_PARETO_K or not self.efficiency > POOR_EFFICIENCY


def _fit(position: np.ndarray, log_weight: np.ndarray, n_components: int, degrees_of_freedom: float, key: Key) -> Proposal | None:
    """A mixture fitted to weighted draws; None where their covariance is singular."""
    weight = np.exp(log_weight - log_weight.max())
    alive = (weight > 0) & np.isfinite(position).all(axis=1)
    try:
        return fitted(position[alive], weight[alive], n_components, degrees_of_freedom, key.generator())
    except BadInput:
        return None


def _too_many_modes(n_modes: int) -> Estimate:
    sentence = (
        f"the survey of the modes ended at {n_modes} of them, and there are more: a proposal at each would take longer than a method "
        f"that needs none; {REMEDY}."
    )
    return Estimate(np.nan, None, Status.failed("many-modes", sentence))


def _no_proposal(n_starts: int) -> Estimate:
    sentence = (
        f"none of {n_starts} searches ended in a mode at which a proposal can be put (the mode may lie at the edge of a support, or "
        f"the posterior is flat there); {REMEDY}, or give one: zhat.Importance(proposal=zhat.proposals.StudentT(...))."
    )
    return Estimate(np.nan, None, Status.failed("no-mode", sentence))
