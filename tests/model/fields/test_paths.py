"""Densities and draws of latent fields against dense Gaussians."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from zhat.model.fields.paths import GraphField, Path

CASES = {
    "independent": (np.zeros(0), 0.7, np.zeros((0, 0))),
    "walk": (np.ones(1), 0.7, 2.0 * np.eye(1)),
    "second-order": (np.array([2.0, -1.0]), 0.3, np.array([[2.0, 0.0], [2.0, 0.5]])),
    "autoregression": (np.array([-0.6]), 0.5, 0.5 / np.sqrt(1 - 0.36) * np.eye(1)),
    "seasonal": (-np.ones(3), 0.4, 1.5 * np.eye(3)),
}


def covariance(n, coefficients, scale, start):
    """The map from noise to path, built step by step; its square is the covariance."""
    p = len(coefficients)
    to_path = np.zeros((n, n))
    to_path[:p, :p] = start
    for t in range(p, n):
        to_path[t] = sum(coefficients[j] * to_path[t - 1 - j] for j in range(p))
        to_path[t, t] += scale
    return to_path @ to_path.T


@pytest.mark.parametrize("case", CASES)
def test_the_density_is_that_of_the_dense_gaussian(case):
    n, x = 7, np.sin(np.arange(7.0))
    with jax.enable_x64(True):
        density = float(Path(n, *CASES[case]).log_prob(jnp.asarray(x)))
    assert density == pytest.approx(multivariate_normal(np.zeros(n), covariance(n, *CASES[case])).logpdf(x), abs=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_draws_have_the_covariance_of_the_density(case):
    with jax.enable_x64(True):
        draws = np.asarray(Path(6, *CASES[case]).sample(jax.random.key(1), (40_000,)))
    exact = covariance(6, *CASES[case])
    whitened = np.linalg.solve(np.linalg.cholesky(exact), draws.T)
    # Entries of a sample covariance of white noise have standard error 1 / 200 (times sqrt 2 on the diagonal).
    assert np.abs(np.cov(whitened) - np.eye(6)).max() < 5.0 * np.sqrt(2.0) / 200.0


def test_the_field_on_a_graph_is_the_dense_gaussian():
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [1, 3]])
    laplacian = np.zeros((4, 4))
    for a, b in edges:
        laplacian[[a, b], [a, b]] += 1.0
        laplacian[[a, b], [b, a]] -= 1.0
    exact = np.linalg.inv((0.8 * laplacian + 0.2 * np.eye(4)) / 0.49)
    x = np.array([0.3, -0.2, 1.0, 0.4])
    with jax.enable_x64(True):
        field = GraphField(edges, *np.linalg.eigh(laplacian), 0.7, 0.8)
        assert float(field.log_prob(jnp.asarray(x))) == pytest.approx(
            multivariate_normal(np.zeros(4), exact).logpdf(x), abs=1e-10
        )
        draws = np.asarray(field.sample(jax.random.key(2), (40_000,)))
    whitened = np.linalg.solve(np.linalg.cholesky(exact), draws.T)
    assert np.abs(np.cov(whitened) - np.eye(4)).max() < 5.0 * np.sqrt(2.0) / 200.0
