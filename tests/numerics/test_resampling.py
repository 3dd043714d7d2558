"""Resampling: exact indices, no particle of weight zero, unbiased copies."""

import math

import numpy as np
import pytest

from zhat.numerics.resampling import (
    multinomial,
    one_in_columns,
    residual,
    stratified,
    systematic,
    systematic_in_rows,
)

INF = math.inf
LOG_W = np.log([0.1, 0.2, 0.3, 0.4])


def _all_schemes(log_w, uniforms):
    n = len(uniforms)
    return {
        "systematic": systematic(log_w, uniforms[0], n),
        "stratified": stratified(log_w, uniforms),
        "multinomial": multinomial(log_w, uniforms),
        "residual": residual(log_w, uniforms, n),
    }


def test_systematic_by_hand():
    # positions 0.05, 0.15, ..., 0.95 against 0.1, 0.3, 0.6, 1.0
    np.testing.assert_array_equal(systematic(LOG_W, 0.5, 10), [0, 1, 1, 2, 2, 2, 3, 3, 3, 3])


def test_stratified_by_hand():
    # positions (0.9 + 0)/2 = 0.45 and (0.3 + 1)/2 = 0.65
    np.testing.assert_array_equal(stratified(LOG_W, [0.9, 0.3]), [2, 3])


def test_multinomial_by_hand_keeps_the_order_of_the_uniforms():
    np.testing.assert_array_equal(multinomial(LOG_W, [0.95, 0.05, 0.35]), [3, 0, 2])


def test_residual_by_hand():
    # n w = 0.5, 1.0, 1.5, 2.0: keep 1, 2, 3, 3; one copy is left to 0 or 2, half and half
    np.testing.assert_array_equal(residual(LOG_W, [0.4], 5), [1, 2, 3, 3, 0])
    np.testing.assert_array_equal(residual(LOG_W, [0.6], 5), [1, 2, 3, 3, 2])


@pytest.mark.parametrize("shift", [-1e6, 0.0, 1e6])
def test_weights_need_not_be_normalised(shift):
    for indices in _all_schemes(LOG_W + shift, np.full(10, 0.5)).values():
        assert indices.dtype == np.int64
        assert indices.shape == (10,)
    np.testing.assert_array_equal(systematic(LOG_W + shift, 0.5, 10), systematic(LOG_W, 0.5, 10))


@pytest.mark.parametrize("edge", [0.0, 1.0, 1.0 - 2.0**-53])
def test_no_particle_of_weight_zero_is_chosen_at_the_edges(edge):
    rng = np.random.default_rng(0)
    for n in (1, 3, 10, 1000):
        log_w = np.concatenate([[-INF], rng.normal(size=n), [-INF, -INF], rng.normal(size=n), [-INF, -1e10]])
        for name, indices in _all_schemes(log_w, np.full(50, edge)).items():
            assert indices.max() < log_w.size, name
            assert np.exp(log_w[indices]).min() > 0.0, name


def test_equal_weights_are_kept_one_each():
    for n in (3, 7, 49, 1000):
        for u in (0.001, 0.5, 0.999):
            np.testing.assert_array_equal(systematic(np.full(n, -3.3), u, n), np.arange(n))
        np.testing.assert_array_equal(residual(np.full(n, -3.3), [], n), np.arange(n))


def test_one_positive_weight_takes_all():
    for indices in _all_schemes([-INF, 3.0, -INF], np.linspace(0, 1, 9)).values():
        assert indices.tolist() == [1] * 9


def test_nothing_wanted_gives_nothing():
    assert systematic(LOG_W, 0.5, 0).shape == (0,)
    assert stratified(LOG_W, []).shape == (0,)
    assert multinomial(LOG_W, []).shape == (0,)
    assert residual(LOG_W, [], 0).shape == (0,)


def test_copies_are_unbiased():
    # Each scheme: mean copies over 4000 repeats; a multinomial count of n = 10 has variance at most 2.5.
    rng = np.random.default_rng(1)
    totals = {name: np.zeros(4) for name in ("systematic", "stratified", "multinomial", "residual")}
    for _ in range(4000):
        for name, indices in _all_schemes(LOG_W, rng.random(7)).items():
            totals[name] += np.bincount(indices, minlength=4)
    for name, total in totals.items():
        z = (total / 4000 - 7 * np.exp(LOG_W)) / np.sqrt(7 * np.exp(LOG_W) * (1 - np.exp(LOG_W)) / 4000)
        print(name, np.round(z, 2))
        assert np.abs(z).max() < 4.5, name


def test_refusals():
    with pytest.raises(ValueError, match="All 2 weights are zero: there is nothing to resample"):
        systematic([-INF, -INF], 0.5, 3)
    with pytest.raises(ValueError, match="All 0 weights are zero"):
        multinomial([], [0.5])
    with pytest.raises(ValueError, match=r"uniforms\[1\]=1.5: uniform numbers lie between 0 and 1"):
        multinomial(LOG_W, [0.5, 1.5])
    with pytest.raises(ValueError, match=r"log_weights\[0\]=nan"):
        stratified([math.nan], [0.5])
    with pytest.raises(ValueError, match="uniforms holds 0 numbers: 1 of the n=5 copies"):
        residual(LOG_W, [], 5)
    with pytest.raises(ValueError, match="n=-1"):
        systematic(LOG_W, 0.5, -1)


def test_rows_are_resampled_each_by_itself():
    """One search over all rows gives what `systematic` gives row by row, zero weights and odd sizes included."""
    rng = np.random.default_rng(5)
    for k, m, n in ((1, 7, 7), (4, 50, 33), (5, 3, 200)):
        logs = rng.normal(0.0, 3.0, (k, m))
        logs[:, -1] = -np.inf
        logs[0, 0] = -np.inf
        uniforms = rng.random(k)
        expected = [systematic(row, u, n) for row, u in zip(logs, uniforms, strict=True)]
        assert np.array_equal(systematic_in_rows(logs, uniforms, n), expected)
    with pytest.raises(ValueError, match="Row 1"):
        systematic_in_rows(np.array([[0.0, 0.0], [-np.inf, -np.inf]]), [0.5, 0.5], 2)


def test_one_is_drawn_from_each_column_by_its_uniform():
    """The same index as `systematic_in_rows` gives for one draw a row; ends of the unit interval and zero weights included."""
    rng = np.random.default_rng(6)
    for m, n in ((1, 3), (5, 200), (40, 7)):
        logs = rng.normal(0.0, 3.0, (m, n))
        logs[0, 0] = -np.inf if m > 1 else 0.0
        uniforms = rng.random(n)
        assert np.array_equal(one_in_columns(np.exp(logs), uniforms), systematic_in_rows(logs.T, uniforms, 1)[:, 0])
    weights = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0]])
    assert one_in_columns(weights, [0.0, 0.0]).tolist() == [1, 0]
    assert one_in_columns(weights, [1.0, 1.0]).tolist() == [1, 0]
    with pytest.raises(ValueError, match="Column 1"):
        one_in_columns([[1.0, 0.0], [1.0, 0.0]], [0.5, 0.5])
