"""Calibration of model probabilities: by hand, on exact probabilities, and on estimators that are wrong on purpose."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2

from zhat.numerics.calibration.model_probabilities import model_calibration


def test_four_data_sets_by_hand():
    """Odds 3 and 1/3: p is 3/4 and 1/4, p (1 - p) is 3/16 throughout, the weighted mean of the log odds is log(3)/2."""
    three = math.log(3.0)
    found = model_calibration([three, three, three, -three], [1, 1, 0, 0], [three, three, -three, -three])
    assert found.marginal == pytest.approx((0.625 - 0.5) / (0.25 / 2.0), abs=1e-12)  # sd of (3, 3, 3, 1)/4 is 1/4
    assert found.intercept == pytest.approx((0.25 + 0.25 - 0.75 - 0.25) / math.sqrt(0.75), abs=1e-12)
    # deviations from log(3)/2: +, +, + half a log 3, and minus one and a half
    slope = (0.25 + 0.25 - 0.75) * 0.5 * three + 0.25 * 1.5 * three
    assert found.slope == pytest.approx(slope / math.sqrt(3 / 16 * (3 * 0.25 + 2.25) * three**2), abs=1e-12)
    score = (3 * math.log(0.75) + math.log(0.25)) / 4 - math.log(0.5)
    assert found.gain == pytest.approx(score, abs=1e-12)
    assert found.exact_gain == pytest.approx(math.log(1.5), abs=1e-12)
    assert found.information == pytest.approx(3 / 16, abs=1e-12)
    assert found.good == pytest.approx(((3.0 + 1 / 3) / 2, 1 / 3), abs=1e-12)


def test_prior_odds_are_part_of_the_odds():
    quarter = math.log(1 / 3)
    found = model_calibration([quarter] * 4, [1, 0, 0, 0], [quarter + 1.0] + [quarter - 1.0] * 3, prior=0.25)
    assert found.marginal == 0.0 and found.intercept == pytest.approx(0.0, abs=1e-12) and found.slope == 0.0
    assert found.gain == pytest.approx(0.0, abs=1e-12) and found.good == pytest.approx((1.0, 1.0))
    assert not found.passed["resolution"]


def test_certainty_overflows_nothing():
    found = model_calibration([800.0, -800.0, 0.0], [1, 0, 1], [800.0, -800.0, 0.0])
    assert np.isfinite([found.marginal, found.intercept, found.slope, found.gain]).all()
    wrong = model_calibration([800.0, -800.0, 0.0, 0.0], [0, 1, 1, 0], [1.0, -1.0, 0.0, 0.0])
    assert not wrong.ok


def simulated(seed: int, m: int = 1000, n: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Exact log odds of a normal mean ~ N(0, 1) against zero from n observations, and which was true."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 2, m)
    mean = drawn * rng.standard_normal(m) + rng.standard_normal(m) / math.sqrt(n)
    return -0.5 * math.log1p(n) + 0.5 * mean**2 * n**2 / (n + 1), drawn


def test_exact_probabilities_pass_and_their_scores_are_standard_normal():
    reports = [model_calibration(odds, drawn, odds) for odds, drawn in map(simulated, range(200))]
    assert all(report.ok for report in reports), [r.sentence() for r in reports if not r.ok]
    for name in ("marginal", "intercept", "slope"):
        z = np.array([getattr(report, name) for report in reports])
        assert chi2.cdf(z @ z, len(z)) == pytest.approx(0.5, abs=0.4999)  # two-sided, one in ten thousand
        assert abs(z.mean()) * math.sqrt(len(z)) < 4.0
    assert all(report.resolution == 1.0 and report.information > 0.12 for report in reports)


@pytest.mark.parametrize(
    ("wrong", "fails"),
    [
        (lambda odds, rng: odds + 0.5, {"marginal", "intercept"}),
        (lambda odds, rng: odds + rng.standard_normal(len(odds)), {"slope"}),
        (lambda odds, rng: 2.0 * odds, {"slope"}),
        (lambda odds, rng: 0.0 * odds, {"resolution"}),
        (lambda odds, rng: -odds, {"slope", "resolution"}),
    ],
    ids=["half a nat too much", "noise of one nat", "twice as sure", "always one half", "the wrong way round"],
)
def test_wrong_estimators_fail_where_they_should(wrong, fails):
    for seed in range(10):
        odds, drawn = simulated(seed)
        report = model_calibration(wrong(odds, np.random.default_rng(1000 + seed)), drawn, odds)
        assert not report.ok and "Not calibrated" in report.sentence()
        assert fails <= {name for name, good in report.passed.items() if not good}


def test_always_one_half_passes_all_the_others():
    odds, drawn = simulated(3)
    report = model_calibration(0.0 * odds, drawn, odds)
    assert [name for name, good in report.passed.items() if not good] == ["resolution"]


@pytest.mark.parametrize(
    ("odds", "drawn", "exact", "prior", "message"),
    [
        ([0.0, math.inf], [0, 1], [0.0, 0.0], 0.5, "log_odds"),
        ([0.0, 1.0], [1, 1], [0.0, 0.0], 0.5, "both of them"),
        ([0.0, 1.0], [0, 2], [0.0, 0.0], 0.5, "zeros and ones"),
        ([0.0, 1.0], [0, 1], [0.0], 0.5, "exact_log_odds"),
        ([0.0, 1.0], [0, 1], [0.0, 0.0], 1.0, "prior=1.0"),
    ],
)
def test_refusals(odds, drawn, exact, prior, message):
    with pytest.raises(ValueError, match=message):
        model_calibration(odds, drawn, exact, prior)
