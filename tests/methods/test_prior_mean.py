"""The prior mean: an average over its own record, and refusals; the contract compares it with exact evidences."""

from __future__ import annotations

import math

import numpy as np
import pytest

import zhat
from zhat import PriorMean, zoo
from zhat.errors import BadInput, BadType


@pytest.fixture(scope="module")
def result():
    return zhat.evidence(zoo.example("E1").model, PriorMean(n_draws=2000), seed=1, progress=False)


def test_it_is_the_log_mean_of_the_likelihoods_in_its_record(result):
    likelihood = np.exp(result.record.log_likelihood)
    assert len(likelihood) == 2000
    assert result.log_evidence == pytest.approx(math.log(likelihood.mean()), abs=1e-12)


def test_its_standard_error_is_the_delta_method_s(result):
    likelihood = np.exp(result.record.log_likelihood)
    relative = likelihood.std(ddof=1) / math.sqrt(len(likelihood)) / likelihood.mean()
    assert result.status.is_ok and result.log_evidence_se == pytest.approx(relative, rel=1e-3)


def test_a_narrow_likelihood_gets_no_standard_error():
    result = zhat.evidence(zoo.example("E9a").model, PriorMean(n_draws=2000), seed=1, progress=False)
    assert not result.status.is_ok and result.log_evidence_se is None and "SMC" in result.explain()


@pytest.mark.parametrize(("n_draws", "error"), [(99, BadInput), (1000.0, BadType), (True, BadType)])
def test_bad_settings_get_a_sentence(n_draws, error):
    with pytest.raises(error, match=r"PriorMean\(n_draws="):
        PriorMean(n_draws=n_draws)


def test_its_draws_stand_for_the_posterior():
    """They are the prior's, weighted by the likelihood: posterior means from the record are not the prior's."""
    result = zhat.evidence(zoo.example("E1").model, zhat.PriorMean(), seed=1, progress=False)
    other = zhat.evidence(zoo.example("E1").model, zhat.Importance(), seed=1, progress=False)
    found, expected = zhat.latent.marginals(result)["theta"], zhat.latent.marginals(other)["theta"]
    assert abs(found.mean - expected.mean) < 0.05 and abs(expected.mean) > 0.5
