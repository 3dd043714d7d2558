"""The default: which methods run when none is named, and how their answers are combined.

Importance sampling at the modes runs first: where its own checks accept the answer, it is the most accurate for its cost. Where
they do not, SMC runs, which needs no modes; and importance sampling at the modes, from the first method's check for missed mass,
is compared with the answer of the second as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from zhat.methods._base import Method
from zhat.methods.importance import Importance
from zhat.methods.smc import SMC
from zhat.missed_mass.finding import Answer, Finding
from zhat.results.estimate import Evidence
from zhat.results.records import Cost
from zhat.run.distribution.plans import Plan
from zhat.sampling.backend.loop import Budget
from zhat.verdicts.missed_mass import missed_mass_status

# After these nothing else starts: the user or the budget ended the run.
ENDED = {"interrupted", "budget", "unchecked"}

Run = Callable[[Method, Budget | None], Plan[Evidence]]


def by_default(run: Run, budget: Budget | None) -> Plan[Evidence]:
    """The evidence by importance sampling, or by SMC where that is suspect or failed; `run` runs one method within a budget."""
    first = yield from run(Importance(), budget)
    if first.status.is_ok:
        k = first.diagnostics.get("pareto_k", float("nan"))
        why = f"importance sampling at the mode, whose weights are well behaved (Pareto k {k:.2f})"
        return replace(first, why_this_method=why)
    if any(reason.code in ENDED for reason in first.status.reasons):
        return first
    second = yield from run(SMC(), _remaining(budget, first.cost))
    reason = first.status.reasons[0]
    return replace(
        compared(first, second),
        why_this_method=f"SMC, because importance sampling refused ({reason.code}): {reason.sentence}",
        cost=first.cost + second.cost,
    )


def compared(first: Evidence, second: Evidence) -> Evidence:
    """The second evidence, compared with the estimate at the modes from the first one's check, which is independent of it."""
    if second.log_evidence_se is None:
        return second
    answer = Answer(second.log_evidence, second.log_evidence_se)
    return second.doubted(missed_mass_status(Finding.read(first.diagnostics, answer).second_estimates))


def _remaining(budget: Budget | None, spent: Cost) -> Budget | None:
    if budget is None:
        return None
    left = budget.likelihoods - spent.n_likelihood - spent.n_gradient
    return Budget(max(left, 1), max(budget.seconds - spent.seconds, 1e-3))
