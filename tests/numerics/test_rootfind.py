"""Root finding: right, in few evaluations, and clear when it cannot."""

import math

import numpy as np
import pytest

from zhat.numerics.rootfind import find_root


class Counted:
    def __init__(self, f):
        self.f, self.calls = f, 0

    def __call__(self, x):
        self.calls += 1
        return self.f(x)


@pytest.mark.parametrize(
    ("f", "low", "high", "root"),
    [
        (lambda x: x - 0.3, 0.0, 1.0, 0.3),
        (lambda x: 0.3 - x, 0.0, 1.0, 0.3),
        (lambda x: x**3 - 2.0, 0.0, 2.0, 2.0 ** (1 / 3)),
        (lambda x: math.exp(-50 * x) - 0.5, 0.0, 1.0, math.log(2.0) / 50),
        (lambda x: math.atan(1e6 * (x - 0.123)), -1.0, 1.0, 0.123),
        (lambda x: -1.0 if x < 0.7 else 1.0, 0.0, 1.0, 0.7),
        (lambda x: math.inf if x > 0.25 else x - 0.2, 0.0, 1.0, 0.2),
        (lambda x: (x - 0.5) ** 9, 0.0, 1.1, 0.5),
    ],
)
def test_root_is_found(f, low, high, root):
    counted = Counted(f)
    assert find_root(counted, low, high, tolerance=1e-10) == pytest.approx(root, abs=1e-9)
    assert counted.calls <= 60


def test_few_evaluations_for_an_effective_sample_size():
    log_l = -50.0 * np.random.default_rng(0).chisquare(10, size=20_000) / 2

    def excess(beta):
        w = np.exp(beta * (log_l - log_l.max()))
        return float(w.sum() ** 2 / (w @ w)) / w.size - 0.5

    counted = Counted(excess)
    root = find_root(counted, 0.0, 1.0, 1e-12, value_tolerance=1e-3)
    assert abs(excess(root)) <= 1e-3
    assert counted.calls <= 14
    in_logs = Counted(lambda t: excess(math.exp(t)))
    assert math.exp(find_root(in_logs, -40.0, 0.0, 1e-10)) == pytest.approx(find_root(excess, 0.0, 1.0), rel=1e-8)
    assert in_logs.calls <= 16


def test_a_root_at_the_end_is_returned():
    assert find_root(lambda x: x, 0.0, 1.0) == 0.0
    assert find_root(lambda x: x - 1.0, 0.0, 1.0) == 1.0


def test_a_tolerance_below_rounding_still_ends():
    assert find_root(lambda x: x**2 - 2e12, 0.0, 1e7, tolerance=1e-300) == pytest.approx(math.sqrt(2e12), rel=1e-15)


def test_refusals():
    with pytest.raises(ValueError, match="have the same sign: no root is enclosed"):
        find_root(lambda x: x + 1.0, 0.0, 1.0)
    with pytest.raises(ValueError, match=r"f\(0.5\)=nan"):
        find_root(lambda x: math.nan if x == 0.5 else x - 0.4, 0.0, 1.0)
    with pytest.raises(ValueError, match="two finite ends in increasing order"):
        find_root(lambda x: x, 1.0, -1.0)
    with pytest.raises(ValueError, match=r"tolerance=0\.0: it must be positive"):
        find_root(lambda x: x, -1.0, 1.0, tolerance=0.0)
    with pytest.raises(RuntimeError, match="max_iterations=3"):
        find_root(lambda x: x**3 - 0.1, 0.0, 1.0, max_iterations=3)
