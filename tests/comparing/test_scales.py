"""Scales of Bayes factors: their published limits, and words for intervals."""

from __future__ import annotations

import math

import pytest

from zhat.citations import bibtex
from zhat.comparing.scales import JEFFREYS, KASS_RAFTERY


def test_limits_are_the_published_ones():
    assert [JEFFREYS.word(math.log(x)) for x in (3.1, 3.2, 10.1, 31.7, 101.0)] == list(JEFFREYS.words)
    assert [KASS_RAFTERY.word(x / 2.0) for x in (1.9, 2.1, 6.1, 10.1)] == list(KASS_RAFTERY.words)


@pytest.mark.parametrize("scale", [JEFFREYS, KASS_RAFTERY], ids=lambda scale: scale.name)
def test_a_scale_has_rising_limits_one_word_more_and_a_citation(scale):
    assert list(scale.limits) == sorted(scale.limits) and len(scale.words) == len(scale.limits) + 1
    assert scale.cites in bibtex([scale.cites])


def test_support_against_a_model_has_the_same_word():
    assert JEFFREYS.word(-3.0) == JEFFREYS.word(3.0)


def test_an_interval_over_a_limit_has_both_words():
    assert JEFFREYS.words_between(2.0, 2.2) == "substantial"
    assert JEFFREYS.words_between(2.0, 2.6) == "substantial to strong"
    assert JEFFREYS.words_between(-1.0, 0.1) == "barely worth mentioning"
