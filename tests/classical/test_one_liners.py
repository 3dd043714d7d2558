"""The tests as users call them: from data and summaries, published examples, and sentences for what is wrong."""

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


def test_a_published_t_of_rouder_et_al():
    """Their examples: t(99) = 0.69 and 2.03 with scale 1 (Rouder et al. 2009, on Grider & Malmberg 2008) favour the null by 7.04 and 1.56 at n = 80."""
    assert 1 / classical.t_test_from_summary(2.24, 80, scale=1.0).bayes_factor == pytest.approx(1.02, abs=0.005)
    assert 1 / classical.t_test_from_summary(2.03, 80, scale=1.0).bayes_factor == pytest.approx(1.56, abs=0.005)


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
