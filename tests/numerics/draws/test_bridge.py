"""The bridge's root, its variance and the mean of both ways, against numbers computed by other routes (50 digits; bisection)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from zhat.numerics.draws import bridge
from zhat.numerics.draws.bridge import BothWays, bridge_root, bridge_variances, one_way

A1 = np.array([0.3, -0.2, 0.9, 0.1, -0.6, 0.5, 1.4, -0.1])
A2 = np.array([-0.4, 0.2, -1.3, 0.6, 0.0, -2.1, 0.8, -0.7])
A2_ZEROS = np.concatenate([A2[:-2], [-np.inf, -np.inf]])
B1 = np.array([0.0, 0.7, -0.5, 1.1, 0.2, 0.4])
B2 = np.array([-1.0, 0.3, -0.2, 0.9, -2.5, 0.1, 0.6, -0.8, -1.7, 0.0])

VECTORS = [
    (A1, A2, 0.5, -0.0125084724206585, 0.205333830046, 0.203217577969),
    (A1 - 1000.0, A2 - 1000.0, 0.5, -1000.01250847242, 0.205333830046, 0.203217577969),
    (A1, A2_ZEROS, 0.5, -0.352967127126123, 0.315112887040, 0.307685057503),
    (B1, B2, 6.0 / 16.0, -0.0196942286874230, 0.204364644720, 0.202277783665),
    (B1, B2, 3.2 / 13.2, -0.0265460155202327, 0.212348745619, 0.210011690214),
]


def terms(l1, l2, share, root):
    a, b = np.exp(l2 - root), np.exp(l1 - root)
    return a / (share * a + 1.0 - share), 1.0 / (share * b + 1.0 - share)


@pytest.mark.parametrize(("l1", "l2", "share", "log_ratio", "delta", "lognormal"), VECTORS)
def test_known_roots_and_errors(l1, l2, share, log_ratio, delta, lognormal):
    root = bridge_root(l1, l2, share)
    assert root == pytest.approx(log_ratio, abs=1e-10)
    left, right = terms(l1, l2, share, root)
    assert left.mean() == pytest.approx(right.mean(), abs=1e-12)
    with np.errstate(divide="ignore"):
        s2 = sum(bridge_variances(np.log(left), np.log(right), len(l1)))
    assert math.sqrt(s2) == pytest.approx(delta, abs=1e-10)
    assert math.sqrt(math.log1p(s2)) == pytest.approx(lognormal, abs=1e-10)


def test_the_root_does_not_depend_on_the_start():
    for start in (-50.0, 0.0, 3.0, 400.0):
        assert bridge_root(A1, A2, 0.5, start) == pytest.approx(-0.0125084724206585, abs=1e-10)


def test_a_poor_overlap_is_bisected():
    l1, l2 = np.full(50, 30.0) + np.linspace(0, 1, 50), np.full(50, -30.0) + np.linspace(0, 1, 50)
    root = bridge_root(l1, l2, 0.5)
    left, right = terms(l1, l2, 0.5, root)
    assert np.log(left.mean()) == pytest.approx(np.log(right.mean()), abs=1e-9)


def test_no_overlap_at_all_has_a_root_and_no_meaning():
    rng = np.random.default_rng(0)
    way = one_way(900.0 + rng.standard_normal((2, 200)), -900.0 + rng.standard_normal(400))
    assert math.isfinite(way.log_ratio) and way.overlap == 0.0 and way.largest > 1e300 and math.isfinite(way.se)


def test_equal_ratios_are_exact():
    way = one_way(np.full((2, 50), -7.25), np.full(100, -7.25))
    assert (way.log_ratio, way.se, way.overlap) == (pytest.approx(-7.25, abs=1e-12), 0.0, pytest.approx(1.0))
    assert BothWays(way, way).joint_errors_apart == 0.0


@pytest.mark.parametrize(
    ("proposal", "expected"),
    [
        (stats.norm(0.1, 1.1), 0.026752),
        (stats.norm(0.5, 1.5), 0.419020),
        (stats.t(5), 0.072164),
        (stats.norm(3.0, 1.0), 16.279605),
    ],
)
def test_the_variance_of_the_optimal_bridge(proposal, expected):
    """N RE^2 = (1/I - 1) / (s1 s2) by quadrature, and by the sums over many draws."""
    rng, n = np.random.default_rng(1), 200_000
    x, y = rng.standard_normal(n), proposal.rvs(n, random_state=rng)
    way = one_way(stats.norm.logpdf(x) - proposal.logpdf(x), stats.norm.logpdf(y) - proposal.logpdf(y))
    assert 2 * n * (way.left + way.right) == pytest.approx(expected, rel=0.05)
    assert abs(way.log_ratio) < 4.5 * way.se


@pytest.mark.parametrize(("d", "scatter"), [(2, 0.0016), (10, 0.0054)])
def test_errors_of_a_fitted_normal_are_honest_both_ways(d, scatter):
    """Standard normal in d dimensions, a normal fitted on 1000 draws, bridged to 1000 others with 1000 proposals."""
    rng = np.random.default_rng(d)

    def way(fit, use):
        q = stats.multivariate_normal(fit.mean(axis=0), np.cov(fit.T))
        p = stats.multivariate_normal(np.zeros(d))
        y = q.rvs(len(use), random_state=rng)
        return one_way(p.logpdf(use) - q.logpdf(use), p.logpdf(y) - q.logpdf(y))

    one, z = [], []
    for _ in range(200):
        a, b = rng.standard_normal((2, 1000, d))
        both = BothWays(way(a, b), way(b, a))
        one.append(both.first.log_ratio)
        z.append(both.log_ratio / both.se)
    assert np.std(one) == pytest.approx(scatter, rel=0.2)
    assert 0.8 < np.sqrt(np.mean(np.square(z))) < 1.2


def test_draws_of_another_density_show_in_the_odds():
    """The log odds of draws of p rise by one with the log ratio; exchanged they fall, and draws of q on both sides leave them level."""
    rng = np.random.default_rng(3)
    p, q = stats.norm(0.0, 1.0), stats.norm(0.5, 1.3)
    x, y = p.rvs(4000, random_state=rng), q.rvs(4000, random_state=rng)

    def ratio(v):
        return p.logpdf(v) - q.logpdf(v)

    right, exchanged = one_way(ratio(x), ratio(y)), one_way(ratio(y), ratio(x))
    level = one_way(ratio(q.rvs(4000, random_state=rng)), ratio(y))
    assert abs(right.odds_z) < 4.0 and abs(exchanged.odds_z) > abs(level.odds_z) > 4.0
    assert abs(one_way(ratio(0.5 * x), ratio(y)).odds_z) > 4.0  # too narrow


@pytest.mark.parametrize("zeros", [False, True])
def test_the_largest_score_of_the_odds_is_that_of_five(zeros):
    rng = np.random.default_rng(4)
    p, q = stats.norm(0.0, 1.0), stats.t(4, 0.4, 1.1)
    z = []
    for _ in range(400):
        x, y = p.rvs((4, 500), random_state=rng), q.rvs(2000, random_state=rng)
        x = np.abs(x) if zeros else x
        at_proposal = np.where((y < 0.0) & zeros, -np.inf, p.logpdf(y) - q.logpdf(y))
        z.append(abs(one_way(p.logpdf(x) - q.logpdf(x), at_proposal).odds_z))
    assert stats.norm.sf(max(z)) * 2.0 * 5.0 * len(z) > 0.001 and 1.0 < np.median(z) < 1.75  # of five independent ones 1.52


def test_what_cannot_be_bridged_is_refused():
    with pytest.raises(ValueError, match="density zero"):
        bridge_root(A1, np.full(5, -np.inf), 0.5)
    with pytest.raises(ValueError, match="share"):
        bridge_root(A1, A2, 1.0)
    with pytest.raises(ValueError, match="posterior"):
        bridge_root(np.array([0.0, -np.inf]), A2, 0.5)


def test_the_score_from_exponentials_is_the_one_from_logs():
    rng = np.random.default_rng(5)
    l1, l2 = 3.0 * rng.standard_normal(500) + 1.0, 3.0 * rng.standard_normal(700) - 1.0
    l2[::7] = -np.inf
    plain = bridge._PlainScore.of(l1, l2, 0.3)
    for c in (-20.0, 0.0, 5.0):
        assert abs(plain.at(c) - bridge._score(l1, l2, 0.3, c)) < 1e-13
    assert bridge._PlainScore.of(l1 + 301.0, l2, 0.3) is None and bridge._PlainScore.of(l1, l2 - 400.0, 0.3) is None
