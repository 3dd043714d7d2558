"""Families from different ends, and one verdict."""

from dataclasses import replace

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadType
from zhat.results.estimate import Status
from zhat.results.records import Cost
from zhat.run.crosscheck import share_of, verdict_on
from zhat.run.crosschecked import Verdict
from zhat.run.families import BRIDGE, FIRST, End, Family
from zhat.run.judging import AGREE, Member, judge


@pytest.fixture(scope="module")
def easy():
    return zhat.crosscheck(zoo.example("E2").model, seed=1, progress=False)


def test_two_runs_where_all_is_well(easy):
    assert easy.verdict is Verdict.CONFIRMED and easy.trust == 3
    assert [member.family.label for member in easy.members] == ["importance", "smc"]
    assert abs(easy.log_evidence - zoo.example("E2").log_evidence) < 4.0 * easy.log_evidence_se
    assert easy.status.is_ok and 0.0 < easy.resolution < 0.1


def test_it_enters_a_comparison(easy):
    other = zhat.evidence(zoo.example("E1").model, seed=1, progress=False)
    assert easy.evidence.log_evidence_se is not None and other.log_evidence_se is not None


@pytest.mark.slow
def test_one_end_is_enough_for_one_sided():
    example = zoo.example("S6")
    result = zhat.crosscheck(example.model, seed=1, progress=False)
    assert result.verdict in (Verdict.ONE_SIDED, Verdict.CONFIRMED) and result.status.is_ok
    assert abs(result.log_evidence - example.log_evidence) < 4.0 * result.log_evidence_se
    assert {member.family.label for member in result.members} >= {"nested", "nested by slices"}


def test_bad_input_is_refused_before_any_run():
    with pytest.raises(BadType, match="Model"):
        zhat.crosscheck({"x": dist.Normal(0.0, 1.0)})


def test_own_draws_come_first_and_confirm():
    example = zoo.example("E2")
    chains = zhat.evidence(example.model, zhat.Bridge(), seed=3, progress=False)
    found = zhat.crosscheck(example.model, draws=chains, seed=2, progress=False)
    assert [member.family.label for member in found.members] == ["bridge on your draws", "importance"]
    assert found.verdict is Verdict.CONFIRMED and found.members[0].family.end is End.CHAINS
    assert abs(found.log_evidence - example.log_evidence) < 4.0 * found.log_evidence_se


def test_draws_of_another_model_are_refused_and_the_others_go_on():
    example = zoo.example("E1")
    found = zhat.crosscheck(
        example.model,
        draws={"theta": np.full((4, 500), 40.0) + np.random.default_rng(1).normal(size=(4, 500))},
        seed=2,
        progress=False,
    )
    assert not found.members[0].is_accepted and found.verdict is Verdict.CONFIRMED
    assert abs(found.log_evidence - example.log_evidence) < 4.0 * found.log_evidence_se


def test_a_budget_leaves_something_for_a_second_view():
    budget = zhat.Budget(likelihoods=1000)
    assert share_of(budget, Cost()).likelihoods == 500
    assert share_of(budget, Cost(n_likelihood=500)).likelihoods == 250
    assert share_of(budget, Cost(n_likelihood=950)) is None
    found = zhat.crosscheck(zoo.example("E1").model, seed=1, progress=False, budget=zhat.Budget(likelihoods=1000))
    assert found.verdict is Verdict.NO_ANSWER and not found.status.is_ok and found.log_evidence_se is None


SMC = Family("smc", End.TEMPERING, zhat.SMC())
HMC = Family("smc by HMC", End.TEMPERING, zhat.SMC(), 1)


def test_verdicts_follow_from_who_agrees(easy):
    def member(family, value, se, refused=False):
        status = Status.suspect("pareto-k", "a heavy tail.") if refused else Status.ok()
        kept = replace(easy.members[0].evidence, diagnostics={})
        return Member(family, replace(kept, log_evidence=value, log_evidence_se=None if refused else se, status=status))

    def verdict(*members):
        return verdict_on(judge(members, AGREE))

    assert verdict(member(FIRST, -3.0, 0.1), member(SMC, -3.1, 0.1)) is Verdict.CONFIRMED
    assert verdict(member(FIRST, -9.0, 0.1, refused=True), member(SMC, -3.1, 0.1), member(BRIDGE, -3.0, 0.1)) is Verdict.CONFIRMED
    assert verdict(member(HMC, -3.0, 0.1), member(SMC, -3.1, 0.1)) is Verdict.ONE_SIDED
    assert verdict(member(FIRST, -3.0, 0.1), member(SMC, -9.0, 0.1)) is Verdict.CONTRADICTED
    assert verdict(member(FIRST, -3.0, 0.1), member(SMC, -3.0, 0.1, refused=True)) is Verdict.UNCONFIRMED
    assert verdict(member(FIRST, -3.0, 0.1, refused=True), member(SMC, -3.0, 0.1, refused=True)) is Verdict.NO_ANSWER
