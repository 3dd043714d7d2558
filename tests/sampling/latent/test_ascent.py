"""Newton's method with differences, from several starts at once."""

from __future__ import annotations

import numpy as np
import pytest

from zhat.sampling.latent.ascent import ascend


def normal(mean, covariance):
    precision = np.linalg.inv(covariance)
    return lambda x: -0.5 * np.einsum("ni,ij,nj->n", x - mean, precision, x - mean)


@pytest.mark.parametrize("narrow", [1.0, 0.02, 30.0])
def test_a_normal_of_any_width_is_found_with_its_covariance(narrow):
    covariance = narrow**2 * np.array([[1.0, 0.6, 0.1], [0.6, 2.0, 0.0], [0.1, 0.0, 0.5]])
    mean = np.array([0.3, -1.0, 2.0])
    for end in ascend(normal(mean, covariance), np.array([[0.0, 0.0, 0.0], [2.0, 1.0, 3.0]]), np.eye(3)):
        distance = np.linalg.norm(np.linalg.solve(np.linalg.cholesky(covariance), end.place - mean))
        assert distance < 0.05
        np.testing.assert_allclose(end.axes @ end.axes.T, covariance, rtol=1e-5, atol=1e-6 * narrow**2)


def test_two_maxima_are_reached_from_their_sides():
    def two(x):
        return np.logaddexp(-0.5 * ((x[:, 0] - 4.0) / 0.5) ** 2, -0.5 * ((x[:, 0] + 3.0) / 0.8) ** 2 - 1.0)

    right, left = ascend(two, np.array([[2.5], [-1.0]]), np.array([[1.0]]))
    assert right.place[0] == pytest.approx(4.0, abs=0.05) and left.place[0] == pytest.approx(-3.0, abs=0.05)
    assert right.value == pytest.approx(0.0, abs=1e-2) and left.value == pytest.approx(-1.0, abs=1e-2)


def test_an_edge_beyond_which_the_function_has_no_value():
    def edged(x):
        return np.where(x[:, 0] > 0.0, 2.0 * np.log(np.maximum(x[:, 0], 1e-300)) - x[:, 0], -np.inf)

    (end,) = ascend(edged, np.array([[0.4]]), np.array([[1.0]]))
    assert end.place[0] == pytest.approx(2.0, abs=0.1)


def test_a_skewed_function_far_from_its_start():
    """The log of a gamma variable: exponential on one side, flat slope on the other."""
    (end,) = ascend(lambda x: 3.0 * x[:, 0] - np.exp(x[:, 0]), np.array([[-12.0]]), np.array([[1.0]]))
    assert end.place[0] == pytest.approx(np.log(3.0), abs=0.05)
