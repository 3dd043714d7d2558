"""The exact method: first by default, no sampling error, and suspect where its quadrature fails."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat.model.closed_form import ClosedForm
from zhat.numerics.exact.integrals import Integral
from zhat.results.estimate import Kind


def normal_mean(integral=None):
    y = np.array([1.2, -0.4, 0.7, 2.1, 0.3])

    def formula(data, hyper):
        n, s2 = len(data), 4.0
        quadratic = data @ data - s2 * data.sum() ** 2 / (1 + n * s2)
        return integral or Integral.closed_form(-0.5 * (n * np.log(2 * np.pi) + np.log1p(n * s2) + quadratic))

    return zhat.Model(
        lambda p, data: jnp.sum(dist.Normal(p["mu"], 1.0).log_prob(data)),
        {"mu": dist.Normal(0.0, 2.0)},
        data=y,
        closed_form=ClosedForm(formula, "a formula"),
    )


def test_it_is_the_default_and_has_no_sampling_error():
    result = zhat.evidence(normal_mean(), repeats=3)
    assert result.method == "exact"
    assert result.kind is Kind.EXACT
    assert result.status.is_ok
    assert result.log_evidence_se == 0.0
    assert 0.0 < result.error < 1e-9
    assert result.log_evidence == pytest.approx(-7.963382456314, abs=1e-9)
    assert "closed form" in result.why_this_method
    assert "exact; numerical error" in str(result)
    assert result.cost.n_likelihood == 0


def test_other_data_use_the_same_formula():
    other = normal_mean().with_data(np.array([0.0, 0.0]))
    assert zhat.evidence(other).log_evidence == pytest.approx(-0.5 * (2 * np.log(2 * np.pi) + np.log(9.0)), abs=1e-12)


def test_a_quadrature_that_fails_is_suspect_and_the_default_samples():
    model = normal_mean(Integral(-5.0, 1e-3, agrees=False, n_points=99))
    alone = zhat.evidence(model, "exact")
    assert [reason.code for reason in alone.status.reasons] == ["quadrature"]
    assert alone.log_evidence_se is None
    sampled = zhat.evidence(model, seed=1)
    assert sampled.method != "exact"
    assert abs(sampled.log_evidence + 7.963382456314) < 4.5 * sampled.log_evidence_se


def test_not_a_number_is_a_failure():
    result = zhat.evidence(normal_mean(Integral(np.nan, np.nan, agrees=False)), "exact")
    assert result.status.level is zhat.Level.FAILED


def test_a_model_without_a_formula_is_refused():
    model = zhat.Model(lambda p: -(p["x"] ** 2), {"x": dist.Normal(0.0, 1.0)})
    with pytest.raises(zhat.errors.UnsupportedModel, match="closed form"):
        zhat.evidence(model, "exact")


def test_it_is_kept_in_a_file(tmp_path):
    result = zhat.evidence(normal_mean())
    again = zhat.Evidence.load(result.save(tmp_path / "exact.json"))
    assert again.kind is Kind.EXACT
    assert again.log_evidence == result.log_evidence
