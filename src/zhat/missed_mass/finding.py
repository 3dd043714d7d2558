"""The result of a check for missed mass, as a typed record; its entries in the diagnostics are written and read here alone.

A `Finding` holds numbers, not verdicts: `zhat.verdicts.missed_mass` turns it into a status.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zhat.missed_mass.effort import EFFORT, Effort

if TYPE_CHECKING:
    from zhat.results.estimate import Diagnostic
    from zhat.sampling.importance.modes import Mode


class Progress(enum.Enum):
    """How far a check came; the words are those of the diagnostics."""

    NOT_MADE = "not made"
    DONE = "done"
    NOT_DONE = "not done"
    NO_MODE = "no usable mode: no second view"
    NOT_NEEDED = "not needed: the posterior has one mode"


class Unseen(enum.Enum):
    """Parts of the check that were left out."""

    OUTLIERS = "outlying points: a search from each would cost a black box more than its run"
    PRIOR = "all that starts from the prior: only the joint density is known, and searches started from around the draws"
    MODES = "modes: no search ended in one at which a proposal can be put"


@dataclass(frozen=True)
class Answer:
    """The answer that is checked: log evidence, and the standard error that the method would report."""

    log_evidence: float
    se: float


@dataclass(frozen=True)
class SecondEstimate:
    """A second, unbiased estimate of the evidence: from other draws, so independent of the answer."""

    log_evidence: float
    se: float
    pareto_k: float

    def excess(self, answer: Answer) -> float:
        """Nats by which this lies above an answer."""
        return self.log_evidence - answer.log_evidence

    def joint_errors(self, answer: Answer) -> float:
        """The excess in joint standard errors."""
        joint, excess = math.hypot(self.se, answer.se), self.excess(answer)
        return excess / joint if joint > 0.0 else math.copysign(math.inf, excess) if excess else 0.0

    def exceeds(self, answer: Answer, effort: Effort) -> bool:
        """Whether this proves that an answer missed mass: the one test of one estimate against another.

        An unbiased estimate of Z exceeds log Z by b nats with probability at most exp(-b), so only an estimate above the answer
        proves anything. It must exceed it by several joint standard errors and, where Pareto k allows no standard
        error of the weights, by Markov's inequality too.
        """
        excess, joint = self.excess(answer), math.hypot(self.se, answer.se)
        needed = effort.joint_errors * joint + effort.slack
        if not effort.always_nats and self.pareto_k < effort.with_variance and joint > 0.0:
            needed = min(needed, effort.clear_errors * joint)
        if not excess > needed:
            return False
        return self.pareto_k < effort.trusted_pareto_k or excess > effort.markov_nats


@dataclass(frozen=True)
class Coverage:
    """Share of the weight where a proposal has hardly any density: in a population from the prior, and among its own draws."""

    population: float
    draws: float


@dataclass(frozen=True)
class Finding:
    """The comparisons with an answer, and their results.

    Attributes
    ----------
    answer : Answer
    effort : Effort
        Holds the thresholds by which the properties below decide.
    mode_check, coverage_check : Progress
        Which checks ran, and how far.
    at_modes : SecondEstimate or None
        Importance sampling at the modes.
    from_prior_draws : SecondEstimate or None
        The mean likelihood of prior draws, for answers from posterior chains.
    unvisited_share : float or None
        Largest share of the posterior at a mode that the answer's draws do not visit.
    coverage : Coverage or None
        How much of a population from the prior a proposal reaches.
    from_population : SecondEstimate or None
        The log evidence of that population.
    visited_by_population : float
        Share of the posterior, by the answer's draws, outside the modes that the population hardly visits.
    from_chains : SecondEstimate or None
        Annealing back from posterior chains that started at prior draws.
    basin_resolution : float or None
        Smallest share of the prior that a mode's basin may hold and still be met by the survey with probability 95 %.
    new_modes : tuple of Mode
        Modes of the missed mass, for a method that can add them to its proposal.
    n_learned : int
        Modes that an earlier check found and this answer used.
    stopped : str or None
        Why the check was not finished.
    unseen : tuple of Unseen
        Parts of the check that were left out.
    """

    answer: Answer
    effort: Effort = EFFORT
    mode_check: Progress = Progress.NOT_MADE
    coverage_check: Progress = Progress.NOT_MADE
    at_modes: SecondEstimate | None = None
    from_prior_draws: SecondEstimate | None = None
    unvisited_share: float | None = None
    coverage: Coverage | None = None
    from_population: SecondEstimate | None = None
    visited_by_population: float = 1.0
    from_chains: SecondEstimate | None = None
    basin_resolution: float | None = None
    new_modes: tuple[Mode, ...] = ()
    n_learned: int = 0
    stopped: str | None = None
    unseen: tuple[Unseen, ...] = ()

    @property
    def modes_exceed(self) -> bool:
        """Whether importance sampling at the modes proves that mass was missed."""
        return self.at_modes is not None and self.at_modes.exceeds(self.answer, self.effort)

    @property
    def prior_draws_exceed(self) -> bool:
        """Whether prior draws prove that mass was missed."""
        return self.from_prior_draws is not None and self.from_prior_draws.exceeds(self.answer, self.effort)

    @property
    def is_unvisited(self) -> bool:
        """Whether the answer's draws leave out a share of the posterior that matters for its standard error."""
        return self.unvisited_share is not None and self.unvisited_share > self.effort.harmless_errors * self.answer.se

    @property
    def is_uncovered(self) -> bool:
        """Whether a population from the prior has clearly more weight where the proposal has hardly any density."""
        return self.coverage is not None and self.coverage.population > self.coverage.draws + self.effort.margin

    @property
    def population_exceeds(self) -> bool:
        """Whether the population from the prior proves that mass was missed."""
        return self.from_population is not None and self.from_population.exceeds(self.answer, self.effort)

    @property
    def population_agrees(self) -> bool:
        """Whether the population from the prior agrees with the answer, on the part of the posterior that it visited.

        It may have lost a mode that the answer has; where it has not, both estimate the same number.
        """
        second = self.from_population
        if second is None or not self.visited_by_population > 0.0:
            return False
        return self._agrees(second, Answer(self.answer.log_evidence + math.log(self.visited_by_population), self.answer.se))

    @property
    def chains_exceed(self) -> bool:
        """Whether posterior chains from prior draws have mass that the answer missed."""
        return self.from_chains is not None and self.from_chains.exceeds(self.answer, self.effort)

    @property
    def chains_agree(self) -> bool:
        """Whether the log evidence by annealing back from such chains agrees with the answer."""
        return self.from_chains is not None and self._agrees(self.from_chains, self.answer)

    def _agrees(self, second: SecondEstimate, answer: Answer) -> bool:
        return abs(second.excess(answer)) <= self.effort.joint_errors * math.hypot(second.se, answer.se) + self.effort.slack

    @property
    def is_missed(self) -> bool:
        """Whether any check shows that mass was missed."""
        seconds = self.modes_exceed or self.prior_draws_exceed or self.population_exceeds or self.chains_exceed
        return seconds or self.is_unvisited or self.is_uncovered

    @property
    def resolution(self) -> float | None:
        """Smallest share of the posterior whose absence the comparison at the modes would show; None where there was none."""
        if self.at_modes is None:
            return None
        nats = self.effort.joint_errors * math.hypot(self.at_modes.se, self.answer.se) + self.effort.slack
        return -math.expm1(-nats)

    @property
    def second_estimates(self) -> Finding:
        """The second estimates alone: they are independent of the answer, so another method's answer can be compared with them too."""
        return Finding(self.answer, self.effort, at_modes=self.at_modes, from_prior_draws=self.from_prior_draws)

    # -- in a result's diagnostics -----------------------------------------------------------------------------------------

    @property
    def diagnostics(self) -> dict[str, Diagnostic]:
        """The finding as entries of a result's diagnostics."""
        out: dict[str, Diagnostic] = {}
        if self.coverage_check is not Progress.NOT_MADE:
            out["particle_check"] = self.coverage_check.value
        if self.coverage is not None:
            out |= {"huge_share_particles": self.coverage.population, "huge_share_draws": self.coverage.draws}
        if self.mode_check is not Progress.NOT_MADE:
            out["mode_check"] = self.mode_check.value
        if self.from_population is not None:
            out["visited_by_population"] = self.visited_by_population
        for prefix, second in self._seconds:
            if second is not None:
                out[f"{prefix}_log_evidence"] = second.log_evidence
                out[f"{prefix}_se"] = second.se
                out[f"{prefix}_pareto_k"] = second.pareto_k
        if self.unvisited_share is not None:
            out["unvisited_share"] = self.unvisited_share
        if self.basin_resolution is not None:
            out["basin_resolution"] = self.basin_resolution
        if self.n_learned:
            out["n_modes_missed_at_first"] = self.n_learned
        if self.unseen:
            out["unseen"] = [part.name.lower() for part in self.unseen]
        return out

    @property
    def _seconds(self) -> tuple[tuple[str, SecondEstimate | None], ...]:
        elsewhere = ("from_population", self.from_population), ("from_chains", self.from_chains)
        return ("from_mode", self.at_modes), ("from_prior", self.from_prior_draws), *elsewhere

    @staticmethod
    def read(diagnostics: Mapping[str, Diagnostic], answer: Answer, effort: Effort = EFFORT) -> Finding:
        """The finding stored in a result's diagnostics, to be compared with an answer: that of the result, or another one.

        New modes, and why a check was stopped, are not among the diagnostics.
        """
        coverage = [diagnostics.get(f"huge_share_{name}") for name in ("particles", "draws")]
        unvisited, n_learned = diagnostics.get("unvisited_share"), diagnostics.get("n_modes_missed_at_first", 0)
        unseen, visited = diagnostics.get("unseen", []), diagnostics.get("visited_by_population")
        basin = diagnostics.get("basin_resolution")
        return Finding(
            answer=answer,
            effort=effort,
            mode_check=_progress(diagnostics.get("mode_check")),
            coverage_check=_progress(diagnostics.get("particle_check")),
            at_modes=_second(diagnostics, "from_mode"),
            from_prior_draws=_second(diagnostics, "from_prior"),
            from_population=_second(diagnostics, "from_population"),
            from_chains=_second(diagnostics, "from_chains"),
            visited_by_population=visited if isinstance(visited, float) else 1.0,
            unvisited_share=unvisited if isinstance(unvisited, float) else None,
            coverage=Coverage(*[float(c) for c in coverage]) if all(isinstance(c, float) for c in coverage) else None,  # type: ignore[arg-type]
            basin_resolution=basin if isinstance(basin, float) else None,
            n_learned=n_learned if isinstance(n_learned, int) else 0,
            unseen=tuple(part for part in Unseen if part.name.lower() in unseen) if isinstance(unseen, list) else (),
        )


def _progress(word: Diagnostic | None) -> Progress:
    return next((progress for progress in Progress if progress.value == word), Progress.NOT_MADE)


def _second(diagnostics: Mapping[str, Diagnostic], prefix: str) -> SecondEstimate | None:
    log_evidence, se, k = (diagnostics.get(f"{prefix}_{name}") for name in ("log_evidence", "se", "pareto_k"))
    if not (isinstance(log_evidence, float) and isinstance(se, float) and isinstance(k, float)):
        return None
    return SecondEstimate(log_evidence, se, k)
