"""Evidences of linear models under proper priors, against densities written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from zhat import zoo
from zhat.numerics.exact.normal_linear import RawSums, conjugate, independent


def raw(x, y):
    best = np.linalg.lstsq(x, y, rcond=None)[0]
    return RawSums(len(y), x.T @ x, best, float(np.sum((y - x @ best) ** 2)))


@pytest.fixture(scope="module")
def small():
    rng = np.random.default_rng(4)
    x = np.stack([np.ones(7), rng.normal(size=7)], axis=1)
    return x, x @ [1.0, -2.0] + rng.normal(size=7)


def test_the_conjugate_evidence_is_a_multivariate_t_density(small):
    x, y = small
    mean, precision, a, b = np.array([0.5, -1.0]), np.array([0.1, 2.0]), 2.5, 1.5
    shape = (np.eye(7) + x @ np.diag(1 / precision) @ x.T) * b / a
    expected = stats.multivariate_t(x @ mean, shape, df=2 * a).logpdf(y)
    assert conjugate(raw(x, y), mean, precision, a, b).log_value == pytest.approx(expected, abs=1e-10)


def test_the_independent_evidence_is_an_integral_of_normal_densities(small):
    x, y = small
    mean, scale = np.array([0.5, -1.0]), np.array([3.0, 1.0])

    def at(sigma):
        return stats.multivariate_normal(x @ mean, sigma**2 * np.eye(7) + x @ np.diag(scale**2) @ x.T).pdf(y)

    expected = np.log(integrate.quad(lambda s: at(s) * stats.expon.pdf(s, scale=2.0), 0, 60, epsabs=0, epsrel=1e-10)[0])
    found = independent(raw(x, y), mean, scale, lambda s: stats.expon.logpdf(s, scale=2.0), 1.0)
    assert found.log_value == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("data", ["friel_wyse", "williams1959"])
@pytest.mark.parametrize("covariate", ["density", "adjusted_density"])
def test_pine(covariate, data):
    table = zoo.load(f"radiata_pine_{data}")
    x = np.stack([np.ones(42), table[covariate] - table[covariate].mean()], axis=1)
    mean = np.array([3000.0, 185.0])
    sums = raw(x, table["strength"])
    exact = conjugate(sums, mean, np.array([0.06, 6.0]), 3.0, 180_000.0)
    assert exact.log_value == pytest.approx(zoo.pine(covariate, data, "review").log_evidence, abs=1e-9)

    def of_sigma(sigma):
        return stats.gamma.logpdf(sigma**-2.0, 3.0, scale=1 / 180_000.0) + np.log(2.0) - 3.0 * np.log(sigma)

    found = independent(sums, mean, np.array([1000.0, 100.0]), of_sigma, 300.0)
    assert found.log_value == pytest.approx(zoo.pine(covariate, data, "green_ohagan").log_evidence, abs=1e-9)
