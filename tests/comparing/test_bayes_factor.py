"""The log Bayes factor of two models: its interval, whether it is decided, and its words."""

from __future__ import annotations

import math

import pytest

from zhat.comparing.bayes_factor import LogBayesFactor
from zhat.comparing.scales import KASS_RAFTERY


def factor(value, se, df=math.inf):
    return LogBayesFactor("a", "b", value, se, df)


def test_the_interval_is_the_normal_or_the_student_one():
    assert factor(1.0, 0.1).interval() == pytest.approx((1.0 - 0.1959964, 1.0 + 0.1959964), abs=1e-6)
    low, high = factor(1.0, 0.1, 4.0).interval()
    assert high - low == pytest.approx(2 * 0.1 * 2.7764451, abs=1e-6)


@pytest.mark.parametrize(
    ("value", "se", "decided"), [(0.2, 0.1, True), (-0.2, 0.1, True), (0.19, 0.1, False), (9.0, None, False)]
)
def test_a_pair_is_decided_when_the_interval_excludes_zero(value, se, decided):
    assert factor(value, se).decided is decided


def test_words_belong_to_the_interval_and_to_both_signs():
    assert factor(2.3, 0.05).words() == factor(-2.3, 0.05).words() == "substantial to strong"
    assert factor(4.0, 0.01).words(KASS_RAFTERY) == "strong"
    assert factor(0.02, 0.05).words() == "undecided"


def test_without_a_standard_error_there_is_no_verdict():
    assert factor(3.0, None).interval() is None
    assert "no verdict" in factor(3.0, None).words()
    assert "± ?" in str(factor(3.0, None))
