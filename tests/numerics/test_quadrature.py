"""Quadrature along the ladder, on a model whose moments are known at every power."""

import math

import numpy as np
import pytest

from zhat.numerics.quadrature import (
    check_ladder,
    corrected_trapezoid,
    riemann_bounds,
    trapezoid,
    trapezoid_weights,
)

# One normal observation y with standard deviation 1, prior N(0, τ²): the power posterior is normal
# with precision 1/τ² + β, so the mean and variance of log L are closed forms.
TAU, Y = 3.0, 1.3


def _moments(beta):
    variance = 1.0 / (1.0 / TAU**2 + beta)
    miss = Y - variance * beta * Y
    mean = -0.5 * math.log(2 * math.pi) - 0.5 * (variance + miss**2)
    return mean, 0.5 * variance**2 + variance * miss**2


TRUTH = -0.5 * math.log(2 * math.pi * (1 + TAU**2)) - 0.5 * Y**2 / (1 + TAU**2)


def _ladder(n, power=5.0):
    betas = np.linspace(0, 1, n + 1) ** power
    means, variances = np.array([_moments(b) for b in betas]).T
    return betas, means, variances


def test_weights_by_hand():
    np.testing.assert_allclose(trapezoid_weights([0.0, 0.1, 0.5, 1.0]), [0.05, 0.25, 0.45, 0.25], atol=1e-16)
    assert trapezoid_weights([0.0, 1.0]).tolist() == [0.5, 0.5]


def test_trapezoid_is_exact_for_lines_and_corrected_for_cubics():
    betas = np.array([0.0, 0.2, 0.7, 1.0])
    assert trapezoid(betas, 3 * betas - 1) == pytest.approx(0.5, abs=1e-15)
    # f = β³, V = f' = 3β²: the corrected rule integrates cubics exactly
    assert corrected_trapezoid(betas, betas**3, 3 * betas**2) == pytest.approx(0.25, abs=1e-15)
    assert corrected_trapezoid(betas, betas**3 - betas, 3 * betas**2) == pytest.approx(-0.25, abs=1e-15)


def test_truth_lies_between_the_riemann_sums_and_the_correction_helps():
    for n in (5, 10, 20):
        betas, means, variances = _ladder(n)
        lower, upper = riemann_bounds(betas, means)
        assert lower <= TRUTH <= upper
        plain, better = trapezoid(betas, means), corrected_trapezoid(betas, means, variances)
        print(f"n={n} trapezoid {plain - TRUTH:+.5f} corrected {better - TRUTH:+.5f}")
        assert abs(better - TRUTH) < abs(plain - TRUTH) / 4
        assert 0.5 * (lower + upper) == pytest.approx(plain, abs=1e-13)


def test_an_infinite_first_mean_is_carried_not_hidden():
    assert trapezoid([0.0, 0.5, 1.0], [-math.inf, -2.0, -1.0]) == -math.inf
    assert riemann_bounds([0.0, 0.5, 1.0], [-math.inf, -2.0, -1.0]) == (-math.inf, -1.5)


def test_ladder_is_checked_in_words():
    assert check_ladder([0, 0.5, 1]).tolist() == [0.0, 0.5, 1.0]
    for betas, words in [
        ([0.1, 1.0], r"betas\[0\]=0.1: the ladder starts at the prior"),
        ([0.0, 0.9], r"betas\[1\]=0.9: the ladder ends at the posterior"),
        ([0.0, 0.5, 0.5, 1.0], r"betas\[1\]=0.5, betas\[2\]=0.5: the powers must increase strictly"),
        ([1.0, 0.0], "the powers must increase strictly"),
        ([0.0], "an integral needs two ends"),
        ([0.0, math.nan, 1.0], r"betas\[1\]=nan"),
        ([0.0, math.inf], r"betas\[1\]=inf"),
    ]:
        with pytest.raises(ValueError, match=words):
            check_ladder(betas)


def test_mismatched_and_impossible_values_are_refused():
    with pytest.raises(ValueError, match=r"betas and means have shapes \(2,\) and \(3,\)"):
        trapezoid([0.0, 1.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"variances\[1\]=-1.0: it cannot be negative"):
        corrected_trapezoid([0.0, 1.0], [1.0, 2.0], [1.0, -1.0])
    with pytest.raises(ValueError, match=r"means\[0\]=nan"):
        trapezoid([0.0, 1.0], [math.nan, 2.0])
