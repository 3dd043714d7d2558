"""Bayes factors of linear models under g-priors, against direct integration and published examples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from zhat.numerics.exact.g_priors import Block, Sums, base_root, log_bf_blocks, log_bf_fixed_g, log_bf_one_g


def sums_of(n=40, p=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) @ np.triu(np.ones((p, p)))
    y = x @ np.linspace(0.5, 0.0, p) + rng.normal(size=n)
    x, y = x - x.mean(axis=0), y - y.mean()
    return Sums(n, float(y @ y), x.T @ y, x.T @ x), x, y


@pytest.mark.parametrize(("n", "p", "r2", "scale"), [(20, 1, 0.2, 0.35), (50, 3, 0.3, 1.0), (200, 8, 0.9, 0.5)])
def test_one_g_is_the_integral_of_liang_et_al(n, p, r2, scale):
    def density(g):
        prior = stats.invgamma.logpdf(g, 0.5, scale=scale**2 * n / 2)
        return np.exp(
            prior + 0.5 * (n - 1 - p) * np.log1p(g) - 0.5 * (n - 1) * np.log1p(g * (1 - r2)) - log_bf_fixed_g(n - 1, p, r2, n)
        )

    value = integrate.quad(lambda s: density(np.exp(s)) * np.exp(s), -20, 60, limit=500, points=[0.0, np.log(n)])[0]
    expected = np.log(value) + log_bf_fixed_g(n - 1, p, r2, n)
    assert log_bf_one_g(n, n - 1, p, r2, scale).log_value == pytest.approx(float(expected), abs=1e-7)


def test_a_fixed_g_is_the_ratio_of_two_multivariate_t_densities():
    sums, x, y = sums_of()
    n, g = sums.n, 7.0
    basis = np.linalg.svd(np.eye(n) - 1.0 / n)[0][:, : n - 1]  # of what is orthogonal to the intercept
    z, design = basis.T @ y, basis.T @ x
    shape = np.eye(n - 1) + g * design @ np.linalg.solve(sums.xx, design.T)
    ratio = -0.5 * np.linalg.slogdet(shape)[1] - 0.5 * (n - 1) * np.log(z @ np.linalg.solve(shape, z) / (z @ z))
    _, r2 = sums.least_squares()
    assert float(log_bf_fixed_g(n - 1, 3, r2, g)) == pytest.approx(ratio, abs=1e-9)


def test_blocks_with_one_g_are_the_same_integral():
    sums, _, _ = sums_of()
    whole = log_bf_blocks(sums, (Block((0, 1, 2), 0.5, by_covariance=True),))
    # The same by the general path: whitened columns as a factor's contrasts.
    root = base_root(sums, (Block((0, 1, 2), 0.5, by_covariance=True),))
    white = Sums(sums.n, sums.yy, root.T @ sums.xy, root.T @ sums.xx @ root)
    assert log_bf_blocks(white, (Block((0, 1, 2), 0.5, by_covariance=False),)).log_value == pytest.approx(
        whole.log_value, abs=1e-8
    )


def test_two_g_are_an_average_over_both():
    sums, _, _ = sums_of(n=25, p=2, seed=3)
    blocks = (Block((0,), 0.5, by_covariance=False), Block((1,), 0.3, by_covariance=True))
    found = log_bf_blocks(sums, blocks)
    rng = np.random.default_rng(1)
    g = np.stack([b.scale**2 / rng.standard_normal(40_000) ** 2 for b in blocks], axis=1)
    root = base_root(sums, blocks)
    xx, xy = root.T @ sums.xx @ root, root.T @ sums.xy
    half = np.sqrt(g)
    matrix = np.eye(2) + half[:, :, None] * xx * half[:, None, :]
    c = half * xy
    left = sums.yy - np.einsum("mi,mi->m", c, np.linalg.solve(matrix, c[:, :, None])[:, :, 0])
    log_b = -0.5 * np.linalg.slogdet(matrix)[1] - 0.5 * sums.df * np.log(left / sums.yy)
    b = np.exp(log_b - found.log_value)
    z = (b.mean() - 1.0) / (b.std() / np.sqrt(len(b)))
    assert abs(z) < 4.0


def test_no_columns_no_evidence():
    sums = Sums(10, 1.0, np.zeros(0), np.zeros((0, 0)))
    assert log_bf_blocks(sums, ()).log_value == 0.0
    assert log_bf_one_g(10, 9, 0, 0.0, 1.0).log_value == 0.0


def test_a_hundred_thousand_rows_neither_overflow_nor_lose_digits():
    found = log_bf_one_g(100_000, 99_999, 20, 0.99, 0.35)
    assert found.agrees
    assert np.isfinite(found.log_value)
