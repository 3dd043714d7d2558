"""Integrals with known values, on a line and in boxes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln

from zhat.numerics.exact.integrals import Integral, log_integral, log_integral_in_box


@pytest.mark.parametrize(("mean", "sd"), [(0.0, 1.0), (3.0, 1e-3), (-20.0, 4.0), (7.77, 1e-6)])
def test_a_normal_density_on_a_line(mean, sd):
    found = log_integral(lambda x: -0.5 * ((x - mean) / sd) ** 2, -60.0, 140.0)
    assert found.agrees
    assert found.log_value == pytest.approx(0.5 * np.log(2 * np.pi) + np.log(sd), abs=1e-9)
    assert found.error < 1e-9


@pytest.mark.parametrize("shape", [0.5, 2.0, 30.0, 5e4])
def test_a_gamma_density_on_the_log_scale(shape):
    found = log_integral(lambda x: shape * x - np.exp(x), -100.0, 30.0)
    assert found.log_value == pytest.approx(float(gammaln(shape)), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_half_normals_with_an_edge_in_a_box(k):
    found = log_integral_in_box(lambda z: -0.5 * np.sum((z - 0.3) ** 2, axis=1), np.zeros(k), np.full(k, 9.0))
    one = np.sqrt(2 * np.pi) * 0.6179114221889526  # Phi(0.3)
    assert found.agrees
    assert found.log_value == pytest.approx(k * np.log(one), abs=max(1e-7, 3 * found.error))


def test_zero_everywhere_is_minus_infinity():
    assert log_integral(lambda x: np.full(len(x), -np.inf), 0.0, 1.0) == Integral(-np.inf, 0.0)
    assert log_integral_in_box(lambda z: np.full(len(z), -np.inf), np.zeros(2), np.ones(2)).log_value == -np.inf


def test_a_kink_is_reported():
    found = log_integral_in_box(lambda z: -500.0 * np.abs(z[:, 0] - np.sqrt(0.5)) - z[:, 1], np.zeros(2), np.ones(2))
    assert found.error > 1e-5
    assert not found.agrees


def test_a_closed_form_has_rounding_only():
    assert Integral.closed_form(-300.0).error == pytest.approx(3e-10)
    assert Integral.closed_form(1.0).plus(2.0).log_value == 3.0
