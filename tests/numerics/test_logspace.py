"""Sums in logs: exact values, both infinities, and no warnings."""

import math
import warnings

import numpy as np
import pytest

from zhat.numerics.logspace import (
    log1m_exp,
    log_add_exp,
    log_diff_exp,
    log_mean_exp,
    log_sum_exp,
    running_log_sum_exp,
)

INF = math.inf


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_sum_of_one_two_three_is_six():
    assert log_sum_exp(np.log([1.0, 2.0, 3.0])) == pytest.approx(math.log(6.0), abs=1e-15)


@pytest.mark.parametrize("shift", [-1e300, -1e10, -1e4, 0.0, 1e4, 1e10])
def test_shifting_the_terms_shifts_the_sum(shift):
    assert log_sum_exp(np.array([0.0, 0.0]) + shift) == pytest.approx(shift + math.log(2.0), rel=1e-15)


def test_minus_infinity_is_a_zero_term():
    assert log_sum_exp([-INF, 1.5, -INF]) == 1.5
    assert log_sum_exp([-INF, -INF]) == -INF
    assert log_sum_exp([]) == -INF
    assert log_sum_exp([-1e300, 0.0]) == 0.0


def test_plus_infinity_makes_the_sum_infinite():
    assert log_sum_exp([INF, -INF, 5.0, 1e4]) == INF
    assert log_mean_exp([INF, 0.0]) == INF


def test_sum_over_axes_matches_sums_of_rows():
    x = np.array([[0.0, -INF, 3.0], [-INF, -INF, -INF]])
    np.testing.assert_allclose(log_sum_exp(x, axis=1), [math.log(1.0 + math.exp(3.0)), -INF], rtol=1e-15)
    np.testing.assert_allclose(log_sum_exp(x, axis=0), [0.0, -INF, 3.0], rtol=1e-15)
    assert log_sum_exp(x, axis=(0, 1)) == pytest.approx(log_sum_exp(x))
    assert isinstance(log_sum_exp(x), float)
    assert log_sum_exp(np.empty((2, 0)), axis=1).tolist() == [-INF, -INF]


def test_mean_divides_by_the_zeros_too():
    assert log_mean_exp([0.0, -INF, -INF, -INF]) == pytest.approx(-math.log(4.0), abs=1e-15)
    np.testing.assert_allclose(log_mean_exp([[0.0, -INF], [-INF, -INF]], axis=-1), [-math.log(2.0), -INF])
    assert log_mean_exp(np.zeros((3, 4)), axis=(0, 1)) == 0.0


def test_mean_of_nothing_is_refused():
    with pytest.raises(ValueError, match="mean of no terms is undefined"):
        log_mean_exp([])
    with pytest.raises(ValueError, match="mean of no terms is undefined"):
        log_mean_exp(np.empty((2, 0)), axis=1)


def test_nan_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"x\[1, 0\]=nan: not a number"):
        log_sum_exp([[0.0, 1.0], [math.nan, 2.0]])
    with pytest.raises(ValueError, match="x=nan"):
        log1m_exp(math.nan)


@pytest.mark.parametrize(
    ("x", "truth"),
    [
        (0.0, -INF),
        (-1e-300, math.log(1e-300)),
        (-1e-10, math.log(1e-10) - 0.5e-10),
        (-math.log(2.0), -math.log(2.0)),
        (-50.0, -math.exp(-50.0)),
        (-800.0, 0.0),
        (-INF, 0.0),
    ],
)
def test_log_of_one_minus_exp_at_both_ends(x, truth):
    assert log1m_exp(x) == pytest.approx(truth, rel=1e-15)


def test_log_of_one_minus_exp_of_arrays_and_refusal():
    np.testing.assert_allclose(log1m_exp(np.log([0.25, 0.75])), np.log([0.75, 0.25]), rtol=1e-15)
    with pytest.raises(ValueError, match=r"x=0.5: 1 - exp\(x\) is negative"):
        log1m_exp(0.5)


def test_difference_undoes_the_sum():
    assert log_diff_exp(math.log(5.0), math.log(3.0)) == pytest.approx(math.log(2.0), abs=1e-15)
    assert log_diff_exp(1e6 + math.log(5.0), 1e6 + math.log(3.0)) == pytest.approx(1e6 + math.log(2.0), rel=1e-15)


def test_difference_with_infinities():
    assert log_diff_exp(2.0, 2.0) == -INF
    assert log_diff_exp(-INF, -INF) == -INF
    assert log_diff_exp(2.0, -INF) == 2.0
    assert log_diff_exp(INF, 2.0) == INF
    np.testing.assert_array_equal(log_diff_exp(np.array([1.0, -INF]), -INF), [1.0, -INF])


def test_difference_refuses_the_wrong_order():
    with pytest.raises(ValueError, match="the larger number comes first"):
        log_diff_exp(1.0, 2.0)
    with pytest.raises(ValueError, match="two infinite numbers"):
        log_diff_exp(INF, INF)


def test_running_sum():
    np.testing.assert_allclose(running_log_sum_exp([-INF, 0.0, -INF, math.log(2.0)]), [-INF, 0.0, 0.0, math.log(3.0)], rtol=1e-15)
    assert running_log_sum_exp([]).shape == (0,)
    assert running_log_sum_exp([-INF, -INF]).tolist() == [-INF, -INF]
    with pytest.raises(ValueError, match="one axis is expected"):
        running_log_sum_exp([[0.0]])


def test_the_sum_of_two_is_that_of_numpy():
    rng = np.random.default_rng(1)
    a, b = rng.normal(scale=300.0, size=(2, 4000))
    b[:2000] = a[:2000] + rng.normal(size=2000)
    np.testing.assert_allclose(log_add_exp(a, b), np.logaddexp(a, b), rtol=0.0, atol=2e-13)
    nothing = np.array([-np.inf, -np.inf, 3.0])
    other = np.array([-np.inf, 2.0, -np.inf])
    np.testing.assert_array_equal(log_add_exp(nothing, other), [-np.inf, 2.0, 3.0])
