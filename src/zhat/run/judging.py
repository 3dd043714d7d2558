"""From the runs of several families to one answer: which of them agree, and what is said where none do.

A run is *accepted* when its own status is ok and it has a standard error. The answer is the group of accepted runs that agree with the
highest one (`numerics.agreement`), because what a family does not see is missing from its answer. It is ok when the group has two
algorithms, where one run alone is accepted and its own population from the prior agrees with it, or where every lower run agrees with one from
the modes on the part of the posterior that it visited (`missed_mass.visited`). A run that its own checks refused has
no vote and no veto: its reason is known. One exception is an unbiased estimate of Z, refused or not, that lies far above the answer: by
Markov's inequality it does so with probability at most exp(-b) for b nats.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from zhat.formatting import with_error
from zhat.missed_mass.effort import SHARP
from zhat.missed_mass.finding import Answer, Finding, Progress
from zhat.missed_mass.visited import Visited, visited_by
from zhat.numerics.combining.agreement import Group, group_of_highest
from zhat.results.estimate import Diagnostic, Evidence, Status
from zhat.results.records import Cost, Draws
from zhat.run.families import BRIDGE, FROM_MODE, INTEGRATED, End, Family
from zhat.seeding import Key
from zhat.verdicts.missed_mass import missed_mass_status

# Joint standard errors within which runs agree. Of two honest runs 1 in 20 differ by more than the first and are looked at again;
# 1 in 370 by more than the second, after every family has run.
AGREE, AGREE_AT_LAST = 2.0, 3.0
# Nats by which a refused but unbiased estimate of Z contradicts an answer: exp(-7) < 0.001.
MARKOV_NATS = 7.0
# Chains start from their own population, so that it is a view of its own only where it would notice that half of the posterior is
# missing: a standard error of 0.21 at most.
SHARP_ENOUGH = (math.log(2.0) - SHARP.slack) / SHARP.joint_errors
# The diagnostic of a survey of modes that says what could have been seen.
RESOLUTION = "basin_resolution"
UNBIASED = {"importance", FROM_MODE.label, "smc", "smc by HMC"}


@dataclass(frozen=True)
class Member:
    """The run of one family."""

    family: Family
    evidence: Evidence

    @property
    def is_accepted(self) -> bool:
        """Whether its own checks accept it."""
        return self.evidence.status.is_ok and self.evidence.log_evidence_se is not None

    def __str__(self) -> str:
        """In a sentence: ``nested -40.1 ± 0.12`` or ``smc refused (stuck)``."""
        if not self.is_accepted:
            codes = ", ".join(reason.code for reason in self.evidence.status.reasons)
            return f"{self.family.label} refused ({codes})"
        return f"{self.family.label} {with_error(self.evidence.log_evidence, self.evidence.log_evidence_se)}"


@dataclass(frozen=True)
class Judgement:
    """Runs of several families, and the group of them that agrees.

    Attributes
    ----------
    members : tuple of Member
        All runs, in the order in which they were made.
    group : Group or None
        The accepted ones that agree with the highest; its indices are those of `accepted`.
    """

    members: tuple[Member, ...]
    group: Group | None

    @property
    def accepted(self) -> tuple[Member, ...]:
        """The runs that their own checks accept."""
        return tuple(member for member in self.members if member.is_accepted)

    @property
    def agreeing(self) -> tuple[Member, ...]:
        """The accepted runs of the group."""
        return () if self.group is None else tuple(self.accepted[i] for i in self.group.members)

    @property
    def shared_se(self) -> float:
        """The standard error below which agreement from one end says nothing: that of the least precise of its two best algorithms.

        Runs that start from one end share what that end does badly, so their mean is no more precise than what the second
        confirms. (Two components of very different shape around one centre, six dimensions: two replacements of nested sampling are
        both 0.2 too low.) Zero where two ends agree.
        """
        if len({member.family.end for member in self.agreeing}) > 1:
            return 0.0
        best: dict[str, float] = {}
        for member in self.agreeing:
            label, se = member.family.label, float(member.evidence.log_evidence_se or 0.0)
            best[label] = min(se, best.get(label, math.inf))
        return sorted(best.values())[:2][-1]

    def confirms(self, precision: float | None) -> bool:
        """Whether what agreement from one end confirms is as precise as was asked for."""
        return precision is None or not self.is_agreed or self.shared_se <= precision

    @property
    def is_agreed(self) -> bool:
        """Whether two algorithms agree, and nothing unbiased lies far above them."""
        return len({member.family.label for member in self.agreeing}) > 1 and not self.is_contradicted

    @property
    def with_own_view(self) -> Evidence | None:
        """The run with which a population of its own agrees, where one algorithm alone is accepted and nothing unbiased lies far above."""
        if len({member.family.label for member in self.accepted}) != 1 or len(self.agreeing) < len(self.accepted):
            return None
        best = min((member.evidence for member in self.accepted), key=lambda evidence: evidence.log_evidence_se or 0.0)
        return best if has_two_views(best) and not self.is_contradicted else None

    @property
    def partly_visited(self) -> tuple[tuple[Member, Visited], ...]:
        """The lower runs, each with what it visited of the posterior, where all of them agree with the one from the modes on that part."""
        assert self.group is not None
        lower = [m for m in self.accepted if m not in self.agreeing and not m.family.shaped_by]
        if not lower or {m.family.end for m in self.agreeing} != {End.MODES} or self.is_contradicted:
            return ()
        best = min(self.agreeing, key=lambda member: member.evidence.log_evidence_se or 0.0)
        found = [(member, _visited(best, member)) for member in lower]
        agreed = tuple((member, visited) for member, visited in found if visited is not None)
        return agreed if len(agreed) == len(lower) else ()

    @property
    def is_contradicted(self) -> bool:
        """Whether an unbiased estimate, refused or not, lies far above the group."""
        assert self.group is not None
        limit = self.group.value + MARKOV_NATS
        return any(member.evidence.log_evidence > limit for member in self.members if member.family.label in UNBIASED)


def judge(members: Sequence[Member], limit: float, close: float = 0.0) -> Judgement:
    """The runs that agree within `limit` joint standard errors, or within `close` nats, which do not matter to the question."""
    accepted = [member.evidence for member in members if member.is_accepted]
    if not accepted:
        return Judgement(tuple(members), None)
    errors = [float(evidence.log_evidence_se or 0.0) for evidence in accepted]
    return Judgement(tuple(members), group_of_highest([e.log_evidence for e in accepted], errors, limit, close))


def answer_of(judgement: Judgement) -> Evidence:
    """The answer on which two views agree, or what is said where none do; ok only where no family's check objects."""
    if judgement.is_agreed:
        return combined(judgement)
    if (alone := judgement.with_own_view) is not None:
        return with_views(alone, judgement.members, _two_views(alone))
    if judgement.group is not None and (parts := judgement.partly_visited):
        best = min((member.evidence for member in judgement.agreeing), key=lambda evidence: evidence.log_evidence_se or 0.0)
        return _held_against_looks(with_views(best, judgement.members, _on_parts(judgement, parts)), judgement.members)
    return unresolved(judgement)


def _visited(best: Member, lower: Member) -> Visited | None:
    """What a lower run visited of the posterior, where it agrees on that part; None where it does not, or leaves no draws."""
    draws, record = best.evidence.record, lower.evidence.record
    other = record if isinstance(record, Draws) else getattr(record, "final", None)
    if best.family.other_coordinates != lower.family.other_coordinates or not (
        isinstance(draws, Draws) and isinstance(other, Draws)
    ):
        return None
    answer, below = (Answer(m.evidence.log_evidence, float(m.evidence.log_evidence_se or 0.0)) for m in (best, lower))
    visited = visited_by(answer, draws, other, Key(0).child("visited"))
    return visited if visited is not None and visited.agrees(answer, below) else None


def _on_parts(judgement: Judgement, parts: tuple[tuple[Member, Visited], ...]) -> str:
    """The story of an answer with which lower runs agree on what they visited."""
    some = [f"{member}, which visited {visited.share:.0%} of the posterior" for member, visited in parts]
    return (
        f"{_listed([str(member) for member in judgement.agreeing])} has modes that other families lost, and agrees with them on the rest: "
        f"{_listed(some)}"
    )


def has_two_views(result: Evidence) -> bool:
    """Whether an estimate from modes or chains is accepted and its own population from the prior agrees with it, or is not needed."""
    if not result.status.is_ok or result.log_evidence_se is None:
        return False
    if result.log_evidence_se == 0.0:
        return True  # a constant likelihood: the answer is exact
    found = Finding.read(result.diagnostics, Answer(result.log_evidence, result.log_evidence_se), SHARP)
    if result.method == BRIDGE.label and not (found.from_population and found.from_population.se <= SHARP_ENOUGH):
        return False
    if found.from_chains is not None:
        return found.chains_agree and found.from_chains.se <= SHARP_ENOUGH
    return found.coverage_check is Progress.NOT_NEEDED or found.population_agrees


def _two_views(result: Evidence) -> str:
    """The story of such an answer."""
    back = Finding.read(result.diagnostics, Answer(result.log_evidence, result.log_evidence_se or 0.0)).from_chains
    if back is not None:
        return (
            f"a path from a normal near the posterior; posterior chains that started at prior draws agree with each other, and the path back "
            f"from them with this answer ({with_error(back.log_evidence, back.se)})"
        )
    k, at, se = (float(result.diagnostics.get(name, float("nan"))) for name in _VIEW)  # type: ignore[arg-type]
    if result.method == INTEGRATED.label:
        return (
            f"the declared latent Gaussian parameters are integrated by Laplace's method, corrected by draws whose weights are well behaved "
            f"(Pareto k {k:.2f}); the mean over prior draws of the other parameters agrees with the quadrature over them ({at:.3g} ± {se:.2g})"
        )
    if one_mode := result.diagnostics.get("one_mode"):
        return (
            f"importance sampling at the mode, whose weights are well behaved (Pareto k {k:.2f}); the posterior has no other mode, because "
            f"{one_mode}"
        )
    if result.method == BRIDGE.label:
        return (
            f"bridge sampling on chains that agree (R-hat {result.diagnostics['r_hat']:.3f}), half of which started at modes; the tempered "
            f"population from the prior from which the others started agrees ({at:.3g} ± {se:.2g})"
        )
    return (
        f"importance sampling at the modes, whose weights are well behaved (Pareto k {k:.2f}); a tempered population from the prior "
        f"agrees ({at:.3g} ± {se:.2g} on what it visited)"
    )


_VIEW = ("pareto_k", "from_population_log_evidence", "from_population_se")


def combined(judgement: Judgement) -> Evidence:
    """The answer of a group that agrees: the most precise run, with the weighted mean of all in place of its number."""
    group, agreeing = judgement.group, judgement.agreeing
    assert group is not None
    leading = min(agreeing, key=lambda member: member.evidence.log_evidence_se or 0.0).evidence
    others = [str(member) for member in judgement.members if member not in agreeing]
    story = (
        f"{_listed([str(member) for member in agreeing])} agree (largest difference {group.largest_z:.1f} joint standard errors)"
    )
    if others:
        story += f"; {_listed(others)}"
    se = max(group.se, judgement.shared_se)
    answer = replace(
        leading,
        log_evidence=group.value,
        log_evidence_se=se,
        degrees_of_freedom=group.degrees_of_freedom,
        no_se_because=None,
    )
    return _held_against_looks(with_views(answer, judgement.members, story), judgement.members)


def _held_against_looks(answer: Evidence, members: Sequence[Member]) -> Evidence:
    """The answer, doubted where a second estimate of any family's look for missed mass lies above it."""
    about = Answer(answer.log_evidence, answer.log_evidence_se or 0.0)
    for finding in [Finding.read(member.evidence.diagnostics, about).second_estimates for member in members]:
        answer = answer.doubted(missed_mass_status(finding))
    return answer


def unresolved(judgement: Judgement) -> Evidence:
    """The result where no two algorithms agree: the best-founded number, without a standard error, and what each family says."""
    members = judgement.members
    said = _listed([str(member) for member in members])
    if judgement.group is None:
        finite = [member.evidence for member in members if math.isfinite(member.evidence.log_evidence)]
        best = sorted(finite, key=lambda e: e.log_evidence)[len(finite) // 2] if finite else members[-1].evidence
        span = _span([evidence.log_evidence for evidence in finite])
        sentence = f"every family refused its own answer ({said}){span}; reparametrise the model, or give its posterior draws."
        return with_views(best.doubted(Status.suspect("no-agreement", sentence)), members, "no family of methods has an answer")
    best = judgement.agreeing[0].evidence
    if len({member.family.label for member in judgement.accepted}) == 1:
        sentence = f"one algorithm has an answer and no other confirms it ({said}); run zhat.crosscheck(model) for longer."
        return with_views(best.doubted(Status.suspect("unconfirmed", sentence)), members, "one family alone has an answer")
    span = _span([member.evidence.log_evidence for member in judgement.accepted])
    sentence = (
        f"families of methods disagree{span} ({said}): what a family misses is missing from its number, so the highest is the better guess; "
        "give the lower ones more particles or live points, and see whether they rise."
    )
    return with_views(best.doubted(Status.suspect("no-agreement", sentence)), members, "families of methods disagree")


def with_views(answer: Evidence, members: Sequence[Member], story: str) -> Evidence:
    """An answer with what every family said, the sum of their costs, and why it is the answer."""
    views: dict[str, Diagnostic] = {
        "views": [member.family.label for member in members],
        "view_log_evidences": [float(member.evidence.log_evidence) for member in members],
        "view_ses": [float(member.evidence.log_evidence_se or math.nan) for member in members],
        "view_statuses": [str(member.evidence.status) for member in members],
    }
    seen = [seen for member in members if isinstance(seen := member.evidence.diagnostics.get(RESOLUTION), float)]
    if seen and RESOLUTION not in answer.diagnostics:  # the run that gave the number looked for no modes, another one did
        views[RESOLUTION] = min(seen)
    cost = Cost()
    for member in members:
        cost = cost + member.evidence.cost
    cites = tuple(dict.fromkeys(cite for member in members for cite in member.evidence.cites))
    return replace(answer, diagnostics={**answer.diagnostics, **views}, cost=cost, cites=cites, why_this_method=story)


def _span(values: Sequence[float]) -> str:
    if len(values) < 2:
        return ""
    return f", between {min(values):.2f} and {max(values):.2f}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
