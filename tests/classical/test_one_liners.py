"""The tests as users call them: from data and summaries, published examples by R, and sentences for what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import zhat
from zhat import classical, zoo
from zhat.citations import bibtex

# Student's sleep data (Cushny & Peebles 1905), in every copy of R.
FIRST = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
SECOND = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_the_sleep_data_of_the_manual_of_bayes_factor():
    """The vignette of BayesFactor prints 17.25888 for the paired test."""
    assert classical.t_test(FIRST, SECOND, paired=True).bayes_factor == pytest.approx(17.25888, rel=1e-5)
    assert classical.t_test(np.subtract(FIRST, SECOND)).bayes_factor == pytest.approx(17.25888, rel=1e-5)
    one_sided = classical.t_test(FIRST, SECOND, paired=True, alternative="less")
    assert one_sided.bayes_factor == pytest.approx(34.41694, rel=1e-4)  # the vignette's


# t, n1, n2 and scale of published examples, and the Bayes factor that `ttest.tstat(t, n1, n2, rscale=scale, simple=TRUE)` of R's
# BayesFactor 0.9.12-4.4 gives (run for this table). Those marked * are also printed where they were published, to the digits there.
PUBLISHED = {
    "Student's sleep data, paired; manual of BayesFactor *17.25888": (-4.0621276834, 10, 0, 0.5**0.5, 17.25888027),
    "ToothGrowth of R, supplement; tutorials of ttestBF *1.198757": (1.9152682687, 30, 30, 0.5**0.5, 1.19875678),
    "chickwts of R, horsebean and linseed; manual of BayesFactor": (-2.9340467132, 10, 12, 0.5**0.5, 5.97574135),
    "random-dot stereograms, log fusion times; Morey's introduction *2.3224": (2.319, 43, 35, 0.5**0.5, 2.32240854),
    "documentation of pingouin, two samples *26.743": (3.5, 20, 20, 0.707, 26.74265923),
    "documentation of pingouin, one sample *17.185": (3.5, 20, 0, 0.707, 17.18474895),
    "Bem (2011), experiment 2 of the manual of BayesFactor": (-0.15, 100, 0, 1.0, 0.07989897),
    "Bem, the second t there": (2.39, 150, 0, 1.0, 1.04848536),
    "Bem, the third": (2.42, 97, 0, 1.0, 1.33944895),
    "Bem, the fourth": (2.43, 99, 0, 1.0, 1.35945886),
    "mtcars of R, automatic and manual transmission": (-4.1061269831, 19, 13, 0.5**0.5, 86.58972736),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_t_tests_against_r(name):
    t, n1, n2, scale, expected = PUBLISHED[name]
    found = classical.t_test_from_summary(t, n1, n2 or None, scale=scale).bayes_factor
    assert found == pytest.approx(expected, rel=1e-6)
    if "*" in name:
        printed = name.split("*")[1]
        assert found == pytest.approx(float(printed), abs=0.6 * 10.0 ** -len(printed.split(".")[1]))


def test_two_samples_are_a_regression_on_a_factor():
    pytest.importorskip("formulaic")
    table = {"y": [*FIRST, *SECOND[:7]], "group": ["a"] * 10 + ["b"] * 7}
    test = classical.t_test(FIRST, SECOND[:7])
    model = zhat.formula("y ~ group", data=table, prior=zhat.priors.JZS(factors=0.5))
    assert zhat.evidence(model).log_evidence == pytest.approx(test.log_bayes_factor, abs=1e-8)


def test_a_test_prints_a_sentence():
    text = str(classical.t_test(FIRST, SECOND, paired=True))
    assert "the data favour an effect over no effect by a factor of 17.26" in text
    assert "Cauchy(0, 0.7071)" in text
    assert bibtex(classical.t_test(FIRST, SECOND).cites)
    for test in (classical.correlation(FIRST, SECOND), classical.contingency([[10, 3], [2, 15]]), classical.proportion(15, 25)):
        assert "by a factor of" in str(test)
        assert bibtex(test.cites)
        assert 0.0 < test.probability < 1.0


def test_analysis_of_variance():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("formulaic")
    d = pd.DataFrame(zoo.load("pima_indians")).iloc[:120].copy()
    d["sick"] = np.where(d.diabetes == 1, "yes", "no")
    d["band"] = np.where(d.AGE < 25, "young", np.where(d.AGE < 35, "middle", "old"))
    found = classical.anova("BMI ~ sick*band", data=d)
    values = found.log_bayes_factors
    assert list(values) == ["BMI ~ 1", "BMI ~ sick", "BMI ~ band", "BMI ~ sick + band", "BMI ~ sick + band + sick:band"]
    assert values["BMI ~ sick"] == pytest.approx(2.4668801322, abs=1e-8)  # R's anovaBF
    assert sum(found.probabilities.values()) == pytest.approx(1.0)
    matched = np.logaddexp(values["BMI ~ sick"], values["BMI ~ sick + band"]) - np.logaddexp(0.0, values["BMI ~ band"])
    assert found.log_inclusion("sick") == pytest.approx(matched, abs=1e-12)
    assert "log BF for including sick:band" in str(found)
    with pytest.raises(zhat.errors.BadInput, match="no such term"):
        found.log_inclusion("fat")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: classical.t_test([1.0]), "x has 1 values"),
        (lambda: classical.t_test([1.0, np.nan, 2.0]), "missing or infinite"),
        (lambda: classical.t_test([2.0, 2.0, 2.0]), "t is infinite"),
        (lambda: classical.t_test([1.0, 2.0], paired=True), "needs two samples"),
        (lambda: classical.t_test([1.0, 2.0], [1.0, 2.0, 3.0], paired=True), "pairs need the same number"),
        (lambda: classical.t_test([1.0, 1.0], [2.0, 2.0]), "t is infinite"),
        (lambda: classical.t_test([1.0, 2.0], alternative="bigger"), "'two-sided', 'greater', 'less'"),
        (lambda: classical.t_test([1.0, 2.0], scale=0.0), "a number above zero"),
        (lambda: classical.t_test(["a", "b"]), "not a number"),
        (lambda: classical.t_test_from_summary(np.inf, 10), "finite number"),
        (lambda: classical.t_test_from_summary(2.0, 1), "at least 2"),
        (lambda: classical.correlation([1, 2, 3], [1, 2]), "give pairs|needs at least"),
        (lambda: classical.correlation([1, 2, 3], [2, 4, 6]), "lie on a line"),
        (lambda: classical.correlation([1, 1, 1], [2, 4, 6]), "a constant has no correlation"),
        (lambda: classical.contingency([[1, 2]]), "two or more rows"),
        (lambda: classical.contingency([[0.5, 0.5], [0.2, 0.8]]), "whole numbers"),
        (lambda: classical.contingency([[1, 2], [3, 4]], fixed="row"), "what the design fixed"),
        (lambda: classical.contingency([[1, 2, 3], [3, 4, 5]], fixed="both"), "only 2 x 2"),
        (lambda: classical.contingency([[1, 2], [3, 4]], concentration=0.3), "proper only above 0.5"),
        (lambda: classical.proportion(11, 10), "successes lie between"),
        (lambda: classical.proportion(1, 10, null=1.0), "between 0 and 1"),
        (lambda: classical.proportion(1, 10, beta=(1, 1), alternative="less"), "leave beta out"),
        (lambda: classical.anova("y ~ 1", {"y": [1.0, 2.0]}), "has 0 terms"),
    ],
)
def test_a_sentence(call, words):
    with pytest.raises(zhat.errors.ZhatError, match=words):
        call()
