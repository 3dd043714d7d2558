"""Pima Indians: data, likelihood, derivatives, and the reference figures by Laplace and importance sampling in NumPy."""

from __future__ import annotations

import math

import jax
import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from zhat import zoo
from zhat.errors import BadInput

MODEL_1 = ("NP", "PGC", "BMI", "DP")
MODEL_2 = (*MODEL_1, "AGE")
# covariates, tau, log evidence, Laplace approximation
REFERENCE = [
    (MODEL_1, 0.01, -257.2323, -257.2516),
    (MODEL_2, 0.01, -259.8583, -259.8858),
    (MODEL_1, 1.0, -247.3033, -247.3215),
    (MODEL_2, 1.0, -247.5627, -247.5893),
]


def test_shapes_and_standardisation():
    for names in ((), ("AGE",), MODEL_1, MODEL_2):
        x, y = zoo.pima(names).model.data
        assert x.shape == (532, len(names) + 1)
        assert y.shape == (532,)
        assert set(np.unique(y)) == {0.0, 1.0}
        assert np.all(x[:, 0] == 1.0)
        assert x[:, 1:].mean(axis=0) == pytest.approx(0.0, abs=1e-12)
        assert (x[:, 1:] ** 2).sum(axis=0) / 531 == pytest.approx(1.0, abs=1e-12)
    assert zoo.load("pima_indians")["diabetes"].sum() == 177


def test_columns_stand_in_the_order_of_the_call():
    forward, backward = zoo.pima(("NP", "AGE")).model.data[0], zoo.pima(("AGE", "NP")).model.data[0]
    assert np.array_equal(forward[:, [0, 2, 1]], backward)
    assert zoo.pima(MODEL_1[::-1]).log_evidence == zoo.pima(MODEL_1).log_evidence


def test_log_likelihood_and_prior_by_a_plain_loop():
    model = zoo.pima(MODEL_2, tau=0.3).model
    theta = np.array([-1.0, 0.4, 1.1, -0.3, 0.8, 2.0])
    table = zoo.load("pima_indians")
    total = 0.0
    for i in range(532):
        eta = theta[0]
        for j, name in enumerate(MODEL_2):
            column = table[name]
            mean = sum(column) / 532
            sd = math.sqrt(sum((v - mean) ** 2 for v in column) / 531)
            eta += theta[j + 1] * (column[i] - mean) / sd
        p = 1.0 / (1.0 + math.exp(-eta))
        total += math.log(p) if table["diabetes"][i] else math.log(1.0 - p)
    log_prior, log_likelihood = model.evaluate(theta=theta)
    assert log_likelihood == pytest.approx(total, abs=1e-9)
    assert log_prior == pytest.approx(3.0 * math.log(0.3 / (2 * math.pi)) - 0.15 * theta @ theta, abs=1e-12)


def test_extreme_logits_do_not_overflow():
    value = zoo.pima(("NP",)).model.evaluate(theta=[1e4, 1e5])[1]
    assert np.isfinite(value)
    assert value < -1e6


def test_derivatives_are_right_also_at_zero():
    # At theta = 0 every logit is 0, where |x| and max(x, 0) have kinks: the Hessian must still be -X'X/4.
    model = zoo.pima(MODEL_1).model
    x, y = model.data
    with jax.enable_x64(True):

        def value(theta):
            return model.core.log_likelihood({"theta": theta}, model.data, model.hyper)

        gradient, hessian = jax.grad(value)(np.zeros(5)), jax.hessian(value)(np.zeros(5))
        reverse = jax.jacrev(jax.grad(value))(np.zeros(5))
    assert np.asarray(gradient) == pytest.approx(x.T @ (y - 0.5), abs=1e-9)
    assert np.asarray(hessian) == pytest.approx(-0.25 * x.T @ x, abs=1e-9)
    assert np.asarray(reverse) == pytest.approx(-0.25 * x.T @ x, abs=1e-9)


def log_joint(x, y, tau, theta):
    eta = theta @ x.T
    likelihood = (y * eta - np.logaddexp(0, eta)).sum(-1)
    return likelihood + 0.5 * x.shape[1] * math.log(tau / (2 * math.pi)) - 0.5 * tau * (theta**2).sum(-1)


@pytest.mark.parametrize("row", REFERENCE, ids=lambda row: f"{len(row[0])}-{row[1]}")
def test_reference_figures_by_laplace_and_importance_sampling(row):
    covariates, tau, log_evidence, laplace = row
    example = zoo.pima(covariates, tau)
    assert example.log_evidence == log_evidence
    x, y = example.model.data
    d = x.shape[1]
    mode = np.zeros(d)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ mode))
        precision = (x.T * (p * (1 - p))) @ x + tau * np.eye(d)
        mode = mode + np.linalg.solve(precision, x.T @ (y - p) - tau * mode)
    top = float(log_joint(x, y, tau, mode))
    assert sum(example.model.evaluate(theta=mode)) == pytest.approx(top, abs=1e-9)
    value = top + 0.5 * d * math.log(2 * math.pi) - 0.5 * np.linalg.slogdet(precision)[1]
    assert value == pytest.approx(laplace, rel=0, abs=6e-5)
    # Importance sampling: 20,000 draws have a standard error of about 0.002; five of them is a 6e-7 event.
    proposal = stats.multivariate_t(mode, np.linalg.inv(precision), df=10, seed=1)
    theta = proposal.rvs(20_000)
    log_weights = log_joint(x, y, tau, theta) - proposal.logpdf(theta)
    estimate = logsumexp(log_weights) - math.log(len(theta))
    se = np.std(np.exp(log_weights - estimate)) / math.sqrt(len(theta))
    print(f"{estimate:.4f} +- {se:.4f}, reference {log_evidence}")
    assert se < 0.01
    assert abs(estimate - log_evidence) < 5 * math.hypot(se, 0.0003)


def test_hyperparameter_can_be_replaced_without_another_compilation():
    model = zoo.pima(("NP",)).model
    model.evaluate(theta=[0.0, 0.0])
    other = model.with_hyper({"tau": 1.0})
    assert other.evaluate(theta=[0.0, 0.0])[0] == pytest.approx(-math.log(2 * math.pi), abs=1e-12)
    assert other.core.traces["log_prior"] == 1


def test_all_subsets_explain_the_same_data():
    assert zoo.pima(()).model.data_id == zoo.pima(MODEL_2, 1.0).model.data_id
    assert zoo.pima(()).log_evidence is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"covariates": ("SEX",)}, "covariates has 'SEX'"),
        ({"covariates": "NP"}, "give a tuple"),
        ({"covariates": ("NP", "NP")}, "each may stand once"),
        ({"tau": 0.0}, "must be a positive number"),
        ({"tau": float("nan")}, "must be a positive number"),
    ],
)
def test_bad_arguments_are_named(settings, words):
    with pytest.raises(BadInput, match=words):
        zoo.pima(**settings)
