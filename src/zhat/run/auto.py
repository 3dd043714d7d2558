"""The default: several families of methods, the cheapest first, until two views agree.

A model that carries its evidence in closed form needs no sampling: `Exact` is the answer. Otherwise importance sampling at the modes
runs first. It brings a second view of its own, a small tempered population from the prior: where its weights are well behaved and the
population's estimate agrees with it, that is the answer, at little more than the price of importance sampling alone. Otherwise further
families run (`run.families`), each starting elsewhere, until two algorithms agree (`run.judging`), or one agrees with a population of its
own: bridge sampling has one too, from which its chains start. A family that refuses its own answer does not stop the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from zhat.methods._base import Method
from zhat.methods.exact import Exact
from zhat.model.model import Model, Offer
from zhat.results.estimate import Evidence
from zhat.run.distribution.plans import Plan
from zhat.run.families import Family, first, following
from zhat.run.judging import AGREE, AGREE_AT_LAST, Member, answer_of, judge
from zhat.run.precision import first_factor, to_precision
from zhat.run.price import announce, default_precision, measured_seconds, precision_for_data, price_of_plan
from zhat.sampling.backend.journal import remembered
from zhat.sampling.backend.loop import Budget, Loop
from zhat.sampling.importance.from_draws import around_weighted
from zhat.seeding import Key

# After these nothing else starts: the user or the budget ended the run.
ENDED = {"interrupted", "budget", "unchecked"}


class Runner(Protocol):
    """Runs a method on a model, from a number of its own within a budget, and so many times (`run.estimate.Runner`)."""

    def on(self, model: Model) -> Runner:
        """The same for the model in other coordinates."""
        ...

    def __call__(self, method: Method, number: int = 0, budget: Budget | None = None, n: int = 1) -> Plan[Evidence]:
        """The plan of a run."""
        ...


# Two answers that differ by less than this share of the standard error asked for agree: the rest would not matter.
HARMLESS = 0.5


def by_default(
    model: Model, run: Runner, budget: Budget | None, precision: float | None = None, progress: bool | None = None
) -> Plan[Evidence]:
    """The evidence on which two views agree, with a standard error of at most `precision`.

    `run(method, number, budget)` is the plan of one run, from a number of its own, and `run(method, number, budget, n)` that of n.
    """
    if Offer.CLOSED_FORM in model.offers:
        exact: Evidence = yield from run(Exact(), 0, budget)
        if exact.status.is_ok:
            return replace(exact, why_this_method=f"the evidence has a closed form: {exact.diagnostics['closed_form']}")
    if model.is_black_box:
        precision = _announced(model, precision, progress)
    elif precision is None:
        precision = precision_for_data(model)
    members = [(yield from _member(model, first(model), run, budget, precision))]
    alone = members[0].evidence
    answer = answer_of(judge(members, AGREE))
    if answer.status.is_ok:
        return answer
    spent, close = alone.cost, 0.0 if precision is None else HARMLESS * precision
    for family in following(model, members[0].is_accepted):
        if is_ended(members[-1].evidence):
            return members[-1].evidence if len(members) == 1 else answer_of(judge(members, AGREE))
        shaped = _shaped(family, members)
        if shaped is None or (family.grows_from and precision is None):
            continue
        left = None if budget is None else budget.left_after(spent)
        members.append((yield from _member(model, shaped, run, left, precision)))
        spent = spent + members[-1].evidence.cost
        judgement = judge(members, AGREE, close)
        answer = answer_of(judgement)
        if answer.status.is_ok and judgement.confirms(precision):
            return answer
    return answer if answer.status.is_ok else answer_of(judge(members, AGREE_AT_LAST, close))


def _announced(model: Model, precision: float | None, progress: bool | None) -> float | None:
    """The target of a black box, from what a likelihood takes where none is asked, after the plan is said: two views, and their cost.

    What a compiled likelihood takes is known when its first run begins, which says what that run costs.
    """
    seconds = remembered("seconds of a likelihood", measured_seconds(model))
    target = default_precision(seconds) if precision is None else precision
    views = [first(model), next(following(model, True))]
    methods = [view.method if target is None else _sized(view, target) for view in views]
    announce(price_of_plan(model, methods, seconds), Loop(progress=progress, label=model.name))
    return target


def _sized(family: Family, precision: float) -> Method:
    """The method at the size of its first run."""
    return (
        family.method.sized(first_factor(family.method, max(precision, family.suffices)))
        if family.method.sizes
        else family.method
    )


def _member(model: Model, family: Family, run: Runner, budget: Budget | None, precision: float | None) -> Plan[Member]:
    standard, family = family.model_of(model), family.as_run_on(model)
    if standard is not model:
        run = run.on(standard)
    if precision is None or not family.method.sizes:
        return Member(family, (yield from run(family.method, family.number, budget)))
    target = max(precision, family.suffices)

    def sized(method: Method, left: Budget | None, n: int = 1) -> Plan[Evidence]:
        return run(method, family.number, left, n)

    return Member(family, (yield from to_precision(sized, family.method, target, budget, family.grows_to, family.grows_from)))


def _shaped(family: Family, members: list[Member]) -> Family | None:
    """The family with a proposal fitted to an earlier run's draws, where it wants one; None where no run has left any."""
    if not family.shaped_by:
        return family
    runs = [member.evidence for member in members if member.family.label == family.shaped_by and member.is_accepted]
    draws = getattr(runs[-1].record, "final", None) if runs else None
    proposal = None if draws is None else around_weighted(draws, Key(0).child("proposal from nested draws"))
    if proposal is None:
        return None
    return replace(family, method=replace(family.method, proposal=proposal))  # type: ignore[call-arg]


def is_ended(result: Evidence) -> bool:
    """Whether the user or the budget ended a run."""
    return any(reason.code in ENDED for reason in result.status.reasons)
