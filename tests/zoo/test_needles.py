"""The traps of the default: their evidences by a second route."""

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.stats import gamma, norm

from zhat import zoo
from zhat.zoo import needles


def test_the_funnel_by_adaptive_quadrature():
    def integrand(v):
        return norm.pdf(v, 0.0, 3.0) * (2.0 * norm.cdf(30.0, 0.0, np.exp(0.5 * v)) - 1.0) ** 9

    total = quad(integrand, -10.0, 10.0, limit=400, points=[0.0, 5.0, 7.0])[0]
    assert zoo.example("flat-funnel").log_evidence == pytest.approx(np.log(total) - np.log(20.0) - 9.0 * np.log(60.0), abs=1e-9)
    assert zoo.example("flat-funnel").log_evidence == pytest.approx(-39.8775, abs=1e-4)


def test_tied_data_by_quadrature_over_both_parameters():
    """One tied pair as one component: the quadrature over mu and sigma at once, where the ridge to sigma = 0 is still resolved."""
    y = np.array([0.4, 1.9])

    def integrand(sigma, mu):
        return np.prod(norm.pdf(y, mu, sigma)) * norm.pdf(mu, 0.0, 2.0) * gamma.pdf(sigma, 3.0, scale=0.5)

    both = dblquad(integrand, -12.0, 12.0, 0.0, 12.0, epsabs=1e-10)[0]
    each = [quad(lambda s, v=v: norm.pdf(v, 0.0, np.hypot(2.0, s)) * gamma.pdf(s, 3.0, scale=0.5), 0.0, 20.0)[0] for v in y]
    expected = np.log((2.0 * both + 2.0 * each[0] * each[1]) / 4.0)
    assert needles._tied_log_evidence(y) == pytest.approx(expected, abs=1e-7)


def test_modes_inside_the_box_add_up():
    example = zoo.unequal_widths(3, 0.5, 0.1)
    assert example.log_evidence == pytest.approx(-3.0 * np.log(10.0), abs=1e-9)
    assert zoo.example("soft-spike-5").log_evidence == pytest.approx(np.log(101.0) - 5.0 * np.log(10.0), abs=1e-6)


def test_mirrored_signs_by_adaptive_quadrature():
    one = quad(lambda x: norm.pdf(2.0, abs(x), 0.3) * norm.pdf(x, 0.0, 3.0), -15.0, 15.0, points=[-2.0, 0.0, 2.0], limit=200)[0]
    assert zoo.example("mirrored-signs-10").log_evidence == pytest.approx(10.0 * np.log(one), abs=1e-8)


def test_the_black_box_is_the_same_function():
    x = {"x": np.array([[0.1, 2.0, -3.0, 1.0], [2.5, 2.4, 2.6, 2.5]])}
    traced, box = (zoo.unequal_widths(4, 0.6, 0.15, black_box=b).model for b in (False, True))
    each = [float(traced.log_likelihood({"x": row})) for row in x["x"]]
    np.testing.assert_allclose(box.log_likelihood(x), each, rtol=1e-5)
