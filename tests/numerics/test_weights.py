"""Weights: exact arithmetic, zeros counted, and the tail index against ArviZ and known laws."""

import math

import numpy as np
import pytest
from arviz_stats.base import array_stats

from zhat.numerics.weights import Weights, efficiency_elsewhere, pareto_k

INF = math.inf


def test_three_weights_by_hand():
    w = Weights.of(np.log([1.0, 2.0, 3.0]))
    assert w.n_drawn == 3
    assert w.log_mean == pytest.approx(math.log(2.0), abs=1e-15)
    # sd = 1, mean = 2, n = 3
    assert w.log_mean_se == pytest.approx(1.0 / (math.sqrt(3.0) * 2.0), abs=1e-15)
    assert w.ess == pytest.approx(36.0 / 14.0, abs=1e-14)
    assert w.largest_share == pytest.approx(0.5, abs=1e-15)
    assert w.n_zero == 0
    assert w.sd_log == pytest.approx(np.std(np.log([1.0, 2.0, 3.0]), ddof=1), abs=1e-15)
    np.testing.assert_allclose(np.exp(w.normalised()), [1 / 6, 1 / 3, 1 / 2], rtol=1e-14)


def test_zeros_count_the_same_listed_or_not():
    listed = Weights.of([0.0, 1.0, -INF, -INF, -INF])
    missing = Weights.of([0.0, 1.0], n_drawn=5)
    for name in ("log_mean", "log_mean_se", "ess", "largest_share", "n_zero", "sd_log", "pareto_k"):
        assert getattr(listed, name) == pytest.approx(getattr(missing, name), rel=1e-14), name
    assert listed.n_zero == 3
    plain = np.array([1.0, math.e, 0.0, 0.0, 0.0])
    assert listed.log_mean_se == pytest.approx(plain.std(ddof=1) / math.sqrt(5) / plain.mean(), rel=1e-14)


@pytest.mark.parametrize("level", [-1e10, -3.7, 0.0, 812.3])
@pytest.mark.parametrize("n", [2, 10, 1000])
def test_equal_weights_have_no_error(level, n):
    w = Weights.of(np.full(n, level))
    assert w.log_mean == pytest.approx(level, rel=1e-15)
    assert w.log_mean_se == 0.0
    assert w.ess == n
    assert w.pareto_k == -INF
    assert w.sd_log == 0.0
    assert w.largest_share == pytest.approx(1.0 / n)


def test_equal_weights_with_missing_draws_have_a_binomial_error():
    w = Weights.of(np.zeros(30), n_drawn=100)
    assert w.log_mean_se == pytest.approx(math.sqrt(0.7 / 0.3 / 99.0), rel=1e-13)


def test_shifting_the_weights_shifts_only_the_mean():
    rng = np.random.default_rng(3)
    x = rng.normal(size=500)
    a, b = Weights.of(x), Weights.of(x + 1e6)
    assert b.log_mean - 1e6 == pytest.approx(a.log_mean, abs=1e-9)
    assert b.log_mean_se == pytest.approx(a.log_mean_se, rel=1e-8)
    assert b.pareto_k == pytest.approx(a.pareto_k, rel=1e-6)


@pytest.mark.parametrize("values", [[-INF] * 40, []])
def test_all_zero_weights_fail_every_threshold(values):
    w = Weights.of(values, n_drawn=40)
    assert w.log_mean == -INF
    assert w.log_mean_se == INF
    assert w.ess == 0.0
    assert w.pareto_k == INF
    assert w.largest_share == 1.0
    assert w.sd_log == INF
    assert w.n_zero == 40
    with pytest.raises(ValueError, match="All 40 weights are zero"):
        w.normalised()


def test_a_single_draw_tells_no_error():
    w = Weights.of([2.0])
    assert (w.log_mean, w.log_mean_se, w.ess, w.pareto_k) == (2.0, INF, 1.0, INF)


def test_one_weight_that_carries_all():
    w = Weights.of(np.append(np.full(999, -1e10), 0.0))
    assert w.ess == 1.0
    assert w.log_mean_se == pytest.approx(1.0, rel=1e-3)
    assert w.pareto_k == INF
    assert w.largest_share == 1.0


def test_bad_weights_are_refused():
    with pytest.raises(ValueError, match=r"log_weights\[1\]=nan"):
        Weights.of([0.0, math.nan])
    with pytest.raises(ValueError, match=r"log_weights\[0\]=inf: an infinite weight"):
        Weights.of([INF])
    with pytest.raises(ValueError, match="n_drawn=1: 2 weights are listed"):
        Weights.of([0.0, 0.0], n_drawn=1)
    with pytest.raises(ValueError, match="n_drawn=0"):
        Weights.of([])
    with pytest.raises(ValueError, match="one axis"):
        Weights.of([[0.0]])


def test_weights_are_frozen_and_do_not_share_memory():
    x = np.zeros(3)
    w = Weights.of(x)
    x[0] = 5.0
    assert w.log_weights[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        w.log_weights[0] = 1.0


@pytest.mark.parametrize("n", [25, 100, 225, 226, 1000, 5000])
@pytest.mark.parametrize("sd", [0.3, 1.0, 3.0])
def test_tail_index_agrees_with_arviz(n, sd):
    x = np.random.default_rng(n).normal(scale=sd, size=n)
    _, theirs = array_stats.psislw(-x)
    assert pareto_k(x) == pytest.approx(float(theirs), abs=1e-10)


@pytest.mark.parametrize("k", [0.2, 0.5, 0.8, 1.2])
def test_tail_index_of_pareto_draws(k):
    # w = u^-k has tail index k. With 40 repeats of S = 2000 (134 in the tail) the fit scatters by about
    # (1 + k)/sqrt(134) each; shrinkage moves it towards 1/2 by 10/144 of the distance.
    rng = np.random.default_rng(7)
    estimates = [pareto_k(-k * np.log(rng.random(2000))) for _ in range(40)]
    expected = (134 * k + 5.0) / 144
    error = (1.0 + k) / math.sqrt(134 * 40)
    z = (np.mean(estimates) - expected) / error
    print(f"k={k} mean={np.mean(estimates):.4f} expected={expected:.4f} z={z:.2f}")
    assert abs(z) < 4.5


def test_tail_index_of_the_harmonic_mean_is_the_one_of_theory():
    # Normal-normal model: k = τ²/(τ² + s²) for the weights 1/L under the posterior.
    tau, s = 3.0, 1.0
    rng = np.random.default_rng(11)
    posterior_sd = math.sqrt(1.0 / (1.0 / tau**2 + 1.0 / s**2))
    k = np.mean([pareto_k(0.5 * (posterior_sd * rng.normal(size=20_000) / s) ** 2) for _ in range(20)])
    assert k > 0.5
    assert abs(k - tau**2 / (tau**2 + s**2)) < 0.15


def test_tail_index_cannot_be_told_from_few_draws():
    assert pareto_k(np.arange(24.0)) == INF
    assert math.isfinite(pareto_k(np.random.default_rng(0).normal(size=25)))
    assert pareto_k([0.0, 0.1, 0.2], n_drawn=1000) == INF


def test_tail_index_of_bounded_and_tied_tails():
    assert pareto_k(np.append(np.linspace(-3, -1, 900), np.zeros(100))) == -INF
    assert pareto_k(np.zeros(50), n_drawn=1000) == -INF
    # rounding noise around a constant is a constant
    assert pareto_k(-700.0 + 1e-13 * np.random.default_rng(0).normal(size=1000)) == -INF
    assert not math.isnan(pareto_k(np.repeat(np.random.default_rng(1).normal(size=100), 10)))


def test_tail_index_is_never_nan_for_hostile_ranges():
    rng = np.random.default_rng(2)
    for scale in (1e-8, 1.0, 1e2, 1e5, 1e10):
        for n in (30, 300, 3000):
            assert not math.isnan(pareto_k(scale * rng.normal(size=n)))
            assert not math.isnan(pareto_k(scale * rng.normal(size=n), n_drawn=4 * n))


def test_the_error_is_the_spread_of_repeats():
    # Log-normal weights of mean one. With 400 repeats the scale of z is known to 1/sqrt(800).
    rng = np.random.default_rng(5)
    runs = [Weights.of(rng.normal(-0.125, 0.5, size=1000)) for _ in range(400)]
    z = np.array([w.log_mean / w.log_mean_se for w in runs])
    score = (np.sqrt(np.mean(z**2)) - 1.0) * math.sqrt(800)
    print(f"rms z {np.sqrt(np.mean(z**2)):.3f}, score {score:.2f}")
    assert abs(score) < 4.5


def test_the_efficiency_of_another_proposal():
    """Two cells: p = (0.5, 0.5); draws from m = (0.8, 0.2); by hand, q = (0.9, 0.1) has 1 / sum p^2 / q = 0.36."""
    p, m, q = np.array([0.5, 0.5]), np.array([0.8, 0.2]), np.array([0.9, 0.1])
    cell = np.repeat([0, 1], [8, 2])
    found = efficiency_elsewhere(np.log(p / m)[cell], np.log(p)[cell], np.log(q)[cell])
    assert found == pytest.approx(1.0 / (p**2 / q).sum(), rel=1e-12)
    with np.errstate(divide="ignore"):
        nowhere = np.log(np.array([1.0, 0.0]))[cell]
    assert efficiency_elsewhere(np.log(p / m)[cell], np.log(p)[cell], nowhere) == 0.0
