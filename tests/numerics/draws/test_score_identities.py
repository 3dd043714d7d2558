"""The score identities hold for the draws of a density, and not for others."""

from __future__ import annotations

import numpy as np
import pytest

from zhat.numerics.draws.score_identities import score_test

PRECISION = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, 0.2], [0.0, 0.2, 3.0]])
FACTOR = np.linalg.cholesky(np.linalg.inv(PRECISION))


def normal_draws(seed, n_chains=4, n=1000):
    return np.random.default_rng(seed).standard_normal((n_chains, n, 3)) @ FACTOR.T


def test_right_draws_pass():
    log_p = [score_test(u, -u @ PRECISION).log_p for u in map(normal_draws, range(40))]
    assert min(log_p) > np.log(1e-3)


@pytest.mark.parametrize(
    "change",
    [lambda u: u[..., [1, 0, 2]], lambda u: u + np.array([0.2, 0.0, 0.0]), lambda u: 1.15 * u],
    ids=["swap", "shift", "wide"],
)
def test_other_draws_do_not(change):
    other = change(normal_draws(1))
    test = score_test(other, -other @ PRECISION)
    assert test.log_p < np.log(1e-6) and test.largest > 5.0


def test_the_worst_coordinate_is_named():
    u = normal_draws(2)
    slope = -u @ PRECISION
    slope[..., 2] += 1.0
    assert score_test(u, slope).worst_coordinate == 2


def test_in_many_coordinates_only_their_own_products_are_tested():
    u = np.random.default_rng(3).standard_normal((2, 200, 30))
    test = score_test(u, -u)
    assert test.n_tests == 61 and test.log_p > np.log(1e-3)


def test_draws_that_are_a_little_too_wide_everywhere_show_in_the_sum():
    """A tempered posterior in thirty coordinates: none of them alone is far off."""
    u = np.random.default_rng(5).standard_normal((4, 1000, 30))
    assert score_test(u, -u).log_p > np.log(1e-3)
    wide = score_test(1.03 * u, -1.03 * u)
    each = max(np.abs(wide.slopes).max(), np.nanmax(np.abs(wide.products)))
    assert each < 5.0 < abs(wide.total) and wide.log_p < np.log(1e-6)


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="both are"):
        score_test(np.zeros((3, 4)), np.zeros((3, 4)))
