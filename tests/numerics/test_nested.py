"""Nested sampling sums: exact values, and perfect shrinkage through a problem with a known answer."""

import math

import numpy as np
import pytest

from zhat.numerics.nested import (
    information,
    insertion_rank_z,
    log_evidence,
    log_evidence_se,
    log_volumes,
    nested_log_weights,
    simulated_log_evidences,
    simulated_log_volumes,
    skilling_se,
)

INF = math.inf


def _live_numbers(n_live, n_iterations):
    return np.concatenate([np.full(n_iterations, n_live), np.arange(n_live, 0, -1)])


def test_volumes_by_hand():
    np.testing.assert_allclose(log_volumes([4, 4, 2, 1]), [-0.25, -0.5, -1.0, -2.0], atol=1e-15)
    # u = 1/e makes every log t equal to its expectation
    np.testing.assert_allclose(simulated_log_volumes([4, 4, 2, 1], np.full(4, math.exp(-1))), [-0.25, -0.5, -1.0, -2.0])
    both = simulated_log_volumes([2, 1], [[0.25, 0.5], [1.0, 1.0]])
    np.testing.assert_allclose(np.exp(both), [[0.5, 0.25], [1.0, 1.0]], rtol=1e-15)
    assert np.isfinite(simulated_log_volumes([1], [0.0])).all()


def test_weights_by_hand():
    # X = 1/2, 1/4, 1/8: masses (1/2 + 1/8), (1/8 + 1/16), (1/16 + 1/8)
    masses = np.exp(nested_log_weights(np.log([0.5, 0.25, 0.125])))
    np.testing.assert_allclose(masses, [0.625, 0.1875, 0.1875], rtol=1e-14)
    assert nested_log_weights([-1.0]) == pytest.approx([0.0], abs=1e-15)


def test_masses_sum_to_one():
    live = _live_numbers(25, 500)
    uniforms = np.random.default_rng(0).random((5, live.size))
    for log_x in (log_volumes(live)[None], simulated_log_volumes(live, uniforms)):
        np.testing.assert_allclose(np.exp(nested_log_weights(log_x)).sum(axis=-1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("level", [-1e10, 0.0, 55.5])
def test_constant_likelihood_is_its_own_evidence_without_error(level):
    live = _live_numbers(10, 100)
    log_x = log_volumes(live)
    log_l = np.full(live.size, level)
    assert log_evidence(log_l, log_x) == pytest.approx(level, rel=1e-15, abs=1e-12)
    assert information(log_l, log_x) == pytest.approx(0.0, abs=1e-12)
    assert log_evidence_se(log_l, log_x, live) == 0.0


def test_evidence_and_information_by_hand():
    log_x = np.log([0.5, 0.25, 0.125])
    likelihood = np.array([1.0, 2.0, 8.0])
    z = 0.625 + 2 * 0.1875 + 8 * 0.1875
    assert log_evidence(np.log(likelihood), log_x) == pytest.approx(math.log(z), abs=1e-14)
    p = likelihood * [0.625, 0.1875, 0.1875] / z
    h = float(p @ np.log(likelihood)) - math.log(z)
    assert information(np.log(likelihood), log_x) == pytest.approx(h, abs=1e-14)
    # s_1 = (½(½+¼)·1 + ½(¼+⅛)·6)/z, s_2 = ½(¼+⅛)·6/z, s_3 = 0
    s = np.array([0.375 + 1.125, 1.125, 0.0]) / z
    live = np.array([2.0, 2.0, 3.0])
    assert log_evidence_se(np.log(likelihood), log_x, live) == pytest.approx(math.sqrt(np.sum((s / live) ** 2)), rel=1e-13)
    assert skilling_se(h, 4) == pytest.approx(math.sqrt(h) / 2)


def test_zero_likelihoods_are_counted_and_harmless():
    live = _live_numbers(10, 40)
    log_x = log_volumes(live)
    log_l = np.linspace(-5, 0, live.size)
    log_l[:20] = -INF
    floor = np.where(np.isinf(log_l), -1e300, log_l)
    for function in (log_evidence, information):
        assert function(log_l, log_x) == pytest.approx(function(floor, log_x), abs=1e-13)
    assert log_evidence_se(log_l, log_x, live) == pytest.approx(log_evidence_se(floor, log_x, live), rel=1e-12)
    nothing = np.full(live.size, -INF)
    assert log_evidence(nothing, log_x) == -INF
    assert information(nothing, log_x) == INF
    assert log_evidence_se(nothing, log_x, live) == INF


@pytest.mark.parametrize("offset", [-1e10, 1e10])
def test_information_survives_a_huge_offset(offset):
    live = _live_numbers(20, 200)
    log_x = log_volumes(live)
    log_l = -0.5 * np.exp(2 * log_x / 3) * 100
    assert information(log_l + offset, log_x) == pytest.approx(information(log_l, log_x), abs=1e-4)
    assert log_evidence_se(log_l + offset, log_x, live) == pytest.approx(log_evidence_se(log_l, log_x, live), rel=1e-3)


def test_volumes_below_the_smallest_double():
    # H near 900 nats: X underflows long before the bulk, its logarithm does not.
    live = np.full(30_000, 20.0)
    log_x = log_volumes(live)
    log_l = -0.5 * np.exp(2.0 / 50 * (log_x + 1000.0))
    assert 800 < information(log_l, log_x) < 1100
    assert log_evidence_se(log_l, log_x, live) == pytest.approx(skilling_se(information(log_l, log_x), 20), rel=0.1)


# Gaussian likelihood exp(-r²/(2σ²)) in a unit ball of dimension d under a uniform prior: L(X) is
# exp(-X^(2/d)/(2σ²)) and Z is an incomplete gamma function.
DIMENSION, SIGMA = 5, 0.1


def _log_likelihood(log_x):
    return -np.exp(2.0 * log_x / DIMENSION) / (2.0 * SIGMA**2)


def _truth():
    from scipy.special import gammainc, gammaln

    half = DIMENSION / 2
    return math.log(half) + half * math.log(2 * SIGMA**2) + gammaln(half) + math.log(gammainc(half, 0.5 / SIGMA**2))


def _perfect_run(n_live, rng):
    live = _live_numbers(n_live, 14 * n_live)
    return live, _log_likelihood(simulated_log_volumes(live, rng.random(live.size)))


def test_quadrature_is_exact_for_many_live_points():
    live = _live_numbers(2000, 14 * 2000)
    log_x = log_volumes(live)
    assert log_evidence(_log_likelihood(log_x), log_x) == pytest.approx(_truth(), abs=1e-4)


def test_perfect_runs_are_unbiased_and_all_three_errors_right():
    # 300 runs of n = 50. The scale of each error is known to 1/sqrt(600) = 0.041; the bias to se/sqrt(300).
    rng = np.random.default_rng(1)
    estimates, delta, skilling, simulated = [], [], [], []
    for _ in range(300):
        live, log_l = _perfect_run(50, rng)
        log_x = log_volumes(live)
        estimates.append(log_evidence(log_l, log_x))
        delta.append(log_evidence_se(log_l, log_x, live))
        skilling.append(skilling_se(information(log_l, log_x), 50))
        simulated.append(np.std(simulated_log_evidences(log_l, simulated_log_volumes(live, rng.random((40, live.size))))))
    sd = np.std(estimates, ddof=1)
    z_bias = (np.mean(estimates) - _truth()) / (sd / math.sqrt(300))
    ratios = {name: np.mean(v) / sd for name, v in (("delta", delta), ("skilling", skilling), ("simulated", simulated))}
    print(f"bias z {z_bias:.2f}, sd {sd:.4f}, ratios {ratios}")
    assert abs(z_bias) < 4.5
    for name, ratio in ratios.items():
        assert abs(ratio - 1.0) < 4.5 * 0.041, name


def test_insertion_ranks_by_hand():
    # mean 2 against 1.5, variance 15/12 over 4 ranks
    assert insertion_rank_z([2, 2, 2, 2], 4) == pytest.approx(0.5 / math.sqrt(15 / 12 / 4), rel=1e-14)
    assert insertion_rank_z([0, 1, 2, 3], 4) == 0.0
    assert insertion_rank_z([0, 0], 1) == 0.0
    assert insertion_rank_z([2, 2], [4, 4]) == pytest.approx(insertion_rank_z([2, 2], 4))


@pytest.mark.parametrize("n_live", [2, 3, 10, 100])
def test_uniform_ranks_give_standard_normal_scores(n_live):
    # 1000 scores: rms has sd 1/sqrt(2000) = 0.022. For two live points the discreteness matters: 3/4.
    rng = np.random.default_rng(n_live)
    scores = [insertion_rank_z(rng.integers(0, n_live, size=400), n_live) for _ in range(1000)]
    assert abs(math.sqrt(np.mean(np.square(scores))) - 1.0) < 4.5 * 0.022
    assert abs(np.mean(scores)) < 4.5 / math.sqrt(1000)


def test_points_that_enter_too_low_are_seen():
    rng = np.random.default_rng(0)
    assert insertion_rank_z(np.floor(400 * rng.beta(1, 1.05, size=20_000)), 400) < -4


def test_refusals():
    for call, words in [
        (lambda: log_volumes([3, 0]), "n_live=0.0: the point that dies"),
        (lambda: simulated_log_volumes([3, 3], [0.5]), "one number per dead point, 2 here"),
        (lambda: simulated_log_volumes([3], [1.5]), "uniform numbers lie between 0 and 1"),
        (lambda: nested_log_weights([-1.0, -0.5]), "prior volumes shrink from one"),
        (lambda: nested_log_weights([0.5]), "prior volumes shrink from one"),
        (lambda: nested_log_weights([]), "at least one dead point"),
        (
            lambda: log_evidence([1.0, 0.0], [-1.0, -2.0]),
            r"log_likelihoods\[0\]=1.0 is above log_likelihoods\[1\]=0.0",
        ),
        (lambda: log_evidence([0.0], [-1.0, -2.0]), "log_likelihoods and log_x have shapes"),
        (lambda: log_evidence([math.nan], [-1.0]), r"log_likelihoods\[0\]=nan"),
        (lambda: log_evidence([], []), "log_likelihoods is empty"),
        (lambda: simulated_log_evidences([0.0], [-1.0]), "one row of 1 volumes"),
        (lambda: insertion_rank_z([], 5), "ranks is empty"),
        (lambda: insertion_rank_z([5], 5), "a rank is a whole number from 0 to n_live - 1"),
        (lambda: insertion_rank_z([0.5], 5), "a rank is a whole number"),
        (lambda: skilling_se(-1.0, 5), "nats=-1.0"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
