"""Visits to models into odds and errors: by hand, and calibrated on chains of names whose law is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zhat.numerics.visits import disagreement, entries, hotelling, log_odds, mean_over_models, switching_se


def two_states(rng, n_chains, n_moves, a, b):
    """Chains that leave state 0 with probability a and state 1 with b, started from their law."""
    index = np.empty((n_moves, n_chains), np.int64)
    index[0] = rng.random(n_chains) < a / (a + b)
    for t in range(1, n_moves):
        leave = rng.random(n_chains) < np.where(index[t - 1] == 0, a, b)
        index[t] = np.where(leave, 1 - index[t - 1], index[t - 1])
    return index


def visits(index):
    return np.stack([(index == k).sum(axis=0) for k in (0, 1)], axis=1).astype(float)


def test_odds_and_means_by_hand():
    counts = np.array([[30.0, 10.0], [20.0, 20.0]])
    boost = np.array([0.0, math.log(5.0)])
    value, se = log_odds(counts, boost, 0, 1)
    assert value == pytest.approx(math.log(50 / 30) + math.log(5.0), abs=1e-12)
    pull = counts[:, 0] / 50 - counts[:, 1] / 30
    assert se == pytest.approx(math.sqrt(2.0 * np.sum(pull**2)), rel=1e-12)
    mean, _ = mean_over_models(counts, np.log([0.5, 0.5]) - boost, np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert mean == pytest.approx([50 / 56, 6 / 56], abs=1e-12)


def test_a_model_that_was_never_visited_has_no_error():
    assert log_odds(np.array([[3.0, 0.0], [4.0, 0.0]]), np.zeros(2), 0, 1) == (math.inf, math.inf)
    assert switching_se(10, 0, 0, 0) == math.inf


def test_entries_are_counted_from_another_model_only():
    index = np.array([[0, 1], [0, 2], [1, 2], [0, 1]])
    assert entries(index, 3).tolist() == [[1, 1, 0], [0, 1, 1]]


@pytest.mark.parametrize(("a", "b"), [(0.3, 0.3), (0.02, 0.2)])
def test_errors_of_chains_that_remember_are_honest(a, b):
    rng = np.random.default_rng(3)
    z, ratio = [], []
    for _ in range(200):
        index = two_states(rng, 32, 400, a, b)
        n = visits(index)
        value, se = log_odds(n, np.zeros(2), 0, 1)
        z.append((value - math.log(b / a)) / se)
        there, back = ((index[:-1] == 0) & (index[1:] == 1)).sum(), ((index[:-1] == 1) & (index[1:] == 0)).sum()
        ratio.append(switching_se(n[:, 0].sum(), n[:, 1].sum(), there, back) / se)
    # 200 values of a t with 31 degrees of freedom: its standard deviation is 1.03, known to 5 %.
    assert abs(np.mean(z)) < 4.0 / math.sqrt(200)
    assert abs(np.std(z) - 1.03) < 4.0 * 1.03 / math.sqrt(400)
    assert abs(np.mean(ratio) - 1.0) < 0.05


def test_chains_that_agree_are_not_accused_and_stuck_ones_are():
    rng = np.random.default_rng(4)
    chances = []
    for _ in range(200):
        index = two_states(rng, 32, 1000, 0.3, 0.2)
        chances.append(disagreement(np.stack([(index == k).reshape(10, 100, 32).mean(axis=1) for k in (0, 1)], axis=2)))
    assert min(chances) > 1e-4
    assert np.mean(np.array(chances) < 0.5) < 0.7
    stuck = two_states(rng, 32, 1000, 0.0005, 0.0005)
    assert disagreement(np.stack([(stuck == k).reshape(10, 100, 32).mean(axis=1) for k in (0, 1)], axis=2)) < 1e-6


def test_hotelling_is_uniform_under_the_null_and_sees_a_shift():
    rng = np.random.default_rng(5)
    mix = rng.standard_normal((3, 3))
    chances = np.sort([hotelling(rng.standard_normal((20, 3)) @ mix, np.zeros(3))[3] for _ in range(400)])
    assert np.max(np.abs(chances - (np.arange(400) + 0.5) / 400)) < 1.95 / math.sqrt(400)  # Kolmogorov's 0.1 %
    assert hotelling(rng.standard_normal((20, 3)) + 2.0, np.zeros(3))[3] < 1e-4
    still = np.column_stack([rng.standard_normal(20), np.full(20, 0.25)])
    assert hotelling(still, [0.0, 0.25])[1:3] == (1, 19)
    assert hotelling(still, [0.0, 0.2])[3] == 0.0
    with pytest.raises(ValueError, match="independent rows"):
        hotelling(np.zeros((3, 3)), np.zeros(3))
