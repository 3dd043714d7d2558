"""The default: importance sampling with its own second view, then further families until two agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.missed_mass.finding import Answer, Finding, SecondEstimate
from zhat.results.estimate import Status
from zhat.run.auto import by_default
from zhat.run.judging import has_two_views

MODEL = zoo.example("E1").model
DOUBT = Status.suspect("pareto-k", "a tail; use SMC.")


@pytest.fixture(scope="module")
def found():
    return zhat.evidence(MODEL, "prior-mean", seed=1, progress=False)


def seen(found, at, se=0.05, visited=1.0):
    """The result of importance sampling with a population whose log evidence is `at`."""
    second = SecondEstimate(found.log_evidence + at, se, 0.1)
    finding = Finding(Answer(0.0, 0.1), from_population=second, visited_by_population=visited)
    return replace(found, method="importance", diagnostics={**found.diagnostics, **finding.diagnostics})


def answers(*results):
    """A `run` that gives these one after the other, and the methods, numbers and budgets that it was called with."""
    called, left = [], list(results)

    def run(method, number, budget):
        called.append((method.name, number, budget))
        return left.pop(0)
        yield

    return run, called


def outcome(run, budget=None):
    plan = by_default(MODEL, run, budget)
    with pytest.raises(StopIteration) as stop:
        next(plan)
    return stop.value.value


def test_importance_sampling_and_its_population_are_two_views(found):
    run, called = answers(seen(found, 0.03))
    result = outcome(run)
    assert result.status.is_ok and "a tempered population from the prior agrees" in result.why_this_method
    assert called == [("importance", 0, None)]


def test_a_population_that_lost_a_mode_agrees_on_what_it_visited(found):
    assert not has_two_views(seen(found, -0.7))
    assert has_two_views(seen(found, -0.7, visited=0.5))
    assert not has_two_views(found), "no population, no second view"


def test_where_the_population_differs_thresholds_decide(found):
    nested = replace(found, method="nested", log_evidence_se=0.1, log_evidence=found.log_evidence - 0.05)
    run, called = answers(seen(found, -0.7), nested)
    result = outcome(run)
    assert result.status.is_ok and [name for name, _, _ in called] == ["importance", "nested"]


def test_where_it_refuses_nested_sampling_and_smc_run_with_what_is_left_of_the_budget(found):
    doubt = replace(found, status=DOUBT)
    smc, nested = replace(found, method="smc"), replace(found, method="nested")
    run, called = answers(doubt, nested, smc)
    budget = zhat.Budget(likelihoods=1e6)
    result = outcome(run, budget)
    assert [name for name, _, _ in called] == ["importance", "nested", "smc"]
    assert called[1][2].likelihoods == 1e6 - doubt.cost.n_likelihood - doubt.cost.n_gradient
    assert result.status.is_ok and "importance refused (pareto-k)" in result.why_this_method
    assert result.cost.n_likelihood == 3 * found.cost.n_likelihood


def test_families_run_until_two_agree_and_every_run_has_a_number_of_its_own(found):
    doubt = replace(found, status=DOUBT)
    low = replace(found, log_evidence=found.log_evidence - 1.0)
    run, called = answers(doubt, low, found, replace(found, method="nested"))
    assert outcome(run).status.is_ok
    assert [call[:2] for call in called] == [("importance", 0), ("nested", 0), ("smc", 0), ("nested", 1)]


def test_where_none_agree_it_says_so(found):
    doubt = replace(found, status=DOUBT)
    run, called = answers(doubt, doubt, found, doubt, doubt, doubt, doubt)
    result = outcome(run)
    assert [reason.code for reason in result.status.reasons] == ["unconfirmed"] and len(called) == 7


def test_bridge_sampling_and_a_sharp_population_are_two_views(found):
    sharp, blunt = (replace(seen(found, 0.03, se), method="bridge") for se in (0.05, 0.5))
    assert has_two_views(sharp) and not has_two_views(blunt)
    doubt = replace(found, status=DOUBT)
    bridge = replace(sharp, diagnostics={**sharp.diagnostics, "r_hat": 1.004})
    run, _ = answers(doubt, doubt, doubt, doubt, bridge)
    result = outcome(run)
    assert result.status.is_ok and "bridge sampling on chains that agree" in result.why_this_method
    run, _ = answers(doubt, found, doubt, doubt, replace(bridge, log_evidence=found.log_evidence - 1.0), doubt, doubt)
    assert not outcome(run).status.is_ok, "an accepted answer that differs is not passed over"


@pytest.mark.parametrize("code", ["interrupted", "budget", "unchecked"])
def test_after_an_end_by_the_user_or_the_budget_nothing_else_starts(found, code):
    status = Status.suspect(code, "x.") if code == "unchecked" else Status.failed(code, "x.")
    run, called = answers(replace(found, status=status))
    assert outcome(run).status.reasons[0].code == code and len(called) == 1


def test_the_default_answers_where_one_family_fails():
    """SMC misses the spike and refuses, or is low; importance sampling and nested sampling have it."""
    example = zoo.example("soft-spike-5")
    result = zhat.evidence(example.model, seed=3, progress=False)
    assert result.status.is_ok, result.explain()
    assert abs(result.log_evidence - example.log_evidence) < 4.0 * result.log_evidence_se


def valley(params):
    """Rosenbrock's valley, whose weights against a t at the mode are heavy."""
    x, y = params["x"][..., 0], params["x"][..., 1]
    return -(100.0 * (y - x**2) ** 2 + (1.0 - x) ** 2)


def test_a_black_box_that_no_proposal_at_its_mode_fits_takes_thousands_of_likelihoods_not_a_hundred_thousand():
    prior = {"x": dist.Uniform(-5.0, 5.0).expand([2]).to_event(1)}
    model = zhat.Model.black_box(valley, prior, batched=True)
    # The valley's area: the integral of exp(-(1 - x)^2) over all x that keep x^2 below 5, times the width in y.
    x = np.linspace(-np.sqrt(5.0), np.sqrt(5.0), 20_001)
    exact = np.log(np.trapezoid(np.exp(-((1.0 - x) ** 2)), x) * np.sqrt(np.pi / 100.0) / 100.0)
    found = [zhat.evidence(model, seed=seed, precision=0.1, progress=False) for seed in range(3)]
    assert all(run.status.is_ok and run.log_evidence_se <= 0.1 for run in found)
    assert all(abs(run.log_evidence - exact) < 4.0 * run.log_evidence_se + 0.005 for run in found)
    assert max(run.cost.n_likelihood for run in found) < 40_000
    assert any("importance at nested draws" in run.why_this_method for run in found)
    assert all(run.resolution is not None for run in found)
