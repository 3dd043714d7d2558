"""Segments and their change points against values computed independently."""

from __future__ import annotations

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.numerics.fields.change_points import change_points
from zhat.zoo.fields import change_points as cases
from zhat.zoo.fields import series


def test_independent_counts():
    found = change_points(cases.poisson_segments(series.COAL), 4)
    np.testing.assert_allclose(found.log_evidence, cases.COAL_INDEPENDENT, atol=1e-6)
    last_year_before = series.COAL_FIRST_YEAR + int(np.argmax(found.places[1][0])) - 1
    assert last_year_before == 1891
    assert found.places[1][0].max() == pytest.approx(0.2383, abs=5e-5)


def test_autoregressive_errors():
    segments = cases.ar_segments(series.AR_CHANGE)
    assert segments[[0, 22, 0], [21, 39, 4]] == pytest.approx([-21.728900, -26.261318, -5.986601], abs=2e-6)
    found = change_points(segments, 2)
    np.testing.assert_allclose(found.log_evidence, cases.AR_ERRORS, atol=2e-6)
    assert np.exp(found.log_sets) == pytest.approx([1, 31, 351])
    assert found.places[1][0][22] == pytest.approx(0.8030, abs=5e-5)


@pytest.mark.slow
def test_walks_within_segments():
    found = change_points(cases.walk_segments(series.COAL, n_states=200, n_nodes=12), 4)
    np.testing.assert_allclose(found.log_evidence, cases.COAL_WALK, atol=0.006)  # a coarse grid; the study uses a finer one


@pytest.mark.slow
def test_walks_within_segments_on_a_fine_grid():
    found = change_points(cases.walk_segments(series.COAL, n_states=400, n_nodes=32), 4)
    np.testing.assert_allclose(found.log_evidence, cases.COAL_WALK, atol=0.0008)
    assert found.log_evidence[0] == pytest.approx(zoo.example("coal-smooth").log_evidence, abs=1e-4)


@pytest.mark.parametrize(
    ("id", "method"),
    [("coal-one-change", "importance"), ("ar-errors", "inla"), pytest.param("ar-errors", "importance", marks=pytest.mark.slow)],
)
def test_as_models(id, method):
    example = zoo.example(id)
    result = zhat.evidence(example.model, method, seed=1, progress=False)
    assert result.status.is_ok
    assert abs(result.log_evidence - example.log_evidence) < 4.0 * result.error + 2e-6
