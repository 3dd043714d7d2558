"""The highest points of every shell, whatever the profile of the density from the centre outwards."""

import numpy as np
import pytest

from zhat.numerics.shells import SHELL, high_for_distance


@pytest.mark.parametrize("profile", [np.square, np.sqrt, lambda r: 1e6 * r], ids=["normal", "heavy", "steep"])
def test_a_second_peak_is_high_for_its_distance(profile):
    rng = np.random.default_rng(1)
    x = rng.uniform(-10.0, 10.0, (16_384, 2))
    other = np.hypot(*(x - [6.0, 3.0]).T) < 0.5
    value = np.where(other, -profile(5.0), -profile(np.hypot(*x.T)))
    value[other] += 1e-3 * rng.random(other.sum())
    assert other.sum() > 20 and high_for_distance(value, np.hypot(*x.T), 1 / 16)[other & (np.hypot(*x.T) > 5.2)].all()


def test_the_share_is_that_of_every_shell():
    distance = np.random.default_rng(2).permutation(8 * SHELL).astype(float)
    high = high_for_distance(-distance, distance, 1 / 16)
    assert high.sum() == 8 * SHELL // 16
    shells = (distance[high] // SHELL).astype(int)
    assert (np.bincount(shells) == SHELL // 16).all()


@pytest.mark.parametrize("n", [0, 1, 3])
def test_few_points_are_one_shell(n):
    assert high_for_distance(np.arange(n, dtype=float), np.ones(n), 1 / 16).sum() == min(n, 1)
