"""Posterior ordinates from averages over runs: against sums written by hand, and against independent repetitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zhat.numerics.ordinates import ordinates
from zhat.numerics.series import effective_sample_size


def gamma_series(rng, n_points=2, n_chains=4, n_draws=100):
    return np.log(rng.gamma(5.0, size=(n_points, n_chains, n_draws)))


def test_sums_of_log_means_by_hand():
    up = [np.log([[[1.0, 2.0, 3.0, 2.0]], [[4.0, 4.0, 4.0, 4.0]]]), np.log([[[0.5, 1.5, 1.0, 1.0]], [[2.0, 1.0, 1.0, 2.0]]])]
    down = [np.log([[[0.25, 0.75, 0.5, 0.5]], [[0.1, 0.3, 0.2, 0.2]]])]
    found = ordinates(2, up, down)
    expected = [math.log(2.0) + math.log(1.0) - math.log(0.5), math.log(4.0) + math.log(1.5) - math.log(0.2)]
    np.testing.assert_allclose(found.log_density, expected, rtol=0, atol=1e-12)


def test_error_goes_run_by_run_with_numerator_and_divisor_of_one_run_together():
    rng = np.random.default_rng(1)
    up, down = [gamma_series(rng), gamma_series(rng)], [gamma_series(rng), gamma_series(rng)]
    found = ordinates(2, up, down)

    def relative(logs, p):
        return np.exp(logs[p]) / np.exp(logs[p]).mean()

    def variance(x):
        return np.var(x, ddof=1) / effective_sample_size(x)

    for p in range(2):
        runs = [relative(up[0], p), relative(up[1], p) - relative(down[0], p), -relative(down[1], p)]
        assert found.se[p] == pytest.approx(math.sqrt(sum(map(variance, runs))), rel=1e-12)
    first, second = ([relative(up[0], p), relative(up[1], p) - relative(down[0], p), -relative(down[1], p)] for p in range(2))
    gap = math.sqrt(sum(variance(b - a) for a, b in zip(first, second, strict=True)))
    assert found.difference_se[1] == pytest.approx(gap, rel=1e-12)
    assert found.difference_se[0] == 0.0


def test_a_divisor_equal_to_the_numerator_of_its_run_cancels():
    rng = np.random.default_rng(2)
    first, shared, last = gamma_series(rng), gamma_series(rng), gamma_series(rng)
    with_pair, without = ordinates(2, [first, shared], [shared, last]), ordinates(2, [first], [np.zeros((2, 4, 100)), last])
    np.testing.assert_allclose(with_pair.log_density, without.log_density, atol=1e-12)
    np.testing.assert_allclose(with_pair.se, without.se, rtol=1e-9)


def test_size_does_not_matter_and_zero_is_legal():
    rng = np.random.default_rng(3)
    up = gamma_series(rng)
    plain, large = ordinates(2, [up]), ordinates(2, [up + 5e5])
    np.testing.assert_allclose(large.log_density - 5e5, plain.log_density, atol=1e-9)
    np.testing.assert_allclose(large.se, plain.se, rtol=1e-9)
    up[0, :, ::2] = -np.inf
    half = ordinates(2, [up])
    assert np.isfinite(half.log_density).all() and half.se[0] > plain.se[0]
    up[0] = -np.inf
    assert ordinates(2, [up]).log_density[0] == -np.inf


def test_nothing_to_average_is_exact():
    found = ordinates(3, [])
    assert found.log_density.tolist() == [0.0, 0.0, 0.0]
    assert found.se.tolist() == [0.0, 0.0, 0.0]
    assert found.newey_west_se == 0.0


def test_error_of_sticky_chains_is_that_of_repetitions():
    """First-order autoregressions, correlation 0.9: the claimed error against the scatter of 200 repetitions (sd 5 %)."""
    rng = np.random.default_rng(4)
    values, errors = [], []
    for _ in range(200):
        x = np.empty((1, 8, 500))
        x[..., 0] = rng.standard_normal((1, 8))
        for t in range(1, 500):
            x[..., t] = 0.9 * x[..., t - 1] + math.sqrt(1 - 0.81) * rng.standard_normal((1, 8))
        found = ordinates(1, [0.3 * x])
        values.append(found.log_density[0])
        errors.append(found.se[0])
    ratio = math.sqrt(np.mean(np.square(errors))) / np.std(values, ddof=1)
    print("claimed / true", ratio)
    assert 0.8 < ratio < 1.25
