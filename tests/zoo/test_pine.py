"""Radiata pine: the published figures, and the model code against routes of its own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from zhat import zoo
from zhat.errors import BadInput

# data, prior, model 1, model 2, Bayes factor of model 2, and to how many units of its last digit
PRINTED = [
    ("friel_wyse", "review", -310.12829, -301.70460, 4553.6455, 6e-5),
    ("williams1959", "review", -310.50727, -301.65016, 7024.138, 6e-4),
    ("williams1959", "green_ohagan", -309.92433, -301.43510, 4862.10, 6e-3),
]


@pytest.mark.parametrize("row", PRINTED, ids=lambda row: f"{row[0]}-{row[1]}")
def test_published_log_evidences_and_bayes_factors(row):
    data, prior, first, second, factor, tolerance = row
    log_1 = zoo.pine("density", data, prior).log_evidence
    log_2 = zoo.pine("adjusted_density", data, prior).log_evidence
    assert log_1 == pytest.approx(first, rel=0, abs=6e-6)
    assert log_2 == pytest.approx(second, rel=0, abs=6e-6)
    assert math.exp(log_2 - log_1) == pytest.approx(factor, rel=0, abs=tolerance)


def centred(covariate, data):
    table = zoo.load(f"radiata_pine_{data}")
    x = table[covariate]
    design = np.stack([np.ones(42), x - x.sum() / 42], axis=1)
    return design, table["strength"]


@pytest.mark.parametrize("data", ["friel_wyse", "williams1959"])
@pytest.mark.parametrize("covariate", ["density", "adjusted_density"])
def test_conjugate_evidence_is_a_multivariate_t(covariate, data):
    design, y = centred(covariate, data)
    shape = (180_000 / 3) * (np.eye(42) + design @ np.diag([1 / 0.06, 1 / 6]) @ design.T)
    exact = stats.multivariate_t(design @ [3000.0, 185.0], shape, df=6).logpdf(y)
    assert zoo.pine(covariate, data).log_evidence == pytest.approx(exact, rel=0, abs=1e-8)


@pytest.mark.parametrize("data", ["friel_wyse", "williams1959"])
@pytest.mark.parametrize("covariate", ["density", "adjusted_density"])
def test_green_ohagan_evidence_by_adaptive_quadrature(covariate, data):
    design, y = centred(covariate, data)
    spread = design @ np.diag([1e6, 1e4]) @ design.T

    def density(log_variance):
        variance = math.exp(log_variance)
        normal = stats.multivariate_normal(design @ [3000.0, 185.0], variance * np.eye(42) + spread).logpdf(y)
        return math.exp(normal + stats.invgamma.logpdf(variance, 3, scale=180_000) + log_variance + 300)

    total = integrate.quad(density, 8, 16, epsabs=0, epsrel=1e-11, limit=200)[0]
    exact = math.log(total) - 300
    assert zoo.pine(covariate, data, "green_ohagan").log_evidence == pytest.approx(exact, rel=0, abs=1e-8)


@pytest.mark.parametrize("prior", ["review", "green_ohagan"])
def test_model_code_leaves_the_density_of_tau(prior):
    # Line divided out at its exact normal conditional: what is left is p(tau) p(y | tau), computed by SciPy.
    design, y = centred("density", "williams1959")
    model = zoo.pine("density", "williams1959", prior).model
    mean = np.array([3000.0, 185.0])
    for tau in (4e-6, 1.2e-5):
        precision = np.diag([0.06, 6.0]) * tau if prior == "review" else np.diag([1e-6, 1e-4])
        covariance = np.linalg.inv(precision + tau * design.T @ design)
        centre = covariance @ (precision @ mean + tau * design.T @ y)
        line = centre + np.array([20.0, -5.0])
        marginal = np.eye(42) / tau + design @ np.linalg.inv(precision) @ design.T
        left = stats.gamma.logpdf(tau, 3, scale=1 / 180_000)
        left += stats.multivariate_normal(design @ mean, marginal).logpdf(y)
        value = sum(model.evaluate(tau=tau, intercept=line[0], slope=line[1]))
        value -= stats.multivariate_normal(centre, covariance).logpdf(line)
        assert value == pytest.approx(left, rel=0, abs=1e-7)


def test_the_two_files_differ_in_row_nine_only():
    reviewed, published = zoo.load("radiata_pine_friel_wyse"), zoo.load("radiata_pine_williams1959")
    assert list(reviewed) == ["strength", "density", "adjusted_density"]
    tables = [np.stack(list(t.values()), axis=1) for t in (reviewed, published)]
    assert tables[0].shape == (42, 3)
    assert list(np.flatnonzero((tables[0] != tables[1]).any(axis=1))) == [8]
    assert list(tables[0][8]) == [3670, 32.3, 29.0]
    assert list(tables[1][8]) == [3160, 27.1, 26.3]


def test_models_on_the_same_strengths_are_comparable():
    first, second = zoo.pine("density").model, zoo.pine("adjusted_density").model
    assert first.data_id == second.data_id
    assert first.data_id != zoo.pine("density", "williams1959").model.data_id


@pytest.mark.parametrize("wrong", [{"covariate": "resin"}, {"data": "mine"}, {"prior": "flat"}])
def test_unknown_choices_are_named(wrong):
    (name, value), *_ = wrong.items()
    with pytest.raises(BadInput, match=f"{name}='{value}'"):
        zoo.pine(**wrong)
