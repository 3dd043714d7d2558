"""The default: several families of methods, the cheapest first, until two views agree.

Importance sampling at the modes runs first. It brings a second view of its own, a small tempered population from the prior: where its
weights are well behaved and the population's estimate agrees with it, that is the answer, at little more than the price of importance
sampling alone. Otherwise further families run (`run.families`), each starting elsewhere, until two algorithms agree (`run.judging`). A
family that refuses its own answer does not stop the others.
"""

from __future__ import annotations

from collections.abc import Callable

from zhat.methods._base import Method
from zhat.missed_mass.effort import SHARP
from zhat.missed_mass.finding import Answer, Finding
from zhat.model.model import Model
from zhat.results.estimate import Evidence
from zhat.results.records import Cost
from zhat.run.distribution.plans import Plan
from zhat.run.families import FIRST, Family, following
from zhat.run.judging import AGREE, AGREE_AT_LAST, Member, combined, judge, unresolved, with_views
from zhat.sampling.backend.loop import Budget

# After these nothing else starts: the user or the budget ended the run.
ENDED = {"interrupted", "budget", "unchecked"}

Run = Callable[[Method, int, Budget | None], Plan[Evidence]]


def by_default(model: Model, run: Run, budget: Budget | None) -> Plan[Evidence]:
    """The evidence on which two views agree; `run` runs one method, from a number of its own, within a budget."""
    members = [(yield from _member(FIRST, run, budget))]
    first = members[0].evidence
    if has_two_views(first):
        return with_views(first, members, _two_views(first))
    spent = first.cost
    for family in following(model, members[0].is_accepted):
        if is_ended(members[-1].evidence):
            return members[-1].evidence if len(members) == 1 else unresolved(judge(members, AGREE))
        members.append((yield from _member(family, run, remaining(budget, spent))))
        spent = spent + members[-1].evidence.cost
        judgement = judge(members, AGREE)
        if judgement.is_agreed:
            return combined(judgement)
    at_last = judge(members, AGREE_AT_LAST)
    return combined(at_last) if at_last.is_agreed else unresolved(at_last)


def _member(family: Family, run: Run, budget: Budget | None) -> Plan[Member]:
    evidence = yield from run(family.method, family.number, budget)
    return Member(family, evidence)


def has_two_views(result: Evidence) -> bool:
    """Whether an importance sampling estimate is accepted and its own population from the prior agrees with it."""
    if not result.status.is_ok or result.log_evidence_se is None:
        return False
    if result.log_evidence_se == 0.0:
        return True  # a constant likelihood: the answer is exact
    return Finding.read(result.diagnostics, Answer(result.log_evidence, result.log_evidence_se), SHARP).population_agrees


def _two_views(result: Evidence) -> str:
    k, at, se = (float(result.diagnostics.get(name, float("nan"))) for name in _VIEW)  # type: ignore[arg-type]
    return (
        f"importance sampling at the modes, whose weights are well behaved (Pareto k {k:.2f}); a tempered population from the prior "
        f"agrees ({at:.3g} ± {se:.2g} on what it visited)"
    )


_VIEW = ("pareto_k", "from_population_log_evidence", "from_population_se")


def is_ended(result: Evidence) -> bool:
    """Whether the user or the budget ended a run."""
    return any(reason.code in ENDED for reason in result.status.reasons)


def remaining(budget: Budget | None, spent: Cost) -> Budget | None:
    """What is left of a budget."""
    if budget is None:
        return None
    left = budget.likelihoods - spent.n_likelihood - spent.n_gradient
    return Budget(max(left, 1), max(budget.seconds - spent.seconds, 1e-3))
