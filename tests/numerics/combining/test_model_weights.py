"""Posterior model probabilities: by hand, by simulation, and averaged quantities with their standard errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zhat.numerics.combining.model_weights import average_over_models, difference_df, probabilities, simulated_probabilities


def test_probabilities_by_hand():
    found = probabilities([math.log(0.2) - 1e4, math.log(0.6) - 1e4, -np.inf], [0.5, 0.25, 0.25])
    np.testing.assert_allclose(found, [0.1 / 0.25, 0.15 / 0.25, 0.0], rtol=1e-11)


def test_a_prior_probability_of_zero_stays_zero():
    assert probabilities([0.0, 1e5], [1.0, 0.0]).tolist() == [1.0, 0.0]


def test_prior_and_evidences_are_read_in_pairs():
    with pytest.raises(ValueError, match="read in pairs"):
        probabilities([0.0, 1.0], [1.0])


def test_simulated_probabilities_have_the_spread_of_the_log_odds():
    """The log odds of two models with equal evidences have the standard deviation sqrt(s1^2 + s2^2)."""
    rng = np.random.default_rng(1)
    drawn = simulated_probabilities([0.0, 0.0], [0.3, 0.4], [math.inf, math.inf], [0.5, 0.5], rng, 40_000)
    log_odds = np.log(drawn[:, 0] / drawn[:, 1])
    assert log_odds.std() == pytest.approx(0.5, rel=4 / math.sqrt(2 * 40_000))
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0, rtol=1e-12)


def test_few_degrees_of_freedom_have_heavier_tails():
    rng = np.random.default_rng(2)
    normal, student = (
        np.log(np.divide(*simulated_probabilities([0.0, 0.0], [1.0, 1e-9], [df, math.inf], [0.5, 0.5], rng, 40_000).T))
        for df in (math.inf, 4.0)
    )
    assert np.mean(np.abs(student) > 3.0) > 5 * np.mean(np.abs(normal) > 3.0)


def test_degrees_of_freedom_of_a_difference_are_welch_s():
    assert difference_df((1.0, 1.0), (10.0, 10.0)) == pytest.approx(20.0)
    assert difference_df((1.0, 0.0), (7.0, 3.0)) == pytest.approx(7.0)
    assert difference_df((1.0, 1.0), (math.inf, math.inf)) == math.inf


def test_an_average_over_models_by_hand():
    mean, se = average_over_models([1.0, 3.0], [0.25, 0.75], [0.1, 0.2], [0.01, 0.02])
    assert mean == pytest.approx(2.5)
    expected = (0.25 * 0.1 * 1.5) ** 2 + (0.75 * 0.2 * 0.5) ** 2 + (0.25 * 0.01) ** 2 + (0.75 * 0.02) ** 2
    assert se == pytest.approx(math.sqrt(expected), rel=1e-12)


def test_a_model_without_a_standard_error_counts_only_where_it_is_negligible():
    assert np.isnan(average_over_models([1.0, 3.0], [0.5, 0.5], [np.nan, 0.1])[1])
    mean, se = average_over_models([np.nan, 3.0], [1e-4, 1.0 - 1e-4], [np.nan, 0.1])
    assert np.isfinite(mean) and np.isfinite(se)
