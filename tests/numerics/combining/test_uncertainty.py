"""Errors of correlated averages and of repeats: by hand, against ArviZ, and against known chains."""

import math

import numpy as np
import pytest
from arviz_stats.base import array_stats
from scipy import stats

from zhat.numerics.combining.uncertainty import combine_repeats, interval, normal_quantile, t_cdf, t_quantile
from zhat.numerics.series import (
    autocovariance,
    batch_count,
    batch_means_se,
    effective_sample_size,
    log_mean_se_correlated,
    newey_west_covariance,
    r_hat,
    spectral_se,
)

INF = math.inf


def _ar(phi, shape, seed):
    """Stationary first-order autoregression of unit variance; ESS of its mean is n (1 - φ)/(1 + φ)."""
    noise = np.random.default_rng(seed).normal(size=shape) * math.sqrt(1 - phi**2)
    x = np.empty(shape)
    x[..., 0] = noise[..., 0] / math.sqrt(1 - phi**2)
    for t in range(1, shape[-1]):
        x[..., t] = phi * x[..., t - 1] + noise[..., t]
    return x


def test_autocovariance_matches_the_definition():
    x = np.random.default_rng(0).normal(size=(3, 17)) + 100.0
    for row, result in zip(x, autocovariance(x), strict=True):
        c = row - row.mean()
        np.testing.assert_allclose(result, [c[: 17 - t] @ c[t:] / 17 for t in range(17)], atol=1e-12)
    assert autocovariance([5.0]).tolist() == [0.0]
    np.testing.assert_allclose(autocovariance([1.0, -1.0]), [1.0, -0.5], atol=1e-15)


def test_autocovariance_refusals():
    with pytest.raises(ValueError, match="at least one value"):
        autocovariance([])
    with pytest.raises(ValueError, match=r"x\[1\]=inf"):
        autocovariance([0.0, INF])


SHAPES = [(1, 100), (2, 37), (4, 1000), (4, 1001), (8, 50)]
CHAINS = [(phi, shape) for shape in SHAPES for phi in (-0.7, 0.0, 0.5)] + [
    (0.95, (4, 1000)),
    (0.95, (4, 1001)),
]


@pytest.mark.parametrize(("phi", "shape"), CHAINS)
def test_ess_and_r_hat_agree_with_arviz(phi, shape):
    x = _ar(phi, shape, seed=shape[1])
    assert effective_sample_size(x) == pytest.approx(float(array_stats.ess(x, method="mean")), rel=1e-9)
    if shape[0] > 1:
        assert r_hat(x) == pytest.approx(float(array_stats.rhat(x, method="rank")), rel=1e-12)
        shifted = x + np.arange(shape[0])[:, None]
        assert r_hat(shifted) == pytest.approx(float(array_stats.rhat(shifted, method="rank")), rel=1e-12)


@pytest.mark.parametrize("n", [50, 200, 600])
def test_ess_of_chains_that_disagree_is_close_to_arviz(n):
    # Here no pair of correlations turns negative. ArviZ then stops three lags before the end and counts
    # its last pair by half; we sum to the end. Everywhere else the two agree to rounding.
    for seed in (*range(10), n):
        x = _ar(0.95, (8, n), seed=seed)
        assert effective_sample_size(x) == pytest.approx(float(array_stats.ess(x, method="mean")), rel=0.1)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_ess_of_an_autoregression(phi):
    # 60 sets of 4 x 2000; the estimate scatters by some 10 %, so its mean by 1.3 %, and is biased by a few.
    ratios = [effective_sample_size(_ar(phi, (4, 2000), seed=s)) for s in range(60)]
    truth = 8000 * (1 - phi) / (1 + phi)
    print(f"phi={phi} mean ESS {np.mean(ratios):.0f} truth {truth:.0f}")
    assert np.mean(ratios) == pytest.approx(truth, rel=0.08)


def test_ess_does_not_depend_on_units():
    x = _ar(0.5, (2, 200), seed=1)
    for a, b in [(1e-200, 0.0), (1e200, 0.0), (1.0, 1e6), (-3.0, 2.0)]:
        assert effective_sample_size(a * x + b) == pytest.approx(effective_sample_size(x), rel=1e-6)


def test_stuck_and_constant_chains_have_defined_values():
    assert effective_sample_size(np.full((4, 100), 3.3)) == 400
    assert effective_sample_size(np.full(5, 0.1)) == 5
    assert r_hat(np.full((4, 100), 3.3)) == 1.0
    apart = np.repeat(np.arange(4.0)[:, None], 100, axis=1)
    assert r_hat(apart) == INF
    assert 0 < effective_sample_size(apart) < 10
    one_stuck = _ar(0.0, (4, 100), seed=0)
    one_stuck[0] = 7.0
    assert r_hat(one_stuck) > 1.1
    assert 0 < effective_sample_size(one_stuck) < 50
    assert r_hat(np.tile([0.0, 1.0], 50)) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8])
def test_short_chains_have_finite_values(n):
    for seed in range(50):
        x = np.random.default_rng(seed).normal(size=(1, n))
        assert 0 < effective_sample_size(x) < INF
        assert 0 < r_hat(x) < INF


def test_r_hat_sees_location_and_scale():
    x = _ar(0.0, (4, 500), seed=2)
    assert r_hat(x) < 1.01
    wide = x * np.array([1.0, 1.0, 1.0, 4.0])[:, None]
    assert r_hat(wide) > 1.05
    trend = x + np.linspace(0, 3, 500)
    assert r_hat(trend) > 1.05


def test_r_hat_ranks_minus_infinity():
    x = _ar(0.0, (4, 500), seed=3)
    x[x < -1.0] = -INF
    assert r_hat(x) < 1.02
    x[x < 1.0] = -INF  # even the median
    assert r_hat(x) < 1.03


def test_chains_are_refused_in_words():
    with pytest.raises(ValueError, match="chains has 3 draws: correlation in time cannot be judged"):
        effective_sample_size([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="one row per chain"):
        effective_sample_size(np.zeros((2, 2, 8)))
    with pytest.raises(ValueError, match=r"chains\[0, 1\]=nan"):
        r_hat([[0.0, math.nan, 1.0, 2.0]])
    with pytest.raises(ValueError, match=r"chains\[1\]=-inf: averages"):
        effective_sample_size([0.0, -INF, 1.0, 2.0])


def test_batch_means_by_hand():
    # n = 10, length 3, three batches of the last nine: means 2, 5, 8, sd 3, se = 3 sqrt(3/10)
    x = np.array([99.0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert batch_count(10) == 3
    assert batch_means_se(x) == pytest.approx(3.0 * math.sqrt(0.3), abs=1e-14)
    assert batch_means_se(np.full(100, 0.1)) == 0.0
    assert batch_count(0) == 0
    with pytest.raises(ValueError, match="x has 2 draws"):
        batch_means_se([1.0, 2.0])


def test_newey_west_matches_the_definition():
    x = _ar(0.5, (2, 60), seed=4).T + np.array([10.0, -5.0])
    c = x - x.mean(axis=0)
    for lag in (0, 1, 7, 59):
        omega = c.T @ c / 60
        for step in range(1, lag + 1):
            gamma = c[step:].T @ c[:-step] / 60
            omega = omega + (1 - step / (lag + 1)) * (gamma + gamma.T)
        result = newey_west_covariance(x, lag)
        np.testing.assert_allclose(result, omega, atol=1e-13)
        assert np.linalg.eigvalsh(result).min() >= -1e-12
    np.testing.assert_allclose(newey_west_covariance(x, 1000), newey_west_covariance(x, 59), atol=1e-13)


def test_newey_west_of_a_constant_and_refusals():
    assert newey_west_covariance(np.ones((50, 2))).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert spectral_se(np.ones(50)) == 0.0
    with pytest.raises(ValueError, match="lag=-1"):
        newey_west_covariance(np.arange(9.0), lag=-1)
    with pytest.raises(ValueError, match="rows in time"):
        newey_west_covariance(np.zeros((5, 2, 2)))
    # a drift gives the longest lag there is, not an error
    assert spectral_se(np.arange(100.0)) > 1.0


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9])
def test_three_routes_to_the_error_of_a_chain_mean(phi):
    # True se of the mean of n = 4096: sqrt((1+φ)/(1-φ)/n). 60 chains; known biases of a few per cent.
    truth = math.sqrt((1 + phi) / (1 - phi) / 4096)
    chains = _ar(phi, (60, 4096), seed=5)
    routes = {
        "ess": np.mean([c.std() / math.sqrt(effective_sample_size(c)) for c in chains]),
        "batch means": np.mean([batch_means_se(c) for c in chains]),
        "spectral": np.mean([spectral_se(c) for c in chains]),
    }
    print(phi, {k: round(v / truth, 3) for k, v in routes.items()})
    for name, value in routes.items():
        assert value == pytest.approx(truth, rel=0.12), name


def test_log_mean_error_by_hand_and_at_the_edges():
    x = _ar(0.5, (4, 100), seed=6)
    w = np.exp(x)
    expected = w.std(ddof=1) / w.mean() / math.sqrt(effective_sample_size(w))
    assert log_mean_se_correlated(x) == pytest.approx(expected, rel=1e-12)
    assert log_mean_se_correlated(x - 1e4) == pytest.approx(expected, rel=1e-9)
    assert log_mean_se_correlated(np.full((2, 10), -812.3)) == 0.0
    assert log_mean_se_correlated(np.full((2, 10), -INF)) == INF
    x[0, :5] = -INF
    assert 0 < log_mean_se_correlated(x) < INF
    with pytest.raises(ValueError, match=r"log_weights_by_chain\[2\]=inf"):
        log_mean_se_correlated([0.0, 0.0, INF, 0.0])


def test_log_mean_error_of_correlated_weights_is_their_spread():
    # 200 repeats of 4 x 500 log-normal weights, sd 0.5, φ = 0.8; sd of the scale is 1/sqrt(400) = 0.05.
    z = []
    for seed in range(200):
        x = 0.5 * _ar(0.8, (4, 500), seed=1000 + seed)
        z.append((np.log(np.mean(np.exp(x))) - 0.125) / log_mean_se_correlated(x))
    scale = math.sqrt(np.mean(np.square(z)))
    print(f"rms z {scale:.3f}")
    assert abs(scale - 1.0) < 4.5 * 0.05


def test_repeats_without_errors_use_their_scatter():
    c = combine_repeats([1.0, 2.0, 3.0, 4.0])
    assert c.mean == 2.5
    assert c.between_sd == pytest.approx(math.sqrt(5 / 3), abs=1e-15)
    assert c.se == c.between_se == pytest.approx(math.sqrt(5 / 12), abs=1e-15)
    assert c.degrees_of_freedom == 3
    assert (c.within_se, c.ratio, c.excess_scatter, c.n_repeats) == (None, None, False, 4)


def test_four_runs_of_a_tenth_combine_to_a_twentieth():
    c = combine_repeats([0.0, 0.1, -0.1, 0.0], [0.1] * 4)
    assert c.se == c.within_se == pytest.approx(0.05, abs=1e-15)
    assert c.degrees_of_freedom == INF
    assert c.ratio == pytest.approx(math.sqrt(0.02 / 3) / 0.1, abs=1e-14)
    assert not c.excess_scatter


def test_repeats_that_scatter_too_much_are_marked():
    c = combine_repeats([0.0, 1.0, -1.0, 0.0], [0.1] * 4)
    assert c.excess_scatter
    assert c.se == c.between_se == pytest.approx(math.sqrt(2 / 3) / 2, abs=1e-15)
    assert c.within_se == pytest.approx(0.05)
    assert c.degrees_of_freedom == 3


def test_repeats_at_the_edges():
    one = combine_repeats([3.0], [0.2])
    assert (one.mean, one.se, one.between_sd, one.degrees_of_freedom) == (3.0, 0.2, None, INF)
    exact = combine_repeats([0.1 + 0.2, 0.3, 0.3], [0.0, 0.0, 0.0])
    assert (exact.se, exact.ratio, exact.excess_scatter) == (0.0, 0.0, False)
    overconfident = combine_repeats([0.0, 1.0], [0.0, 0.0])
    assert overconfident.excess_scatter and overconfident.ratio == INF
    assert overconfident.se == pytest.approx(0.5)
    with pytest.raises(ValueError, match="values has 1 entries and no errors"):
        combine_repeats([1.0])
    with pytest.raises(ValueError, match="values has 0 entries"):
        combine_repeats([])
    with pytest.raises(ValueError, match=r"errors\[1\]=-0.1: a standard error cannot be negative"):
        combine_repeats([1.0, 2.0], [0.1, -0.1])
    with pytest.raises(ValueError, match="values and errors have shapes"):
        combine_repeats([1.0, 2.0], [0.1])
    with pytest.raises(ValueError, match=r"values\[1\]=-inf"):
        combine_repeats([1.0, -INF])


def test_quantiles_match_scipy():
    for p in (1e-6, 0.025, 0.5, 0.975, 1 - 5e-6):
        assert normal_quantile(p) == pytest.approx(stats.norm.ppf(p), abs=1e-12)
        assert t_quantile(p, INF) == normal_quantile(p)
        for df in (1.0, 3.0, 9.0, 400.0):
            assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9, abs=1e-12)
            assert t_cdf(t_quantile(p, df), df) == pytest.approx(p, rel=1e-9)
    assert t_cdf(1.2, INF) == pytest.approx(stats.norm.cdf(1.2), abs=1e-15)


def test_interval_of_four_repeats_uses_318():
    low, high = interval(1.0, 2.0, df=3, level=0.95)
    assert (high - low) / 4.0 == pytest.approx(3.182446305284263, rel=1e-9)
    assert 0.5 * (low + high) == pytest.approx(1.0)
    assert interval(1.0, 0.0) == (1.0, 1.0)
    assert interval(0.0, INF) == (-INF, INF)


def test_impossible_probabilities_are_refused():
    for call, words in [
        (lambda: normal_quantile(1.5), "p=1.5"),
        (lambda: t_quantile(0.5, 0.0), "df=0.0"),
        (lambda: t_cdf(math.nan, 3.0), "x=nan"),
        (lambda: interval(0.0, 1.0, level=1.0), "level=1.0"),
        (lambda: interval(0.0, -1.0), "se=-1.0"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
