"""`precision=`: a run as large as the standard error asked for needs, and no larger.

    evidence(model, "smc", precision=0.05)

The standard error of every sampling method falls about as the inverse root of its sizes (draws, particles, live points, chains). So a
first run of an eighth of the method's own sizes gives a standard error se; if that is above the target, a second run is made with

    size x SAFETY (se / target)^2,

and again if the target is missed. The safety factor allows for the error of the standard errors themselves: with it about one second run in
twenty misses the target and is followed by a third.

*The last run is the answer; earlier ones are not pooled.* A number, its record, its draws, its diagnostics and its verdict then belong to one run,
which `evidence(model, method_with_these_sizes, seed=...)` repeats digit by digit. Pooling would save the cost of the first run, a small part
where the target is far, but weights runs by standard errors that are correlated with their estimates (a run that misses a tail is low and
claims to be precise). What is reported is the last run's own standard error, whose calibration is that of the method; stopping when it is
below a target selects by it, which matters only where it is itself uncertain, as it is in runs that are small.

*A run in doubt.* A small run may be suspect where a larger one is not (few ancestors, a low effective sample size): it is followed by one
`GROWN` times as large, up to the method's own sizes (`up_to`: or a share of them), and if that is in doubt too, it is the answer.

*Very small targets.* A single run grows to at most LARGEST times the method's own sizes, for memory. Beyond, independent runs of that size are
combined as `repeats=` are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from zhat.errors import BadInput, BadType
from zhat.methods._base import Method
from zhat.results.estimate import Evidence, Level, Status
from zhat.results.records import Cost
from zhat.run.distribution.plans import Plan
from zhat.sampling.backend.loop import Budget

# The first run: a share of the method's own sizes (`Method.first_share`); the whole for targets that no small run reaches (SMC's default reaches 0.01 to
# 0.02 on the exact models, importance sampling's 0.003).
START_BELOW = 0.02
# Sizes beyond the predicted ones. Standard errors of small runs scatter by about a tenth: 1.4 is (1 + 1.65 x 0.11)^2.
SAFETY = 1.4
LARGEST = 16.0
# Growth after a run in doubt: all smaller runs together then cost a quarter of the last one.
GROWN = 5.0
# Runs of growing size: three after a first one in doubt, and the prediction is good enough that a fourth is hardly ever needed.
MAX_ROUNDS = 8
# A next run takes at most this share of the budget that is left, because costs are predicted too; and is made only if it is larger than
# the last by this factor.
BUDGET_SHARE, WORTH_IT = 0.8, 1.2

# Runs a method within a budget; with a number, so many independent runs, combined.
Run = Callable[..., Plan[Evidence]]


def check_precision(precision: Any, method: Method | None) -> None:
    """Refuse a target that is no standard error, or a method that has none."""
    if isinstance(precision, bool) or not isinstance(precision, int | float):
        raise BadType(f"precision={precision!r}: give the standard error of log Z that is wanted, such as precision=0.05.")
    if not (precision > 0.0 and math.isfinite(precision)):
        raise BadInput(f"precision={precision}: give a standard error above zero, such as precision=0.05.")
    if method is not None and not method.sizes:
        raise BadInput(
            f"precision={precision}: {type(method).__name__} is an approximation without a standard error that more work would reduce. "
            "Give a sampling method, such as zhat.SMC(), or leave precision= out."
        )


@dataclass(frozen=True)
class _Effort:
    """How much one round does: sizes times `factor`, in `n_runs` runs."""

    factor: float
    n_runs: int = 1

    @property
    def total(self) -> float:
        return self.factor * self.n_runs

    @staticmethod
    def of(total: float) -> _Effort:
        n_runs = max(1, math.ceil(total / LARGEST))
        return _Effort(total / n_runs, n_runs)


def first_factor(method: Method, target: float) -> float:
    """The share of the method's own sizes that the first run has."""
    return method.first_share if target >= START_BELOW else 1.0


def to_precision(
    run: Run, method: Method, target: float, budget: Budget | None, up_to: float = 1.0, at_least: float = 0.0
) -> Plan[Evidence]:
    """The evidence by this method with a standard error of at most `target`, or the nearest to it that the budget allows.

    `run(method, budget)` is the plan of one run, and `run(method, budget, n)` that of n independent ones, combined. The first has the share `at_least` of
    the method's own sizes or more; runs in doubt grow to the share `up_to` of them.
    """
    effort = _Effort(max(first_factor(method, target), at_least))
    spent, best = Cost(), None
    for n_rounds in range(1, MAX_ROUNDS + 1):
        left = None if budget is None else budget.left_after(spent)
        sized = method.sized(effort.factor)
        found = yield from (run(sized, left) if effort.n_runs == 1 else run(sized, left, effort.n_runs))
        spent = spent + found.cost
        se = found.log_evidence_se
        if found.status.level is Level.FAILED and best is not None:  # stopped: what there was before still holds
            return _short_of(best, target, spent, n_rounds)
        if se is None:
            if effort.total >= up_to or found.status.level is Level.FAILED:
                return _done(found, target, spent, n_rounds)
            effort = _Effort(min(GROWN * effort.total, up_to))
            continue
        if se <= target:
            return _done(found, target, spent, n_rounds)
        best = found
        wanted = effort.total * SAFETY * (se / target) ** 2
        if budget is not None:
            affordable = effort.total * BUDGET_SHARE * _times_left(budget.left_after(spent), found.cost)
            if affordable < WORTH_IT * effort.total:
                break
            wanted = min(wanted, affordable)
        effort = _Effort.of(wanted)
    assert best is not None
    return _short_of(best, target, spent, n_rounds)


def _times_left(left: Budget, last: Cost) -> float:
    """How often the last run could be repeated within what is left."""
    likelihoods = left.likelihoods / max(last.n_likelihood + last.n_gradient, 1)
    return min(likelihoods, left.seconds / max(last.seconds - last.compile_seconds, 1e-3))


def _done(found: Evidence, target: float, spent: Cost, n_rounds: int) -> Evidence:
    """The last run, with the cost of all."""
    diagnostics = {**found.diagnostics, "target_se": float(target), "rounds_to_target": n_rounds}
    return replace(found, cost=spent, diagnostics=diagnostics)


def _short_of(found: Evidence, target: float, spent: Cost, n_rounds: int) -> Evidence:
    """The most precise run that there is, with a note."""
    sentence = (
        f"the standard error {found.log_evidence_se:.2g} is above the precision={target:g} that was asked for: the budget or the number of "
        "rounds is spent; give a larger budget, workers, or a larger precision."
    )
    found = found.doubted(Status.note("target-not-reached", sentence))
    return _done(found, target, spent, n_rounds)
