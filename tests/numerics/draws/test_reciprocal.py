"""One over a mean of weights: exact where the weights are equal, calibrated on normals, and its known variances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from zhat.numerics.draws.reciprocal import BothHalves, one_half, paired_difference, shared_variance


def test_equal_weights_are_exact():
    half = one_half(np.full((2, 10), 3.5))
    assert (half.log_ratio, half.se, half.inside) == (pytest.approx(-3.5), 0.0, 1.0)


def test_weights_of_zero_are_divided_by():
    half = one_half(np.array([[0.0, -np.inf, 0.0, -np.inf], [0.0, 0.0, -np.inf, -np.inf]]))
    assert half.log_ratio == pytest.approx(np.log(2.0))
    assert half.inside == 0.5


def test_no_draw_inside_is_no_answer():
    half = one_half(np.full((2, 10), -np.inf))
    assert half.log_ratio == np.inf and half.ess == 0.0


def log_ellipsoid(d):
    """Log density of the uniform law on the ball of radius sqrt(d + 1)."""
    return -(0.5 * d * np.log(np.pi) - gammaln(0.5 * d + 1.0) + 0.5 * d * np.log(d + 1.0))


@pytest.mark.parametrize(("d", "expected"), [(1, 0.2962), (2, 0.5474), (5, 1.1593), (10, 1.9240)])
def test_the_relative_variance_of_an_ellipsoid(d, expected):
    x = np.random.default_rng(d).standard_normal((400_000, d))
    squared = (x**2).sum(axis=1)
    log_w = np.where(squared <= d + 1, log_ellipsoid(d) + 0.5 * squared + 0.5 * d * np.log(2 * np.pi), -np.inf)
    half = one_half(log_w)
    assert half.se**2 * len(x) == pytest.approx(expected, rel=0.05)
    assert abs(half.log_ratio) < 4.5 * half.se


@pytest.mark.parametrize(("d", "scatter"), [(2, 0.0105), (10, 0.0131)])
def test_a_truncated_normal_has_the_scatter_that_it_states(d, scatter):
    """Fitted on 1000 draws of a standard normal, used on 1000 others, both ways."""
    rng, radius = np.random.default_rng(d), stats.chi2(d).ppf(0.9)

    def log_weight(fit, use):
        mean, covariance = fit.mean(axis=0), np.cov(fit.T)
        gap = use - mean
        inside = np.einsum("ij,ij->i", gap, np.linalg.solve(covariance, gap.T).T) <= radius
        log_phi = stats.multivariate_normal(mean, covariance).logpdf(use) - np.log(0.9)
        return np.where(inside, log_phi - stats.multivariate_normal(np.zeros(d)).logpdf(use), -np.inf)

    one, z = [], []
    for _ in range(200):
        a, b = rng.standard_normal((2, 1000, d))
        shared = shared_variance(log_weight(a[:500], b), log_weight(a[500:], b))
        both = BothHalves(one_half(log_weight(a, b)), one_half(log_weight(b, a)), shared)
        one.append(both.first.log_ratio)
        z.append(both.log_ratio / both.se)
    assert np.std(one) == pytest.approx(scatter, rel=0.2)
    assert 0.86 < np.sqrt(np.mean(np.square(z))) < 1.2


def test_answers_whose_covariance_is_not_known_count_as_correlated_by_one_half():
    half = one_half(np.random.default_rng(1).standard_normal((2, 500)))
    assert BothHalves(half, half).se == pytest.approx(half.se * np.sqrt(0.75))
    assert BothHalves(half, half, 0.0).se == pytest.approx(half.se * np.sqrt(0.5))
    assert BothHalves(half, half, 1.0).se == pytest.approx(half.se * np.sqrt(0.75))


def test_differences_at_the_same_draws_have_their_own_error():
    rng = np.random.default_rng(4)
    gaps, errors = [], []
    for _ in range(200):
        x = rng.standard_normal((2, 500))
        gap, se = paired_difference(0.3 * x, 0.2 * x)
        gaps.append(gap - 0.5 * (0.09 - 0.04))
        errors.append(se)
    assert np.std(gaps) == pytest.approx(np.mean(errors), rel=0.15)
    assert paired_difference([0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4]) == (0.0, 0.0)
