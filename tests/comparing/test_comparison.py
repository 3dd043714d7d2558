"""Comparisons of evidences written by hand: factors, probabilities, intervals, words, refusals, exports."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import zhat
from zhat.comparing.scales import JEFFREYS, KASS_RAFTERY
from zhat.errors import BadInput, BadType
from zhat.numerics.combining.model_weights import difference_df, probabilities
from zhat.results.estimate import Kind, Repeat, Status
from zhat.results.records import Cost


def made(log_z, se=0.01, name="m", data="d", status=None, df=math.inf, kind=Kind.SAMPLING):
    status = status or Status.ok()
    return zhat.Evidence(
        log_evidence=log_z, log_evidence_se=se, status=status, kind=kind, degrees_of_freedom=df, no_se_because=None,
        approximation_error=None, diagnostics={}, record=None, method="smc", settings={}, cites=(), model=name, data_id=data,
        n_dimensions=1, cost=Cost(), seed=1, versions={}, repeats=(Repeat(log_z, se, status),),
    )  # fmt: skip


def three(se=0.01):
    return zhat.Comparison.of({"a": made(-10.0, se, "a"), "b": made(-12.0, se, "b"), "c": made(-9.0, se, "c")})


def test_probabilities_are_bayes_rule():
    comparison = zhat.Comparison.of({"a": made(-10.0, name="a"), "b": made(-12.0, name="b")}, prior={"a": 0.2, "b": 0.8})
    joint = np.array([0.2 * math.exp(2.0), 0.8])
    assert comparison.probabilities == pytest.approx(joint / joint.sum(), abs=1e-14)
    assert comparison.probabilities.sum() == pytest.approx(1.0, abs=1e-14)


def test_extreme_evidences_give_probabilities_of_zero_and_one_not_nan():
    assert probabilities([-1e6, 0.0, -np.inf], [0.3, 0.3, 0.4]) == pytest.approx([0.0, 1.0, 0.0])


def test_factors_have_the_errors_of_both_and_their_sign():
    factor = three(0.03).log_bayes_factor("a", "b")
    assert factor.value == pytest.approx(2.0)
    assert factor.se == pytest.approx(0.03 * math.sqrt(2.0))
    assert three().log_bayes_factor("b", "a").value == pytest.approx(-2.0)
    assert [f.first for f in three().log_bayes_factors()] == ["c", "c", "a"]


def test_welch_s_degrees_of_freedom():
    assert difference_df((1.0, 1.0), (9.0, 9.0)) == pytest.approx(18.0)
    assert difference_df((1.0, 0.0), (9.0, 3.0)) == pytest.approx(9.0)
    assert difference_df((1.0, 1.0), (math.inf, math.inf)) == math.inf


@pytest.mark.parametrize(("value", "se", "words"), [
    (0.02, 0.05, "undecided"),
    (0.5, 0.01, "barely worth mentioning"),
    (2.0, 0.01, "substantial"),
    (2.3, 0.05, "substantial to strong"),
    (9.0, 0.1, "decisive"),
])  # fmt: skip
def test_words_are_for_the_interval(value, se, words):
    comparison = zhat.Comparison.of({"a": made(value, se, "a"), "b": made(0.0, 0.0, "b")})
    assert comparison.log_bayes_factor("a", "b").words(JEFFREYS) == words
    assert comparison.log_bayes_factor("b", "a").words(JEFFREYS) == words


def test_scales_have_their_published_limits():
    assert [JEFFREYS.word(math.log(x)) for x in (3.1, 3.2, 10.1, 31.7, 101.0)] == list(JEFFREYS.words)
    assert [KASS_RAFTERY.word(x / 2.0) for x in (1.9, 2.1, 6.1, 10.1)] == list(KASS_RAFTERY.words)


def test_undecided_says_so_and_is_not_a_verdict():
    comparison = zhat.Comparison.of({"a": made(-10.0, 0.5, "a"), "b": made(-10.2, 0.5, "b")})
    assert not comparison.decided
    assert comparison.sentence().startswith("undecided")


def test_probability_intervals_cover_what_the_errors_say():
    """With two models the probability is a monotone function of the log factor: its quantiles are those of the factor."""
    comparison = zhat.Comparison.of({"a": made(0.0, 0.3, "a"), "b": made(-1.0, 0.4, "b")})
    low, high = comparison.probability_intervals()[0]
    bounds = [1.0 / (1.0 + math.exp(-(1.0 + sign * 1.96 * 0.5))) for sign in (-1, 1)]
    assert [low, high] == pytest.approx(bounds, abs=0.01)
    assert comparison.probability_intervals() == comparison.probability_intervals()


def test_a_suspect_evidence_is_marked_all_the_way():
    doubt = made(-12.0, None, "b", status=Status.suspect("pareto-k", "the weights have a tail; use SMC."))
    comparison = zhat.Comparison.of({"a": made(-10.0, name="a"), "b": doubt})
    assert comparison.suspects == ("b",)
    assert comparison.probability_intervals() is None
    assert comparison.log_bayes_factor("a", "b").se is None
    assert "Not to be trusted: b" in comparison.sentence()
    for text in (str(comparison), comparison.to_markdown(), comparison.to_latex()):
        assert "suspect" in text
    assert "the weights have a tail" in comparison.explain()
    assert json.loads(comparison.to_json())["models"][1]["status"] == "suspect"


@pytest.mark.parametrize(("evidences", "prior", "error", "message"), [
    ({"a": made(0.0, name="a")}, None, BadInput, "two or more"),
    ({"a": made(0.0, name="a"), "b": made(0.0, name="b", data="other")}, None, BadInput, "different data"),
    ({"a": made(0.0, name="a"), "b": made(0.1, name="a")}, None, BadInput, "same model"),
    ({"a": made(0.0, name="a"), "b": made(math.nan, None, "b", status=Status.failed("budget", "x."))}, None, BadInput, "failed"),
    ({"a": made(0.0, name="a"), "b": 3.0}, None, BadType, "give an Evidence"),
    ({"a": made(0.0, name="a"), "b": made(0.0, name="b")}, [0.5, 0.6], BadInput, "not to one"),
    ({"a": made(0.0, name="a"), "b": made(0.0, name="b")}, [1.5, -0.5], BadInput, "not negative"),
    ({"a": made(0.0, name="a"), "b": made(0.0, name="b")}, {"a": 1.0}, BadInput, "missing"),
    ([made(0.0)], None, BadType, "a dict of evidences"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused(evidences, prior, error, message):
    with pytest.raises(error, match=message):
        zhat.Comparison.of(evidences, prior)


def test_an_unknown_name_is_answered():
    with pytest.raises(BadInput, match="there is no model 'x'"):
        three().log_bayes_factor("a", "x")


def test_tables_align_and_escape():
    comparison = zhat.Comparison.of({"a|b": made(0.0, name="a"), "50 % & $x_1$": made(-1.0, name="b")})
    lines = str(comparison).splitlines()
    assert len({line.index("smc") for line in lines[1:3]}) == 1
    assert "a\\|b" in comparison.to_markdown()
    assert r"50 \% \& \$x\_1\$" in comparison.to_latex()


def test_json_has_no_word_for_infinity():
    parsed = json.loads(three().to_json())
    assert parsed["log_bayes_factors"][0]["degrees_of_freedom"] is None
    assert parsed["decided"] is True


def test_names_forge_no_line_and_no_colour():
    hostile = "a\nok        -1.0  sure\x1b[31m\u202e"
    suspect = Status.suspect("low-ess", "few draws\nok")
    comparison = zhat.Comparison.of({hostile: made(-10.0, name=hostile, status=suspect), "b": made(-12.0, name="b")})
    (factor,) = comparison.log_bayes_factors()
    for text in (str(comparison), comparison.explain(), comparison.to_markdown(), comparison.to_latex(), str(factor)):
        assert not any(line.startswith("ok") for line in text.splitlines())
        assert "\x1b" not in text and "\u202e" not in text
