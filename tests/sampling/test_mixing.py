"""When points have forgotten their start, and when more moves would not help."""

import numpy as np
import pytest

from zhat.errors import BadInput
from zhat.sampling.mixing import BETWEEN_RUNGS, Moves, Stalling, centred, correlations, decorrelated, ranks, within_threshold
from zhat.sampling.tuning import tuning_of


def test_equal_values_share_their_rank():
    np.testing.assert_array_equal(ranks(np.array([3.0, 1.0, 3.0, 2.0])), [2.5, 0.0, 2.5, 1.0])
    np.testing.assert_array_equal(ranks(np.array([0.3, 0.1, 0.2])), [2.0, 0.0, 1.0])


def test_slow_forgetting_is_not_taken_for_separate_modes():
    """In a hundred dimensions a point forgets with a time of about 170 moves; in separate modes nothing more is forgotten."""
    moves = Moves(correlation=0.15, at_once=4, at_most=400)
    slow = [float(np.exp(-4.0 * call / 170.0)) for call in range(1, 81)]
    assert not any(decorrelated(slow[:n], 0.1, moves, within_threshold(100)) for n in range(1, len(slow) + 1))
    assert decorrelated([0.8] * 15, 0.1, moves, within_threshold(100)), "modes"
    assert not decorrelated([0.8] * 15, 0.3, moves, within_threshold(100)), "the likelihood's rank is remembered still"
    assert decorrelated([0.8] * 5, 0.1, moves, within_threshold(10))
    assert decorrelated([0.14], 0.14, moves, within_threshold(100))


def test_rungs_wait_for_eight_moves_without_a_change():
    moves = Moves(correlation=0.2, at_once=4, at_most=40)
    assert BETWEEN_RUNGS.back(4) == 3 and BETWEEN_RUNGS.back(5) == 3 and Stalling(calls=3, moves=50).back(4) == 14
    assert not decorrelated([], 0.0, moves, BETWEEN_RUNGS)
    assert not decorrelated([0.8, 0.8, 0.8], 0.1, moves, BETWEEN_RUNGS)
    assert decorrelated([0.8, 0.8, 0.8, 0.8], 0.1, moves, BETWEEN_RUNGS)
    assert not decorrelated([0.9, 0.8, 0.7, 0.6], 0.1, moves, BETWEEN_RUNGS)


def test_correlations_are_those_of_the_start_with_the_present():
    rng = np.random.default_rng(0)
    tuning = tuning_of(np.zeros(2), np.diag([4.0, 1.0]), 1.0)
    start, value = rng.standard_normal((500, 2)), rng.standard_normal(500)
    now = np.stack([0.6 * start[:, 0] + 0.8 * rng.standard_normal(500), rng.standard_normal(500)], axis=1)
    largest, memory = correlations(centred(tuning, start, value), centred(tuning, now, -value))
    assert largest == pytest.approx(np.corrcoef(start[:, 0], now[:, 0])[0, 1])
    assert memory == 0.0, "a negative correlation remembers nothing"
    constant = centred(tuning, np.ones((500, 2)), np.full(500, -np.inf))
    assert correlations(constant, constant) == (0.0, 0.0)


def test_bad_moves_are_refused():
    with pytest.raises(BadInput, match="correlation"):
        Moves(correlation=0.0)
    with pytest.raises(BadInput, match="at_most"):
        Moves(at_once=5, at_most=4)
