"""Sums over a ladder against exact answers: a Gaussian likelihood, whose power posteriors can be drawn from directly."""

from __future__ import annotations

import numpy as np
import pytest

from zhat.numerics import tempering
from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.quadrature import corrected_trapezoid, trapezoid

# theta ~ N(0, tau^2), L = exp(-theta^2 / (2 s^2)): Z(b) = (1 + b tau^2 / s^2)^(-1/2).
RATIO = 30.0
BETAS = np.array([0.0, 0.01, 0.05, 0.15, 0.4, 1.0])


def log_z(beta: float) -> float:
    return -0.5 * np.log1p(beta * RATIO)


def draw(rng: np.random.Generator, beta: float, m: int, n: int) -> np.ndarray:
    """Log likelihoods of exact draws: -theta^2 / (2 s^2) with theta^2 ~ tau^2 / (1 + b RATIO) chi^2."""
    return -0.5 * RATIO / (1.0 + beta * RATIO) * rng.standard_normal((m, n)) ** 2


def rungs(seed: int, m: int = 5, n: int = 400) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [draw(rng, beta, m, n) for beta in BETAS]


SUMS = {
    "forward": tempering.forward_stones,
    "reverse": tempering.reverse_stones,
    "bridged": tempering.bridged_stones,
    "thermodynamic": lambda betas, levels: tempering.thermodynamic(betas, levels, corrected=True),
}


def test_sums_are_their_formulas():
    levels = rungs(1)
    steps = np.diff(BETAS)
    forward = sum(log_mean_exp((step * level).ravel()) for step, level in zip(steps, levels, strict=False))
    reverse = -sum(log_mean_exp((-step * level).ravel()) for step, level in zip(steps, levels[1:], strict=True))
    assert tempering.forward_stones(BETAS, levels).value == pytest.approx(forward, abs=1e-12)
    assert tempering.reverse_stones(BETAS, levels).value == pytest.approx(reverse, abs=1e-12)
    means, variances = [level.mean() for level in levels], [level.var() for level in levels]
    assert tempering.thermodynamic(BETAS, levels, False).value == pytest.approx(trapezoid(BETAS, means), abs=1e-12)
    corrected = corrected_trapezoid(BETAS, means, variances)
    assert tempering.thermodynamic(BETAS, levels, True).value == pytest.approx(corrected, abs=1e-12)


def test_the_bridge_solves_its_equation():
    low, high = rungs(2)[2:4]
    step = BETAS[3] - BETAS[2]
    high = high[:2]  # unequal numbers
    ratio = np.exp(tempering.bridged_stones(BETAS[2:4], [low, high]).value)
    s0, s1 = low.size / (low.size + high.size), high.size / (low.size + high.size)
    w0, w1 = np.exp(step * low), np.exp(step * high)
    fixed = np.mean(w0 / (s1 * w0 + s0 * ratio)) / np.mean(1.0 / (s1 * w1 + s0 * ratio))
    assert fixed == pytest.approx(ratio, rel=1e-10)


@pytest.mark.parametrize("name", SUMS)
def test_influences_are_derivatives(name):
    """Of 1,000 copies of every draw, one copy of the first becomes one of the second: the sum moves by their influences."""
    levels = [level[:, :6] for level in rungs(3, m=2, n=6)]
    copies = 1000
    many = [np.tile(level.ravel(), copies)[None] for level in levels]
    total, before = SUMS[name](BETAS, levels), SUMS[name](BETAS, many).value
    for k, influence in enumerate(total.influence):
        assert influence.mean() == pytest.approx(0.0, abs=1e-10)
        changed = [level.copy() for level in many]
        changed[k][0, 0] = changed[k][0, 1]
        first, second = influence.ravel()[:2]
        expected = (second - first) / many[k].size
        assert SUMS[name](BETAS, changed).value - before == pytest.approx(expected, rel=0.02, abs=1e-10)


@pytest.mark.parametrize("name", [name for name in SUMS if name != "thermodynamic"])
def test_stones_are_calibrated_over_many_runs(name):
    """400 runs of 400 independent columns; rms z of 400 leaves 0.847 to 1.159 with probability 1e-5."""
    z = []
    for seed in range(400):
        total = SUMS[name](BETAS, rungs(100 + seed, m=2))
        if name == "reverse":  # reverse weights of a one-dimensional Gaussian have a tail: only its mean can be looked at
            z.append(total.value - log_z(1.0))
            continue
        se, df = tempering.independent_islands_se(total.influence, 400)
        assert df == 399
        z.append((total.value - log_z(1.0)) / se)
    if name == "reverse":
        assert abs(np.mean(z)) < 5 * np.std(z) / 20 + 0.01
    else:
        assert 0.847 < np.sqrt(np.mean(np.square(z))) < 1.159


def test_a_constant_in_the_likelihood_costs_no_digits():
    levels = rungs(4)
    for stones in (tempering.forward_stones, tempering.bridged_stones, tempering.reverse_stones):
        plain, shifted = (stones(BETAS, [level + c for level in levels]).value for c in (0.0, 1e6))
        assert shifted - 1e6 == pytest.approx(plain, abs=1e-8)


def test_zero_likelihoods_at_the_prior_are_left_to_a_stone():
    levels = rungs(5)
    levels[0][:, :100] = -np.inf  # a quarter of the prior is impossible
    total = tempering.with_stones_at_ends(BETAS, levels, tempering.bridged_stones, 1)
    expected = tempering.forward_stones(BETAS[:2], levels[:1]).value + tempering.bridged_stones(BETAS[1:], levels[1:]).value
    assert total.value == pytest.approx(expected, abs=1e-12)
    assert len(total.influence) == len(levels)


def test_without_draws_at_the_end_the_last_step_is_a_stone():
    levels = rungs(6)
    total = tempering.with_stones_at_ends(BETAS, levels[:-1], tempering.forward_stones, 0)
    assert total.value == pytest.approx(tempering.forward_stones(BETAS, levels).value, abs=1e-12)


def test_discretisation_error_is_the_size_of_the_error():
    """With nearly exact moments on a ladder of 12 steps, what is estimated is within a factor of four of what is."""
    betas = (np.arange(13) / 12) ** 3.0
    quantiles = (np.arange(200_000) + 0.5) / 200_000
    from scipy.stats import chi2

    square = chi2.ppf(quantiles, 1)
    levels = [(-0.5 * RATIO / (1.0 + b * RATIO) * square)[:, None] for b in betas]
    for corrected in (False, True):
        error = abs(tempering.thermodynamic(betas, levels, corrected).value - log_z(1.0))
        assert 0.25 < tempering.discretisation_error(betas, levels, corrected) / error < 4.0


def test_the_identity_holds_for_settled_rungs_and_not_for_a_lagging_one():
    betas = np.linspace(0.3, 1.0, 8)
    rng = np.random.default_rng(7)
    levels = [draw(rng, b, 50, 400) for b in betas]
    assert np.abs(tempering.identity_z(betas, levels)).max() < 5.0
    levels[4] = draw(rng, betas[4] - 0.15, 50, 400)
    assert np.abs(tempering.identity_z(betas, levels)).max() > 5.0


def test_three_errors_agree_on_independent_draws():
    total = tempering.forward_stones(BETAS, rungs(8, m=8))
    ancestors = [np.arange(400)] * len(BETAS)
    islands, _ = tempering.independent_islands_se(total.influence, 400)
    genealogical = tempering.genealogical_se(total.influence, ancestors)
    carried = tempering.carried_se(total.influence, np.zeros(len(BETAS)))
    assert genealogical == pytest.approx(islands, rel=1e-2)
    assert carried == pytest.approx(islands, rel=0.15)
    long = tempering.forward_stones(BETAS, rungs(8, m=800, n=4))  # as many draws, in few chains
    assert tempering.within_rungs_se(long.influence) == pytest.approx(islands, rel=0.15)


def test_steep_steps_are_counted_from_the_prior_without_a_gap():
    rng = np.random.default_rng(9)
    levels = [scale * rng.standard_normal((4, 100)) for scale in (1e6, 100.0, 10.0, 9.0, 2.0)]
    assert tempering.steps_of_steep_variance(levels, 3.0) == 2
    levels[0][0, 0] = -np.inf
    assert tempering.steps_of_steep_variance(levels, 3.0) == 2


def test_corrections_that_leave_the_bounds_are_left_to_stones():
    """Nearly all of a curve's rise, and of its variance's fall, within one step of a fine ladder: seen on separated data."""
    rng = np.random.default_rng(10)
    noise = rng.standard_normal((4, 1000))
    betas = np.array([0.0, 0.1, 0.13, 0.8, 1.0])
    levels = [mean + spread * noise for mean, spread in ((-20.0, 12.0), (-9.0, 10.0), (-1.0, 7.0), (-0.03, 0.2), (-0.03, 0.2))]
    assert tempering.steps_corrected_too_far(betas, levels) == 3
    assert tempering.steps_corrected_too_far(betas[3:], levels[3:]) == 0, "flat but for noise"
    levels[0] = levels[0] - np.inf
    assert tempering.steps_corrected_too_far(betas[:3], levels[:3]) == 1, "no mean"


def test_steps_whose_log_likelihood_has_no_mean():
    fine, none = np.zeros((2, 3)), np.array([[0.0, -np.inf, 0.0]] * 2)
    assert tempering.steps_of_zero_likelihood((fine, fine)) == 0
    assert tempering.steps_of_zero_likelihood((none, fine, fine)) == 1
    assert tempering.steps_of_zero_likelihood((none, fine, none, fine)) == 3
    assert tempering.steps_of_zero_likelihood((fine, none)) == 1
