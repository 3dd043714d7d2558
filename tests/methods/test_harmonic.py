"""The harmonic mean: its sums by hand, and that it is believed only where its variance is finite."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.methods.harmonic import HarmonicMean, _status, harmonic_mean, harmonic_sums
from zhat.results.records import Draws


def draws(log_likelihood, n_chains=1):
    values = np.asarray(log_likelihood, np.float64)
    n = len(values)
    return Draws(np.zeros((n, 1)), values, np.zeros(n), n_drawn=n, chain=np.repeat(np.arange(n_chains), n // n_chains))


def test_the_harmonic_mean_of_one_two_and_four():
    assert harmonic_mean(np.log([1.0, 2.0, 4.0])) == pytest.approx(math.log(3 / 1.75), abs=1e-14)


def test_large_negative_log_likelihoods_do_not_overflow():
    assert harmonic_mean(np.array([-1e6, -1e6 + 1.0])) == pytest.approx(-1e6 - math.log(0.5 + 0.5 / math.e), abs=1e-9)


def test_sums_by_hand():
    posterior = draws(np.log([1.0, 2.0, 4.0, 2.0] * 25), n_chains=2)
    prior = draws(np.append(np.log([0.5, 1.0, 2.0]), -np.inf))
    seen = harmonic_sums(posterior, prior)
    mean = (1 + 0.5 + 0.25 + 0.5) / 4
    assert seen.log_evidence == pytest.approx(-math.log(mean), abs=1e-13)
    assert seen.relative_variance == pytest.approx((1 + 0.25 + 0.0625 + 0.25) / 4 / mean**2 - 1, abs=1e-12)
    assert seen.relative_variance_from_prior == pytest.approx((2 + 1 + 0.5) / 3 / mean - 1, abs=1e-12)
    assert seen.zero_share == 0.25
    assert seen.largest_share == pytest.approx(1.0 / (2.25 * 25), abs=1e-14)
    assert "zero-likelihood" in [reason.code for reason in _status(seen, 1.0).reasons]


def test_a_constant_likelihood_is_exact():
    result = zhat.evidence(zoo.example("S10").model, "harmonic-mean", seed=1, progress=False)
    assert result.status.is_ok
    assert result.log_evidence == pytest.approx(3.7, abs=1e-12)
    assert result.log_evidence_se == 0.0


@pytest.mark.parametrize("ratio", [3.0, 10.0, 100.0])
def test_a_prior_wider_than_the_data_is_flagged(ratio):
    """Normal mean with prior sd `ratio` times the likelihood's: the variance is infinite beyond 1."""
    model = zoo.example("E1").model.with_hyper({"scale": ratio / math.sqrt(5.0)})
    for seed in range(3):
        result = zhat.evidence(model, "harmonic-mean", seed=seed, progress=False)
        assert not result.status.is_ok
        assert result.log_evidence_se is None
        assert all(reason.sentence.rstrip(".")[-1] for reason in result.status.reasons)


def test_a_prior_tighter_than_the_data_is_believed_and_right():
    model = zoo.example("E1").model
    y, tau2 = np.asarray(model.data), 0.01
    truth = -0.5 * (5 * math.log(2 * math.pi) + math.log(1 + 5 * tau2) + y @ y - tau2 * y.sum() ** 2 / (1 + 5 * tau2))
    result = zhat.evidence(model.with_hyper({"scale": 0.1}), "harmonic-mean", seed=1, progress=False)
    assert result.status.is_ok, result.explain()
    assert abs(result.log_evidence - truth) < 4 * result.log_evidence_se


def test_zero_likelihood_on_part_of_the_prior_is_flagged():
    result = zhat.evidence(zoo.example("S5").model, "harmonic-mean", seed=1, progress=False)
    assert "zero-likelihood" in [reason.code for reason in result.status.reasons]


@pytest.mark.parametrize(
    ("settings", "error"),
    [({"n_chains": 1}, BadInput), ({"n_draws": 10}, BadInput), ({"n_prior": 10}, BadInput), ({"kernel": "gibbs"}, BadType)],
)
def test_bad_settings_are_refused(settings, error):
    with pytest.raises(error, match=next(iter(settings))):
        HarmonicMean(**settings)


def test_the_harmonic_mean_reads_draws_and_refuses_weighted_ones():
    model = zhat.zoo.example("E1").model
    weighted = zhat.evidence(model, "importance", seed=1, progress=False)
    with pytest.raises(BadInput, match="equal weight"):
        zhat.read(weighted, "harmonic-mean")
    with pytest.raises(BadType, match="posterior draws"):
        zhat.read(replace(weighted, record=None), "harmonic-mean")
