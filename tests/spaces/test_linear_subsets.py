"""All subsets of a formula: exact for linear models, the known models of the Pima data for logistic ones."""

from __future__ import annotations

import numpy as np
import pytest

import zhat
from zhat import zoo

pytest.importorskip("formulaic")


@pytest.fixture(scope="module")
def women():
    return {name: column[:150] for name, column in zoo.load("pima_indians").items()}


@pytest.mark.parametrize("prior", [zhat.priors.JZS(), zhat.priors.ZellnerSiow(), zhat.priors.UnitInformation()])
def test_every_model_is_that_of_its_formula(women, prior):
    found = zhat.Subsets.from_formula("BMI ~ AGE + BP + TST", data=women, prior=prior).enumerate()
    assert len(found.log_evidence) == 8
    assert found.status.is_ok
    for row, terms in ((0, "1"), (1, "AGE"), (6, "BP + TST"), (7, "AGE + BP + TST")):
        alone = zhat.evidence(zhat.formula(f"BMI ~ {terms}", data=women, prior=prior))
        assert found.log_evidence[row] == pytest.approx(alone.log_evidence, abs=1e-9)
    assert found.inclusion["TST"] == pytest.approx(float(found.probabilities @ found.masks[:, 2]))


def test_one_model_of_the_family(women):
    family = zhat.Subsets.from_formula("BMI ~ AGE + BP + TST", data=women)
    found = family.enumerate()
    assert zhat.evidence(family.at(["AGE", "TST"])).log_evidence == pytest.approx(
        found.log_evidence[found.row(["AGE", "TST"])], abs=1e-9
    )
    with pytest.raises(zhat.errors.BadInput, match="no term 'x'"):
        family.at(["x"])


def test_posterior_means_are_shrunken_least_squares(women):
    found = zhat.Subsets.from_formula("BMI ~ TST", data=women, prior=zhat.priors.UnitInformation()).enumerate()
    slope = np.polyfit(women["TST"], women["BMI"], 1)[0]
    assert found.coefficients[1, 0] == pytest.approx(slope * 150 / 151, rel=1e-9)
    assert 0.0 < found.averaged_coefficients_sd[0] < abs(slope)


def test_four_thousand_models_take_seconds():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 12))
    table = {f"x{j}": x[:, j] for j in range(12)} | {"y": x[:, 0] + 0.5 * x[:, 3] + rng.normal(size=200)}
    found = zhat.Subsets.from_formula("y ~ " + " + ".join(f"x{j}" for j in range(12)), data=table).enumerate()
    assert len(found.log_evidence) == 4096
    assert found.inclusion["x0"] > 0.99
    assert found.inclusion["x7"] < 0.5


def test_logistic_subsets_are_those_of_the_zoo():
    table = zoo.load("pima_indians")
    prior = zhat.priors.ScaledNormal(slopes=10.0, intercept=10.0)
    family = zhat.Subsets.from_formula("diabetes ~ NP + PGC + BMI + DP + AGE", data=table, family="bernoulli", prior=prior)
    found = family.enumerate(n_draws=4000, seed=1)
    row = found.row(["NP", "PGC", "BMI", "DP"])
    assert abs(found.log_evidence[row] + 257.2323) < 4.5 * np.hypot(found.se[row], 0.0003)
    row = found.row(["NP", "PGC", "BMI", "DP", "AGE"])
    assert abs(found.log_evidence[row] + 259.8583) < 4.5 * np.hypot(found.se[row], 0.0003)


@pytest.mark.parametrize(
    ("formula", "options", "words"),
    [
        ("BMI ~ 1", {}, "no terms beside the intercept"),
        ("BMI ~ C(diabetes) + AGE", {}, "has factors"),
        ("BMI ~ AGE", {"prior": zhat.priors.ScaledNormal()}, "a prior with one g"),
        ("BMI ~ AGE + TST", {"family": "bernoulli"}, "not only 0 and 1"),
    ],
)
def test_a_sentence(women, formula, options, words):
    with pytest.raises(zhat.errors.BadInput, match=words):
        zhat.Subsets.from_formula(formula, data=women, **options)
