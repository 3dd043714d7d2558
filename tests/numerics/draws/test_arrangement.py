"""Draws arranged as chains or otherwise: exchanged axes and interleaved chains show, chains as they should be do not."""

from __future__ import annotations

import numpy as np
import pytest

from zhat.numerics.draws.arrangement import echo, likeness_of_neighbours


def chains(seed, n_chains=4, n_draws=1000, d=3, rho=0.7):
    """Stationary autoregressions with correlation rho."""
    rng = np.random.default_rng(seed)
    x = np.empty((n_chains, n_draws, d))
    x[:, 0] = rng.standard_normal((n_chains, d))
    for t in range(1, n_draws):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1.0 - rho**2) * rng.standard_normal((n_chains, d))
    return x


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.7, 0.99])
def test_chains_have_no_echo_and_no_likeness(rho):
    assert max(echo(chains(seed, rho=rho)).z for seed in range(20)) < 6.0
    assert max(likeness_of_neighbours(chains(seed, 100, 20, rho=rho)).z for seed in range(20)) < 5.0


def test_chains_that_stand_still_have_no_likeness():
    rng = np.random.default_rng(1)
    still = rng.standard_normal((200, 1, 2)) + 1e-6 * rng.standard_normal((200, 30, 2))
    assert likeness_of_neighbours(still).z < 5.0


def test_exchanged_axes_are_alike_as_successive_draws_are():
    found = likeness_of_neighbours(chains(2).swapaxes(0, 1))
    assert found.z > 20.0 and abs(found.correlation - 0.7) < 0.1


@pytest.mark.parametrize("n_chains", [4, 32])
def test_interleaved_chains_have_an_echo_at_their_number(n_chains):
    found = echo(chains(3, n_chains).swapaxes(0, 1).reshape(1, -1, 3))
    assert found.lag == n_chains and found.z > 20.0 and abs(found.correlation - 0.7) < 0.1


def test_two_outliers_are_no_echo():
    x = chains(4, 1, 4000, 1, rho=0.0)
    x[0, [100, 900]] = 1e6
    assert echo(x).z < 6.0


def test_short_and_constant_series_have_none():
    assert echo(np.zeros((3, 5, 1))).z == 0.0
    assert echo(np.ones((3, 100, 1))).z < 8.0  # ranks of ties are those of their order
