"""From the runs of several families to one answer."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import zhat
from zhat import zoo
from zhat.missed_mass.finding import Answer, Finding, SecondEstimate
from zhat.missed_mass.visited import Visited
from zhat.results.estimate import Level, Status
from zhat.run import judging
from zhat.run.families import FIRST, End, Family
from zhat.run.judging import Member, answer_of, combined, judge, unresolved

SMC = Family("smc", End.TEMPERING, zhat.SMC())
NESTED = Family("nested", End.THRESHOLDS, zhat.NestedSampling())
REFUSED = Status.suspect("pareto-k", "a heavy tail.")


@pytest.fixture(scope="module")
def found():
    return zhat.evidence(zoo.example("E1").model, "prior-mean", seed=1, progress=False)


def member(found, family, value, se, status=None):
    return Member(
        family, replace(found, log_evidence=value, log_evidence_se=se, status=status or Status.ok(), method=family.method.name)
    )


def test_two_algorithms_that_agree_are_an_answer(found):
    judgement = judge(
        [member(found, FIRST, -5.0, None, REFUSED), member(found, SMC, -3.0, 0.02), member(found, NESTED, -3.1, 0.1)], 2.0
    )
    assert judgement.is_agreed
    answer = combined(judgement)
    assert answer.method == "smc" and answer.status.is_ok
    assert -3.02 < answer.log_evidence < -3.0 and answer.log_evidence_se == pytest.approx(0.02, rel=0.1)
    assert "agree" in answer.why_this_method and "importance refused (pareto-k)" in answer.why_this_method
    assert answer.diagnostics["views"] == ["importance", "smc", "nested"]
    assert math.isnan(answer.diagnostics["view_ses"][0])
    assert answer.cost.n_likelihood == 3 * found.cost.n_likelihood


def test_two_runs_of_one_algorithm_are_one_view(found):
    again = replace(NESTED, number=2)
    assert not judge([member(found, NESTED, -3.0, 0.1), member(found, again, -3.0, 0.1)], 2.0).is_agreed


def test_families_that_disagree_have_no_standard_error_and_the_highest_number(found):
    judgement = judge([member(found, SMC, -4.0, 0.02), member(found, NESTED, -3.0, 0.1)], 3.0)
    assert not judgement.is_agreed
    answer = unresolved(judgement)
    assert answer.log_evidence == -3.0 and answer.log_evidence_se is None
    assert [reason.code for reason in answer.status.reasons] == ["no-agreement"]
    assert "between -4.00 and -3.00" in answer.status.reasons[0].sentence


def test_one_family_alone_is_unconfirmed(found):
    answer = unresolved(judge([member(found, SMC, -9.0, None, REFUSED), member(found, NESTED, -3.0, 0.1)], 3.0))
    assert [reason.code for reason in answer.status.reasons] == ["unconfirmed"] and answer.log_evidence == -3.0


def test_two_runs_of_one_algorithm_alone_are_unconfirmed(found):
    again = replace(NESTED, number=2)
    runs = [member(found, SMC, -9.0, None, REFUSED), member(found, NESTED, -3.0, 0.1), member(found, again, -3.1, 0.1)]
    assert [reason.code for reason in unresolved(judge(runs, 3.0)).status.reasons] == ["unconfirmed"]


def test_where_every_family_refuses_the_range_is_named(found):
    answer = unresolved(judge([member(found, SMC, -9.0, None, REFUSED), member(found, NESTED, -3.0, None, REFUSED)], 3.0))
    assert answer.status.level is Level.SUSPECT and "no-agreement" in [reason.code for reason in answer.status.reasons]
    assert "between -9.00 and -3.00" in answer.status.reasons[-1].sentence


def test_an_unbiased_estimate_far_above_contradicts_an_answer(found):
    """By Markov's inequality an unbiased estimate of Z lies 7 nats above log Z with probability below 0.001."""
    agreeing = [member(found, SMC, -3.0, 0.02), member(found, NESTED, -3.1, 0.1)]
    assert judge([member(found, FIRST, 3.0, None, REFUSED), *agreeing], 2.0).is_agreed
    assert not judge([member(found, FIRST, 5.0, None, REFUSED), *agreeing], 2.0).is_agreed


def test_what_a_check_found_at_the_modes_stands_against_the_combined_answer(found):
    finding = Finding(Answer(0.0, 0.1), at_modes=SecondEstimate(-2.0, 0.02, 0.1))
    first = replace(found, diagnostics={**found.diagnostics, **finding.diagnostics}, status=REFUSED, log_evidence=-5.0)
    members = [Member(FIRST, first), member(found, SMC, -3.0, 0.02), member(found, NESTED, -3.05, 0.1)]
    answer = combined(judge(members, 2.0))
    assert [reason.code for reason in answer.status.reasons] == ["missed-peak"] and answer.log_evidence_se is None


def test_agreement_from_one_end_is_no_more_precise_than_what_the_second_algorithm_confirms(found):
    slices = replace(NESTED, label="nested by slices")
    one_end = combined(judge([member(found, NESTED, -3.0, 0.1), member(found, slices, -3.05, 0.2)], 2.0))
    assert one_end.log_evidence_se == pytest.approx(0.2)
    two_ends = combined(judge([member(found, NESTED, -3.0, 0.1), member(found, SMC, -3.05, 0.2)], 2.0))
    assert two_ends.log_evidence_se < 0.1


def test_agreement_from_one_end_goes_on_until_it_is_as_precise_as_asked(found):
    slices = replace(NESTED, label="nested by slices")
    one_end = judge([member(found, NESTED, -3.0, 0.05), member(found, slices, -3.05, 0.3)], 2.0)
    two_ends = judge([member(found, FIRST, -3.0, 0.05), member(found, slices, -3.05, 0.3)], 2.0)
    assert one_end.confirms(None) and one_end.confirms(0.3) and not one_end.confirms(0.1)
    assert two_ends.confirms(0.1)


def test_a_refused_unbiased_estimate_far_above_contradicts_an_answer_in_other_coordinates(found):
    own = replace(FIRST, number=1)
    for refused, contradicted in ((5.0, True), (-2.9, False), (math.nan, False)):
        members = [member(found, FIRST, refused, None, REFUSED), member(found, own, -3.0, 0.01)]
        assert judge(members, 2.0).is_contradicted is contradicted


def test_a_lower_run_may_agree_on_the_part_that_it_visited(found, monkeypatch):
    monkeypatch.setattr(judging, "_visited", lambda best, lower: Visited(0.7, 0.003))
    judgement = judge([member(found, FIRST, -3.0, 0.003), member(found, NESTED, -3.36, 0.01)], 2.0)
    assert not judgement.is_agreed
    answer = answer_of(judgement)
    assert answer.status.is_ok and "visited 70% of the posterior" in answer.why_this_method
