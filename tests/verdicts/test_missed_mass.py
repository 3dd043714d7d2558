"""From a finding to a verdict: which code, and what the sentence says."""

from dataclasses import replace

import numpy as np
import pytest

from zhat.missed_mass.finding import Answer, Coverage, Finding, SecondEstimate
from zhat.results.estimate import Estimate, Level
from zhat.verdicts.missed_mass import after_look, missed_mass_status, other_peaks_status

NOTHING = Finding(Answer(-2.0, 0.01))


@pytest.mark.parametrize(
    ("finding", "codes", "words"),
    [
        (NOTHING, [], ""),
        (replace(NOTHING, at_modes=SecondEstimate(-1.0, 0.02, 0.1)), ["missed-peak"], "finds 1.00 nats more than this run"),
        (replace(NOTHING, unvisited_share=0.1), ["missed-peak"], "a mode with 10.0% of the posterior"),
        (replace(NOTHING, from_prior_draws=SecondEstimate(-1.0, 0.02, 0.1)), ["missed-mass"], "exceeds this answer by 1.00 nats"),
        (replace(NOTHING, coverage=Coverage(0.4, 0.01)), ["missed-mode"], "40.0% of a tempered population from the prior"),
        (replace(NOTHING, stopped="the budget is spent"), ["unchecked"], "(the budget is spent)"),
    ],
)
def test_each_finding_has_its_code_and_says_the_value(finding, codes, words):
    status = missed_mass_status(finding)
    assert [reason.code for reason in status.reasons] == codes
    assert status.is_ok or words in status.reasons[0].sentence
    assert all("zhat." in reason.sentence for reason in status.reasons), "a remedy that can be typed"


def test_several_findings_are_all_said_and_take_the_standard_error_away():
    finding = replace(NOTHING, coverage=Coverage(0.4, 0.0), at_modes=SecondEstimate(-1.0, 0.02, 0.1), stopped="Ctrl-C")
    result = after_look(Estimate(-2.0, 0.01, diagnostics={"n": 1}), finding)
    assert [reason.code for reason in result.status.reasons] == ["missed-mode", "missed-peak", "unchecked"]
    assert result.log_evidence_se is None and result.status.level is Level.SUSPECT
    assert result.diagnostics["n"] == 1 and result.diagnostics["from_mode_log_evidence"] == -1.0


def test_other_modes_of_a_family_name_the_model_that_has_most():
    assert other_peaks_status(np.array([0.01, 0.049]), ("a", "b")).is_ok
    status = other_peaks_status(np.array([0.1, 0.4]), ("a", "b"))
    assert status.reasons[0].code == "several-modes" and "other modes of b, with about 40%" in status.reasons[0].sentence
