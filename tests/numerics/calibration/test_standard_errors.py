"""The gate itself: its printed limits, one honest estimator that passes and three that must not."""

import math

import numpy as np
import pytest
from scipy import stats

from zhat.numerics.calibration.standard_errors import (
    Run,
    bias_multiplier,
    gate,
    hits50_window,
    hits95_minimum,
    rms_z_window,
    standard_score,
)
from zhat.numerics.series import effective_sample_size
from zhat.numerics.weights import Weights

INF = math.inf


def _normal_runs(n, seed, claimed=1.0, shift=0.0, df=INF, se=0.1):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=n) if math.isinf(df) else rng.standard_t(df, size=n)
    return [Run(5.0 + se * (x + shift), claimed * se, df) for x in noise]


@pytest.mark.parametrize(
    ("n", "window", "hits95", "hits50", "multiplier"),
    [(100, (0.703, 1.324), 84, (28, 72), 4.66), (400, (0.847, 1.159), 359, (156, 244), 4.47)],
)
def test_limits_are_the_printed_ones(n, window, hits95, hits50, multiplier):
    assert tuple(round(edge, 3) for edge in rms_z_window(n)) == window
    assert hits95_minimum(n) == hits95
    assert hits50_window(n) == hits50
    assert round(bias_multiplier(n), 2) == multiplier


@pytest.mark.parametrize("n", [2, 20, 77, 1000])
def test_limits_have_the_stated_false_alarm_rate(n):
    low, high = rms_z_window(n)
    assert stats.chi2.cdf(n * low**2, n) == pytest.approx(5e-6, rel=1e-6)
    assert stats.chi2.sf(n * high**2, n) == pytest.approx(5e-6, rel=1e-6)
    assert stats.binom.cdf(hits95_minimum(n) - 1, n, 0.95) < 1e-5
    assert stats.binom.cdf(hits95_minimum(n), n, 0.95) >= 1e-5
    fewest, most = hits50_window(n)
    assert stats.binom.cdf(fewest - 1, n, 0.5) < 5e-6 <= stats.binom.cdf(fewest, n, 0.5)
    assert most == n - fewest
    assert stats.t.sf(bias_multiplier(n), n - 1) == pytest.approx(5e-6, rel=1e-6)


@pytest.mark.parametrize("df", [INF, 3.0, 9.0])
@pytest.mark.parametrize("n", [100, 400])
def test_honest_errors_pass(n, df):
    report = gate(_normal_runs(n, seed=n, df=df), 5.0)
    print(report.sentence())
    assert report.ok, report.sentence()
    assert report.n_counted == report.n_runs == n
    assert report.flagged_share == 0.0
    assert report.median_se == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("runs", "failing"),
    [
        (_normal_runs(400, 1, claimed=0.5), {"scale", "coverage95", "coverage50"}),
        (_normal_runs(400, 2, claimed=2.0), {"scale", "coverage50"}),
        (_normal_runs(400, 3, claimed=8.0), {"scale", "coverage50", "usefulness"}),
        (_normal_runs(400, 4, shift=0.6), {"bias"}),
    ],
)
def test_dishonest_errors_fail_where_they_should(runs, failing):
    report = gate(runs, 5.0)
    print(report.sentence())
    failed = {name for name, good in report.passed.items() if not good}
    assert failing <= failed
    assert not report.ok
    assert report.sentence().startswith("Not calibrated")
    assert [row[0] for row in report.rows()] == list(report.passed)


def test_scores_go_through_the_reported_law():
    assert standard_score(Run(1.0, 0.5), 2.0) == 2.0
    assert standard_score(Run(1.0, 0.5, df=9), 2.0) == pytest.approx(stats.norm.ppf(stats.t.cdf(2.0, 9)), rel=1e-12)
    assert standard_score(Run(2.0, 0.5, df=9), 1.0) == pytest.approx(-standard_score(Run(1.0, 0.5, df=9), 2.0))
    far = standard_score(Run(0.0, 1.0, df=30), 40.0)
    assert 10 < far < 40
    assert standard_score(Run(0.0, 1.0, df=1e9), 1e4) == INF
    with pytest.raises(ValueError, match="se=None"):
        standard_score(Run(0.0, None), 1.0)


def test_exact_answers_count_as_zero():
    assert standard_score(Run(1.0, 0.0), 1.0 + 1e-10) == 0.0
    assert standard_score(Run(1.0, 0.0), 1.1) == INF
    exact = gate([Run(5.0 + 1e-14 * (i % 3), 0.0) for i in range(100)], 5.0)
    assert exact.ok, exact.sentence()
    wrong = gate([Run(5.1, 0.0)] * 100, 5.0)
    assert wrong.n_silent == 100
    assert not wrong.passed["silence"] and not wrong.passed["bias"] and not wrong.passed["scale"]


def test_flagged_runs_are_counted_apart():
    runs = _normal_runs(400, 5)
    bad = [Run(-INF, None, ok=False), Run(99.0, 0.01, ok=False), Run(5.0, None)] * 3
    report = gate(runs + bad, 5.0)
    assert report.n_counted == 400
    assert report.flagged_share == pytest.approx(9 / 409)
    assert report.ok, report.sentence()
    assert not gate(runs + bad * 8, 5.0).passed["flags"]
    assert gate(runs + bad * 8, 5.0, flag_limit=0.2).ok


def test_one_silent_failure_is_enough():
    report = gate([*_normal_runs(400, 6), Run(5.65, 0.1)], 5.0)
    assert report.n_silent == 1
    assert [name for name, good in report.passed.items() if not good] == ["silence"]


def test_a_method_that_always_withholds_does_not_pass():
    report = gate([Run(5.0, None)] * 50, 5.0)
    assert report.n_counted == 0
    assert not report.ok
    assert "nan" in report.sentence()
    assert not gate([Run(5.0, 0.1)], 5.0).ok


def test_refusals():
    with pytest.raises(ValueError, match="runs is empty"):
        gate([], 0.0)
    with pytest.raises(ValueError, match="truth=-inf"):
        gate([Run(0.0, 0.1)], -INF)
    with pytest.raises(ValueError, match="log_evidence=nan with ok=True"):
        Run(math.nan, 0.1)
    with pytest.raises(ValueError, match=r"se=-1\.0"):
        Run(0.0, -1.0)


# The gate on estimators: guides/reliability.md, section 5, item 3.


def _mean_of_lognormal_weights(seed, factor=1.0):
    w = Weights.of(np.random.default_rng(seed).normal(-0.5, 1.0, size=2000))
    return Run(w.log_mean, factor * w.log_mean_se)


def _chain(seed, phi, n=2000):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=n) * math.sqrt(1 - phi**2)
    x = np.empty(n)
    x[0] = rng.normal()
    for t in range(1, n):
        x[t] = phi * x[t - 1] + noise[t]
    return 0.5 * x - 0.125


def _correlated(seed, honest):
    log_w = _chain(seed, phi=0.9)
    w = Weights.of(log_w)
    stretch = math.sqrt(w.n_drawn / effective_sample_size(np.exp(log_w))) if honest else 1.0
    return Run(w.log_mean, stretch * w.log_mean_se)


def _harmonic_mean(seed, ratio=10.0):
    """Normal-normal model, y = 0, s = 1, prior sd `ratio`; exact posterior draws; naive delta error."""
    posterior_sd = 1.0 / math.sqrt(1.0 + ratio**-2)
    theta = posterior_sd * np.random.default_rng(seed).normal(size=1000)
    reciprocal = Weights.of(0.5 * math.log(2 * math.pi) + 0.5 * theta**2)
    return Run(-reciprocal.log_mean, reciprocal.log_mean_se)


HARMONIC_TRUTH = -0.5 * math.log(2 * math.pi * 101.0)


def test_the_right_estimators_pass():
    good = gate([_mean_of_lognormal_weights(s) for s in range(400)], 0.0)
    print(good.sentence())
    assert good.ok, good.sentence()
    honest = gate([_correlated(s, honest=True) for s in range(400)], 0.0)
    print(honest.sentence())
    assert honest.ok, honest.sentence()


@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.parametrize(
    ("estimator", "truth"),
    [
        (lambda s: _correlated(s, honest=False), 0.0),
        (_harmonic_mean, HARMONIC_TRUTH),
        (lambda s: _mean_of_lognormal_weights(s, factor=0.5), 0.0),
    ],
    ids=["independent-error-on-a-chain", "harmonic-mean", "half-the-error"],
)
def test_the_wrong_estimators_fail(estimator, truth, n):
    report = gate([estimator(s) for s in range(n)], truth)
    print(report.sentence())
    assert not report.ok
    assert not report.passed["scale"]
    assert not report.passed["coverage95"]


def test_exactly_the_allowed_share_of_flags_passes():
    rng = np.random.default_rng(5)
    runs = [Run(float(0.1 * z), 0.1) for z in rng.standard_normal(95)] + [Run(math.nan, None, ok=False)] * 5
    assert gate(runs, 0.0).passed["flags"]
    assert not gate([*runs[:-6], *[Run(math.nan, None, ok=False)] * 6], 0.0).passed["flags"]
