"""Functions of single coordinates: normal ones are left alone, skewed and heavy ones become normal, slopes are derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from zhat.numerics.draws.marginals import normal_marginals


@pytest.fixture(scope="module")
def draws():
    """A normal, the log of a gamma (skewed), a t of five degrees of freedom, and a coordinate that does not vary."""
    rng = np.random.default_rng(1)
    n = 4000
    return np.column_stack([rng.normal(3.0, 2.0, n), np.log(rng.gamma(0.7, 1.0, n)), rng.standard_t(5, n), np.full(n, 7.0)])


def test_skewed_and_heavy_marginals_become_normal(draws):
    found = normal_marginals(draws)
    y, _ = found.forward(draws)
    assert (found.skew[0], found.tail[0]) == (0.0, 1.0)
    assert np.abs(stats.skew(draws[:, :3])).max() > 1.0 and np.abs(stats.skew(y[:, :3])).max() < 0.15
    assert np.abs(stats.kurtosis(y[:, :3])).max() < 0.35 < 2.0 < np.abs(stats.kurtosis(draws[:, :3])).max()
    assert np.isfinite(y).all()


def test_the_slope_is_the_derivative(draws):
    found, step = normal_marginals(draws), 1e-6
    x = draws[:50]
    upper, lower = (found.forward(x + sign * step)[0] for sign in (1, -1))
    assert found.forward(x)[1] == pytest.approx(np.log((upper - lower) / (2.0 * step)).sum(axis=1), abs=1e-6)
