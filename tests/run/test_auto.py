"""The default: importance sampling, then SMC, whose answer is compared with what the first found at the modes."""

from __future__ import annotations

from dataclasses import replace

import pytest

import zhat
from zhat import zoo
from zhat.missed_mass.finding import Answer, Finding, SecondEstimate
from zhat.results.estimate import Status
from zhat.run.auto import by_default, compared


@pytest.fixture(scope="module")
def found():
    return zhat.evidence(zoo.example("E1").model, "prior-mean", seed=1, progress=False)


def answers(*results):
    """A `run` that gives these one after the other, and the methods and budgets that it was called with."""
    called, left = [], list(results)

    def run(method, budget):
        called.append((method.name, budget))
        return left.pop(0)
        yield

    return run, called


def outcome(run, budget=None):
    plan = by_default(run, budget)
    with pytest.raises(StopIteration) as stop:
        next(plan)
    return stop.value.value


def test_an_ok_answer_of_importance_sampling_is_the_answer(found):
    run, called = answers(found)
    assert outcome(run).why_this_method.startswith("importance sampling at the mode")
    assert called == [("importance", None)]


def test_where_it_is_in_doubt_smc_runs_with_what_is_left_of_the_budget(found):
    doubt = replace(found, status=Status.suspect("pareto-k", "a tail; use SMC."))
    run, called = answers(doubt, found)
    budget = zhat.Budget(likelihoods=1e6)
    result = outcome(run, budget)
    assert [name for name, _ in called] == ["importance", "smc"]
    assert called[1][1].likelihoods == 1e6 - doubt.cost.n_likelihood - doubt.cost.n_gradient
    assert (
        result.status.is_ok and result.why_this_method == "SMC, because importance sampling refused (pareto-k): a tail; use SMC."
    )
    assert result.cost.n_likelihood == 2 * found.cost.n_likelihood


@pytest.mark.parametrize("code", ["interrupted", "budget", "unchecked"])
def test_after_an_end_by_the_user_or_the_budget_nothing_else_starts(found, code):
    status = Status.suspect(code, "x.") if code == "unchecked" else Status.failed(code, "x.")
    run, called = answers(replace(found, status=status))
    assert outcome(run).status.reasons[0].code == code and len(called) == 1


def test_what_was_found_at_the_modes_stands_against_the_second_answer(found):
    finding = Finding(Answer(0.0, 0.1), at_modes=SecondEstimate(found.log_evidence + 1.0, 0.02, 0.1))
    first = replace(found, diagnostics={**found.diagnostics, **finding.diagnostics})
    assert [reason.code for reason in compared(first, found).status.reasons] == ["missed-peak"]
    assert compared(first, found).log_evidence_se is None
    without = Finding.read(found.diagnostics, Answer(found.log_evidence, 0.1))
    assert not without.is_missed and compared(found, found).status.is_ok
