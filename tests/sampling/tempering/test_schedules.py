"""Schedules: the next beta, by effective sample size or from a ladder."""

import numpy as np
import pytest

from zhat.sampling.target import tempered
from zhat.sampling.tempering.schedules import ON_SUPPORT, AdaptiveESS, FixedLadder, PowerLadder

RNG = np.random.default_rng(5)
SHARP = -0.5 * 1e4 * RNG.standard_normal(2000) ** 2
MILD = -0.5 * RNG.standard_normal(2000) ** 2


def ess_share(log_likelihood, step):
    log_weights = step * log_likelihood
    weights = np.where(log_likelihood == -np.inf, 0.0, np.exp(log_weights - log_weights.max()))
    return weights.sum() ** 2 / (weights**2).sum() / len(weights)


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("scale", [1e2, 1e6, 1e12, 1e40])
def test_a_first_step_keeps_the_share_of_effective_draws(fraction, scale):
    log_likelihood = scale * MILD
    beta = AdaptiveESS(fraction).next_beta(log_likelihood, 0.0)
    share = ess_share(log_likelihood, beta)
    print(f"beta {beta:.4g}, share {share:.4f}")
    assert share == pytest.approx(fraction, rel=0.01, abs=0.006) or (beta == 1.0 and share > fraction)


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("beta", [1e-9, 1e-3, 0.4])
def test_a_later_step_keeps_the_share_of_effective_draws(fraction, beta):
    log_likelihood = 1e4 * MILD
    step = AdaptiveESS(fraction).next_beta(log_likelihood, beta) - beta
    assert 0.0 < step < 1.0 - beta
    assert ess_share(log_likelihood, step) == pytest.approx(fraction, rel=0.01, abs=0.006)


@pytest.mark.parametrize("scale", [1e4, 1e17, 1e40])
def test_every_step_climbs(scale):
    # BUG when written: a step below the digits of beta + step is no step, and a path would go on for ever.
    for beta in (0.4, 1.0 - 1e-12):
        assert AdaptiveESS(0.5).next_beta(scale * MILD, beta) > beta


@pytest.mark.parametrize("shift", [-1e10, 1e10])
def test_a_constant_in_the_log_likelihood_does_not_move_the_step(shift):
    plain, shifted = (AdaptiveESS(0.5).next_beta(x, 0.0) for x in (SHARP, SHARP + shift))
    assert shifted == pytest.approx(plain, rel=1e-6)


def test_a_mild_likelihood_goes_straight_to_one():
    assert AdaptiveESS(0.3).next_beta(MILD, 0.0) == 1.0
    assert AdaptiveESS(0.5).next_beta(SHARP, 1.0 - 1e-9) == 1.0


@pytest.mark.parametrize("level", [0.0, -1e10, 1e300])
def test_a_constant_likelihood_goes_straight_to_one(level):
    assert AdaptiveESS(0.9).next_beta(np.full(100, level), 0.0) == 1.0


@pytest.mark.parametrize("zero", [-np.inf, -1e300, -1e100])
def test_impossible_draws_below_the_share_do_not_disturb_the_step(zero):
    log_likelihood = np.concatenate([SHARP[:1600], np.full(400, zero)])
    beta = AdaptiveESS(0.5).next_beta(log_likelihood, 0.0)
    assert ON_SUPPORT < beta < 1.0
    assert ess_share(log_likelihood, beta) == pytest.approx(0.5, abs=0.006)


@pytest.mark.parametrize("zero", [-np.inf, -1e300])
def test_many_impossible_draws_are_left_behind_first(zero):
    log_likelihood = np.concatenate([SHARP[:600], np.full(1400, zero)])
    schedule = AdaptiveESS(0.5)
    beta = schedule.next_beta(log_likelihood, 0.0)
    assert beta == ON_SUPPORT
    assert ess_share(log_likelihood, beta) == pytest.approx(0.3, rel=0.01)
    # On the support, the search goes on as if nothing had been impossible.
    following = schedule.next_beta(SHARP[:600], beta)
    assert ess_share(SHARP[:600], following) == pytest.approx(0.5, abs=0.006)


def test_minus_1e100_used_as_zero_is_left_behind_like_the_others():
    # BUG when written: exp(-1e100 x ON_SUPPORT) = 1/e is neither kept nor left behind, and the root finder raises.
    log_likelihood = np.concatenate([MILD[:600], np.full(1400, -1e100)])
    schedule, beta = AdaptiveESS(0.9), 0.0
    for _ in range(50):
        beta = schedule.next_beta(log_likelihood, beta)
        share = ess_share(log_likelihood, beta)
        if share <= 0.31:
            return
    raise AssertionError(f"still not on the support at beta = {beta}")


def test_one_possible_draw_among_impossible_ones_is_a_step():
    log_likelihood = np.full(100, -np.inf)
    log_likelihood[7] = -3.0
    assert AdaptiveESS(0.5).next_beta(log_likelihood, 0.0) == ON_SUPPORT
    assert AdaptiveESS(0.5).next_beta(np.full(100, -3.0), ON_SUPPORT) == 1.0


def test_a_point_of_zero_likelihood_has_no_density_at_any_beta():
    log_likelihood = np.array([-np.inf, -2.0, -1e300])
    np.testing.assert_array_equal(tempered(np.zeros(3), log_likelihood, 0.5, np), [-np.inf, -1.0, -5e299])
    np.testing.assert_array_equal(tempered(np.zeros(3), log_likelihood, ON_SUPPORT, np)[:2], [-np.inf, -2.0 * ON_SUPPORT])


def climb(schedule):
    betas = [0.0]
    while betas[-1] < 1.0:
        betas.append(schedule.next_beta(MILD, betas[-1]))
        assert len(betas) < 200
    return betas


@pytest.mark.parametrize(("n_rungs", "power"), [(1, 1.0), (10, 1.0), (40, 5.0), (7, 0.5), (100, 3.0)])
def test_a_power_ladder_visits_every_rung(n_rungs, power):
    expected = (np.arange(n_rungs + 1) / n_rungs) ** power
    np.testing.assert_allclose(climb(PowerLadder(n_rungs, power)), expected, rtol=1e-15)


def test_a_fixed_ladder_visits_every_rung():
    rungs = (0.0, 1e-6, 0.1, 0.25, 1.0)
    assert climb(FixedLadder(rungs)) == list(rungs)


@pytest.mark.parametrize(
    ("betas", "message"),
    [
        ((0.0, 0.5, 0.2, 1.0), "increas"),
        ((0.0, 0.5, 0.5, 1.0), "increas"),
        ((0.1, 1.0), "the ladder starts at the prior, beta = 0; put 0.0 in front"),
        ((0.0, 0.9), "the ladder ends at the posterior, beta = 1"),
        ((0.0, 0.5, 1.5), "the ladder ends at the posterior, beta = 1"),
        ((-0.5, 0.0, 1.0), "the ladder starts at the prior"),
        ((0.0, np.nan, 1.0), "nan"),
        ((), "betas has 0 rungs"),
        ((0.0,), "betas has 1 rungs"),
    ],
)
def test_a_ladder_that_is_none_is_refused(betas, message):
    with pytest.raises(ValueError, match=message):
        FixedLadder(betas)


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.5, 1.5, float("nan")])
def test_a_share_must_lie_between_zero_and_one(fraction):
    with pytest.raises(ValueError, match=r"AdaptiveESS\(fraction=.*\): (give a share between 0 and 1|NaN is no setting)"):
        AdaptiveESS(fraction)


def test_a_power_ladder_needs_a_rung_and_a_power():
    for n_rungs, power in ((0, 5.0), (10, 0.0), (10, -1.0)):
        with pytest.raises(ValueError, match="needs at least one rung and a positive power"):
            PowerLadder(n_rungs, power)
