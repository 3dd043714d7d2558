"""The promise: no result in doubt carries a standard error, whatever a method passes and however the object is made."""

from __future__ import annotations

import dataclasses
import itertools
import math

import pytest

from zhat.results.estimate import Estimate, Evidence, Kind, Level, Reason, Repeat, Status
from zhat.results.records import Cost
from zhat.run.sandwich import Sandwich

STATUSES = [
    Status.ok(),
    Status.suspect("pareto-k", "the weights have a tail; use SMC."),
    Status.failed("budget", "spent; give more."),
    Status.suspect("pareto-k", "first.").and_(Status.failed("budget", "second.")),
    Status(Level.SUSPECT, ()),
    Status(Level.SUSPECT, (Reason("of-a-user", "their own."),)),
]
ERRORS = [None, 0.0, 0.1, math.inf, math.nan]
BECAUSE = [None, "a deterministic approximation has none"]


def estimate(se, status, because):
    return Estimate(-1.0, se, status, no_se_because=because)


def evidence(se, status, because):
    return Evidence(
        log_evidence=-1.0,
        log_evidence_se=se,
        status=status,
        kind=Kind.SAMPLING,
        degrees_of_freedom=math.inf,
        no_se_because=because,
        approximation_error=None,
        diagnostics={},
        record=None,
        method="smc",
        settings={},
        cites=(),
        model="m",
        data_id=None,
        n_dimensions=1,
        cost=Cost(),
        seed=1,
        versions={},
        repeats=(),
    )


def repeat(se, status, because):
    return Repeat(-1.0, se, status)


def sandwich(se, status, because):
    return Sandwich(-1.0, -0.9, se, se, False, False, status, "m", 1, 10, 0, 0.1)


def errors_of(result):
    return (result.lower_se, result.upper_se) if isinstance(result, Sandwich) else (result.log_evidence_se,)


def same(a, b):
    return a is b or (a is not None and b is not None and (a == b or (math.isnan(a) and math.isnan(b))))


def keeps_promise(result, se):
    if result.status.is_ok:
        return all(same(shown, se) for shown in errors_of(result))
    return all(shown is None for shown in errors_of(result))


@pytest.mark.parametrize("make", [estimate, evidence, repeat, sandwich])
@pytest.mark.parametrize(("se", "status", "because"), list(itertools.product(ERRORS, STATUSES, BECAUSE)))
def test_every_combination(make, se, status, because):
    assert keeps_promise(make(se, status, because), se)


@pytest.mark.parametrize("make", [estimate, evidence, repeat, sandwich])
@pytest.mark.parametrize(("before", "after"), list(itertools.product(STATUSES, STATUSES)))
def test_replace_keeps_it_as_well(make, before, after):
    first = make(0.1, before, None)
    changed = dataclasses.replace(first, status=after)
    assert after.is_ok or all(shown is None for shown in errors_of(changed))
    names = ("lower_se", "upper_se") if make is sandwich else ("log_evidence_se",)
    assert keeps_promise(dataclasses.replace(changed, **dict.fromkeys(names, 0.2)), 0.2)


@pytest.mark.parametrize("make", [estimate, evidence])
@pytest.mark.parametrize(("se", "status", "because"), list(itertools.product(ERRORS, STATUSES, BECAUSE)))
def test_why_there_is_none_is_said_exactly_where_there_is_none(make, se, status, because):
    result = make(se, status, because)
    if result.log_evidence_se is not None:
        assert result.no_se_because is None
    elif because is not None:
        assert result.no_se_because == because
    elif not status.is_ok:
        assert result.no_se_because == (status.reasons[0].sentence if status.reasons else "the result is suspect.")


def test_a_doubt_that_comes_later_takes_the_standard_error_away():
    first = estimate(0.1, Status.ok(), None)
    later = first.doubted(STATUSES[1], {"k": 0.8})
    assert later.log_evidence_se is None and later.no_se_because == STATUSES[1].reasons[0].sentence
    assert later.diagnostics == {"k": 0.8} and later.log_evidence == first.log_evidence
    assert first.doubted(Status.ok()) == first
    assert evidence(0.1, Status.ok(), None).doubted(STATUSES[1]).log_evidence_se is None
