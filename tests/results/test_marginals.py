"""Posterior marginals from weighted draws."""

from __future__ import annotations

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.latent import marginals
from zhat.results.marginals import weighted_quantiles


def test_quantiles_of_equal_weights_are_those_of_the_sample():
    values = np.random.default_rng(1).standard_normal(4001)
    found = weighted_quantiles(values, np.full(4001, 1 / 4001), [0.025, 0.5, 0.975])
    # Weights cumulated to the middle of each draw's share are Hazen's definition, not NumPy's default; four thousand sums round.
    np.testing.assert_allclose(found, np.quantile(values, [0.025, 0.5, 0.975], method="hazen"), atol=1e-10)


def test_repeated_values_count_once():
    found = weighted_quantiles(np.array([2.0, 1.0, 2.0, 3.0]), np.array([0.25, 0.25, 0.25, 0.25]), [0.5])
    assert found[0] == 2.0


def test_of_a_conjugate_model_and_refusals():
    result = zhat.evidence(zoo.example("E1").model, "importance", seed=1, progress=False)
    found = marginals(result)["theta"]
    y = np.asarray(zoo.example("E1").model.data)
    precision = len(y) + 0.25
    assert found.mean == pytest.approx(y.sum() / precision, abs=0.02)
    assert found.sd == pytest.approx(precision**-0.5, rel=0.03)
    with pytest.raises(BadType, match="Evidence"):
        marginals("result")
    import dataclasses

    with pytest.raises(BadInput, match="no draws"):
        marginals(dataclasses.replace(result, record=None))
