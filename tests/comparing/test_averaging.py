"""Averages over models with closed forms: means, predictive densities, weights near zero and one, bad input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import zhat
from zhat.errors import BadInput, BadType

Y = np.array([0.6, 1.1, 0.2, 1.4])
NEW = np.array([0.9, -0.3])


def model(name, prior_mean, prior_sd=1.0):
    return zhat.Model(
        lambda p, y: dist.Normal(p["mu"], 1.0).log_prob(y).sum(), {"mu": dist.Normal(prior_mean, prior_sd)}, data=Y, name=name
    )


MODELS = {"near": model("near", 0.0), "far": model("far", 3.0)}


def exact(prior_mean, prior_sd=1.0):
    """Evidence, posterior mean and variance, and log predictive density of NEW."""
    n = len(Y)
    covariance = np.eye(n) + prior_sd**2
    log_z = stats.multivariate_normal(np.full(n, prior_mean), covariance).logpdf(Y)
    precision = 1.0 / prior_sd**2 + n
    mean = (prior_mean / prior_sd**2 + Y.sum()) / precision
    predictive = stats.multivariate_normal(np.full(len(NEW), mean), np.eye(len(NEW)) + 1.0 / precision).logpdf(NEW)
    return log_z, mean, 1.0 / precision, predictive


@pytest.fixture(scope="module", params=["importance", "smc", "nested"])
def comparison(request):
    return zhat.compare(MODELS, request.param, seed=1, progress=False)


def test_the_averaged_posterior_is_the_mixture(comparison):
    (z0, m0, v0, _), (z1, m1, v1, _) = exact(0.0), exact(3.0)
    p = 1.0 / (1.0 + np.exp(z1 - z0))
    mean = p * m0 + (1 - p) * m1
    variance = p * (v0 + m0**2) + (1 - p) * (v1 + m1**2) - mean**2
    found = zhat.average(comparison, "mu", n_draws=20_000, seed=2)
    assert found.mean == pytest.approx(mean, abs=0.03)
    assert found.sd == pytest.approx(np.sqrt(variance), abs=0.03)
    assert found.model.count("near") / 20_000 == pytest.approx(p, abs=0.02)
    assert found.by_model["near"] == pytest.approx(m0, abs=0.03)
    squared = zhat.average(comparison, lambda params: params["mu"] ** 2, n_draws=20_000, seed=2)
    assert squared.mean == pytest.approx(variance + mean**2, abs=0.08)


def test_predictive_densities_of_new_data(comparison):
    (z0, _, _, d0), (z1, _, _, d1) = exact(0.0), exact(3.0)
    p = 1.0 / (1.0 + np.exp(z1 - z0))
    found = zhat.predict(comparison, MODELS, NEW)
    for name, truth in (("near", d0), ("far", d1)):
        assert abs(found.by_model[name] - truth) < 4.5 * found.se_by_model[name] + 0.02
    assert found.log_density == pytest.approx(np.log(p * np.exp(d0) + (1 - p) * np.exp(d1)), abs=0.03)
    assert found.best == "near"


def test_a_weight_of_nearly_one_leaves_the_others_out(comparison):
    evidences = dict(comparison.evidences)
    evidences["far"] = replace(evidences["far"], log_evidence=-2000.0)
    extreme = zhat.Comparison.of(evidences)
    found = zhat.average(extreme, "mu", seed=3)
    assert set(found.model) == {"near"}
    predicted = zhat.predict(extreme, MODELS, NEW)
    assert predicted.log_density == pytest.approx(predicted.by_model["near"], abs=1e-12)


def test_bad_input_gets_a_sentence(comparison):
    with pytest.raises(BadType, match="takes a Comparison first"):
        zhat.average(MODELS, "mu")
    with pytest.raises(BadInput, match="no parameter 'nu'"):
        zhat.average(comparison, "nu", seed=1)
    with pytest.raises(BadInput, match="one row a draw"):
        zhat.average(comparison, lambda params: params["mu"].mean(), seed=1)
    with pytest.raises(BadInput, match="no quantity for model"):
        zhat.average(comparison, {"near": lambda params: params["mu"]}, seed=1)
    with pytest.raises(BadInput, match="no model for 'far'"):
        zhat.predict(comparison, {"near": MODELS["near"]}, NEW)
    empty = {name: replace(e, record=None) for name, e in comparison.evidences.items()}
    with pytest.raises(BadInput, match="left no posterior draws"):
        zhat.average(zhat.Comparison.of(empty), "mu", seed=1)
