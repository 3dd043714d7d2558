"""`crosscheck`: families of methods that start from different ends, one after the other, until the verdict is clear.

    print(crosscheck(model))                 # who says what, one verdict, what to do next
    print(crosscheck(model, draws=fit))      # bridge sampling on posterior draws that you have comes first

The default (`run.auto`) accepts an answer as soon as two views agree, and takes a small population for one of them. A crosscheck runs
whole methods: importance sampling from the modes, SMC by tempering from the prior, nested sampling by likelihood thresholds, bridge
sampling from posterior chains, second algorithms of these, and repeats with more effort. It ends at the first clear verdict: two
runs where all is well. A repeat is made where more effort can help: of a run that its own checks accept, or refuse for its size. A
family that refuses its own answer has no vote and no veto.

*The verdict and the ladder of trust.* Each rung is a fact about the runs:

| verdict | trust | what was seen |
|---|---|---|
| confirmed | 3 | two families that start from different ends agree (4: and a simulated sandwich closes) |
| one-sided | 2 | two algorithms that start from one end agree, or one with a small population of its own, and no other contradicts them |
| unconfirmed | 1 | one algorithm has an answer that its own checks accept |
| contradicted | 0 | accepted answers disagree |
| no answer | 0 | every family refused its own answer |

*Its standard error.* The accepted runs are independent, so their weighted mean has the inverse sum of their precisions; the difference
of the runs is independent of it, so stopping at agreement does not bias it. `resolution` is the difference that would have been
noticed: a part of the posterior below that share may be missing from one side.

*What it cannot see.* What every family misses is missing from the verdict: `Evidence.resolution` says how narrow that may be.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.model.model import Model
from zhat.results.estimate import Evidence
from zhat.results.records import Cost
from zhat.run.auto import is_ended
from zhat.run.checkpoint.checkpoint import checkpointed
from zhat.run.crosschecked import Crosscheck, Verdict
from zhat.run.distribution.executors import arranged
from zhat.run.distribution.plans import Plan, carry_out
from zhat.run.estimate import Runner, given
from zhat.run.families import FROM_DRAWS, IN_OWN_COORDINATES, Family, thorough
from zhat.run.judging import AGREE, AGREE_AT_LAST, Judgement, Member, answer_of, judge
from zhat.run.model_check import check_model
from zhat.run.sandwich import sandwich
from zhat.run.whose_model import not_a_model
from zhat.sampling.backend.loop import Budget
from zhat.sampling.chains.given import Given
from zhat.seeding import check_seed

# Prior draws of the check of the model.
N_CHECK = 2000
# A run takes at most half of the budget that is left, so that others can confirm it; none starts with less than this share of the whole.
HALF, LEAST_SHARE = 0.5, 0.1
# Reasons of a refusal that a larger run of the same algorithm may not have. The others lie in its path or its proposal.
MORE_HELPS = {"few-ancestors", "unequal-descent", "island-scatter", "large-error", "low-ess", "few-survivors", "masses-differ"}


def crosscheck(
    model: Model,
    *,
    draws: Any = None,
    simulate: Callable[[dict[str, Any], np.random.Generator], Any] | None = None,
    seed: int | None = None,
    progress: bool | None = None,
    budget: Budget | None = None,
    executor: Executor | str | None = None,
    workers: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Crosscheck:
    """Run families of methods that start from different ends until the verdict on the log evidence is clear.

    Parameters
    ----------
    model : Model
    draws : optional
        Posterior draws of this model, in any of the forms that `evidence` takes: bridge sampling on them is the first run.
    simulate : callable ``(params, rng) -> data``, optional
        Draws data given parameters; a sandwich on such data is then made too, for the fourth rung of the ladder of trust.
    seed, progress, budget, executor, workers
        As in `evidence`; the budget is for all runs together, and each run may take half of what is left.
    """
    if not isinstance(model, Model):
        raise BadType(not_a_model(model, "crosscheck"))
    own = None if draws is None else given(model, draws)
    report = check_model(model, N_CHECK, 0 if seed is None else check_seed(seed))
    if not report.ok:
        raise BadInput(f"crosscheck: {model.name!r} does not pass its own check, so no number would mean anything:\n{report}")
    with (
        checkpointed(checkpoint, "crosscheck", {model.name: model}, {"draws": own}, seed) as own_seed,
        arranged(executor, workers, [model], 1) as where,
    ):
        runner = Runner(model, own_seed, 1, progress, where is not None)
        judgement = carry_out([_plan(runner, budget, own)], where, progress)[0]
    bounds = None if simulate is None else sandwich(model, simulate=simulate, seed=own_seed, progress=progress)
    return Crosscheck(answer_of(judgement), verdict_on(judgement), judgement.members, bounds)


def _plan(runner: Runner, budget: Budget | None, own: Given | None) -> Plan[Judgement]:
    """Family after family until two ends agree; agreement within one end ends it after every family has run once."""
    members: list[Member] = []
    spent = Cost()
    for family in _families(runner.model, own, members):
        share = None if budget is None else share_of(budget, spent)
        if budget is not None and share is None:
            break
        run = replace(runner, given=own) if family is FROM_DRAWS else runner.on(family.model_of(runner.model))
        evidence = yield from run(family.method, family.number, share)
        members.append(Member(family.as_run_on(runner.model), evidence))
        spent = spent + evidence.cost
        judgement = judge(members, AGREE)
        if verdict_on(judgement) is Verdict.CONFIRMED or _is_stopped(evidence, budget):
            return judgement
    return judge(members, AGREE_AT_LAST)


def _families(model: Model, own: Given | None, members: Sequence[Member]) -> Iterator[Family]:
    """Those of a crosscheck, without repeats that cannot help; `members` are the runs so far."""
    for family in chain([] if own is None else [FROM_DRAWS], thorough(model)):
        before = [member for member in members if member.family.label == family.label]
        if family is IN_OWN_COORDINATES and any(member.is_accepted for member in before):
            continue
        if not family.repeats or any(_more_helps(member) for member in before):
            yield family


def _more_helps(member: Member) -> bool:
    return member.is_accepted or {reason.code for reason in member.evidence.status.reasons} <= MORE_HELPS


def share_of(budget: Budget, spent: Cost) -> Budget | None:
    """The budget of the next run; None where too little is left for one."""
    left = budget.left_after(spent)
    if left.likelihoods < LEAST_SHARE * budget.likelihoods or left.seconds < LEAST_SHARE * budget.seconds:
        return None
    return Budget(HALF * left.likelihoods, HALF * left.seconds)


def _is_stopped(evidence: Evidence, budget: Budget | None) -> bool:
    """Whether the user ended a run. One that its share of the budget ended leaves the rest to others."""
    interrupted = any(reason.code == "interrupted" for reason in evidence.status.reasons)
    return interrupted or (budget is None and is_ended(evidence))


def verdict_on(judgement: Judgement) -> Verdict:
    """The verdict on some runs."""
    if judgement.group is None:
        return Verdict.NO_ANSWER
    if answer_of(judgement).status.is_ok:
        ends = {member.family.end for member in judgement.agreeing}
        return Verdict.CONFIRMED if len(ends) > 1 else Verdict.ONE_SIDED
    if judgement.is_agreed or len({member.family.label for member in judgement.accepted}) > 1:
        return Verdict.CONTRADICTED
    return Verdict.UNCONFIRMED
