"""The default: several families of methods, the cheapest first, until two views agree.

A model that carries its evidence in closed form needs no sampling: `Exact` is the answer. Otherwise importance sampling at the modes
runs first. It brings a second view of its own, a small tempered population from the prior: where its weights are well behaved and the
population's estimate agrees with it, that is the answer, at little more than the price of importance sampling alone. Otherwise further
families run (`run.families`), each starting elsewhere, until two algorithms agree (`run.judging`), or one agrees with a population of its
own: bridge sampling has one too, from which its chains start. A family that refuses its own answer does not stop the others.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

from zhat.methods._base import Method
from zhat.methods.exact import Exact
from zhat.missed_mass.effort import SHARP
from zhat.missed_mass.finding import Answer, Finding, Progress
from zhat.model.model import Model, Offer
from zhat.results.estimate import Evidence
from zhat.run.distribution.plans import Plan
from zhat.run.families import BRIDGE, INTEGRATED, End, Family, first, following
from zhat.run.judging import AGREE, AGREE_AT_LAST, Member, answer_of, judge, with_views
from zhat.run.precision import first_factor, to_precision
from zhat.run.price import announce, default_precision, measured_seconds, precision_for_data, price_of_plan
from zhat.sampling.backend.journal import remembered
from zhat.sampling.backend.loop import Budget, Loop

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
# A second view by thresholds confirms an answer to a few tenths of a nat; a smaller standard error of it would cost far more.
CONFIRMS = 0.1

# Chains start from their own population, so that it is a view of its own only where it would notice that half of the posterior is
# missing: a standard error of 0.21 at most.
SHARP_ENOUGH = (math.log(2.0) - SHARP.slack) / SHARP.joint_errors


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
    if has_two_views(alone):
        return with_views(alone, members, _two_views(alone))
    spent, close = alone.cost, 0.0 if precision is None else HARMLESS * precision
    for family in following(model, members[0].is_accepted):
        if is_ended(members[-1].evidence):
            return members[-1].evidence if len(members) == 1 else answer_of(judge(members, AGREE))
        left = None if budget is None else budget.left_after(spent)
        members.append((yield from _member(model, family, run, left, precision)))
        latest = members[-1].evidence
        spent = spent + latest.cost
        judgement = judge(members, AGREE, close)
        answer = answer_of(judgement)
        if answer.status.is_ok:
            return answer
        if judgement.accepted == (members[-1],) and has_two_views(latest) and not judgement.is_contradicted:
            return with_views(latest, members, _two_views(latest))
    return answer_of(judge(members, AGREE_AT_LAST, close))


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
    return family.method.sized(first_factor(family.method, _target(family, precision))) if family.method.sizes else family.method


def _target(family: Family, precision: float) -> float:
    return max(precision, CONFIRMS) if family.end is End.THRESHOLDS else precision


def _member(model: Model, family: Family, run: Runner, budget: Budget | None, precision: float | None) -> Plan[Member]:
    standard = family.model_of(model)
    if standard is not model:
        run = run.on(standard)
    if precision is None or not family.method.sizes:
        return Member(family, (yield from run(family.method, family.number, budget)))
    target = _target(family, precision)

    def sized(method: Method, left: Budget | None, n: int = 1) -> Plan[Evidence]:
        return run(method, family.number, left, n)

    return Member(family, (yield from to_precision(sized, family.method, target, budget)))


def has_two_views(result: Evidence) -> bool:
    """Whether an estimate from modes or chains is accepted and its own population from the prior agrees with it, or is not needed."""
    if not result.status.is_ok or result.log_evidence_se is None:
        return False
    if result.log_evidence_se == 0.0:
        return True  # a constant likelihood: the answer is exact
    found = Finding.read(result.diagnostics, Answer(result.log_evidence, result.log_evidence_se), SHARP)
    if result.method == BRIDGE.label and not (found.from_population and found.from_population.se <= SHARP_ENOUGH):
        return False
    return found.coverage_check is Progress.NOT_NEEDED or found.population_agrees


def _two_views(result: Evidence) -> str:
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


def is_ended(result: Evidence) -> bool:
    """Whether the user or the budget ended a run."""
    return any(reason.code in ENDED for reason in result.status.reasons)
