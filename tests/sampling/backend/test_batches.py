"""Any number of points is evaluated by programs of one size, or of two for a model with many data."""

import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Model
from zhat.sampling.backend.batches import AT_ONCE, densities_at, gradients_at
from zhat.sampling.target import Tempered

PRIOR = {"m": dist.Normal(0.0, 2.0)}


def model(n_data):
    y = np.linspace(-1.0, 1.0, n_data)
    return Model(lambda p, y: dist.Normal(p["m"], 1.0).log_prob(y).sum(), PRIOR, data=y), y


def exact(m, y):
    return -0.5 * ((y - m) ** 2).sum(axis=1) - 0.5 * y.size * np.log(2 * np.pi)


@pytest.mark.parametrize("n", [0, 1, 7, AT_ONCE, AT_ONCE + 1])
def test_densities_of_any_number_of_points(n):
    of_three, y = model(3)
    points = np.random.default_rng(1).normal(size=(n, 1))
    log_prior, log_likelihood = densities_at(of_three, points)
    np.testing.assert_allclose(log_likelihood, exact(points, y), rtol=1e-12)
    np.testing.assert_allclose(log_prior, -0.125 * points[:, 0] ** 2 - np.log(2.0) - 0.5 * np.log(2 * np.pi), rtol=1e-12)


def test_gradients_of_a_tempered_target():
    of_three, y = model(3)
    points = np.random.default_rng(1).normal(size=(9, 1))
    slope = -0.25 * points + 0.3 * (y - points).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(gradients_at(of_three, points, Tempered(np.float64(0.3))).gradient, slope, rtol=1e-10)


def test_few_points_of_many_data_have_a_block_of_their_own():
    many, y = model(1000)
    points = np.random.default_rng(1).normal(size=(5, 1))
    for small in (False, True):
        np.testing.assert_allclose(densities_at(many, points, small)[1], exact(points, y), rtol=1e-12)
    assert many.core.traces["densities"] == 2
