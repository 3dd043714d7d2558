"""Integrals of smooth positive functions over a line, or over a box of up to four dimensions, to many digits.

Over the whole line the trapezoid rule converges geometrically for a smooth integrand that falls off at both ends (Trefethen &
Weideman 2014); over a box the product of Gauss-Legendre rules does, whether or not the integrand vanishes at its edges. There is
nothing to choose but the range and the number of points. The range is found by a coarse lattice and ends where the integrand is
negligible. The number of points grows until two rules agree; their difference is the error, and a generous one, because the finer
rule is far more precise than the coarser.

*When it lies.* A peak that is much narrower than the step of the coarse lattice can fall between its points. The integrands here are
posterior densities of a scale or its logarithm, with one peak whose flanks reach far, and each lattice covers only where the last
one found mass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zhat.numerics._checks import FloatArray

# Nats below the top where an integrand ends: e^-46 = 1e-20 of the peak; in several dimensions e^-34 = 2e-15.
NEGLIGIBLE, NEGLIGIBLE_IN_BOX = 46.0, 34.0
# Relative difference of two rules at which no finer one is needed, on a line and in a box; and up to which they agree.
CLOSE, CLOSE_IN_BOX, AGREE = 1e-10, 1e-8, 1e-5
# On a line: points of the first rule, and doublings before it is given up.
FIRST_POINTS, MOST_DOUBLINGS = 65, 9
# In a box: points along an axis, rule by rule, as long as all points together are no more than this.
RULES = (16, 24, 34, 48, 68, 96)
MOST_POINTS = 2_000_000
# Points of the coarse lattice along an axis, by dimension.
SCOUT = {1: 2001, 2: 81, 3: 25, 4: 13}
MOST_DIMENSIONS = 4
# The error that rounding leaves in a sum of logarithms.
ROUNDING = 1e-12

LogIntegrand = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class Integral:
    """The logarithm of an integral, its numerical error in nats, and whether two rules agreed."""

    log_value: float
    error: float
    agrees: bool = True
    n_points: int = 0

    def plus(self, constant: float) -> Integral:
        """The same with a constant added to the logarithm."""
        return Integral(self.log_value + constant, self.error, self.agrees, self.n_points)

    @staticmethod
    def closed_form(log_value: float) -> Integral:
        """A value from a formula: only rounding is wrong with it."""
        return Integral(float(log_value), ROUNDING * max(1.0, abs(log_value)))


def log_integral(log_integrand: LogIntegrand, low: float, high: float) -> Integral:
    """Log of the integral of exp(log_integrand) over a line; it must fall off at both ends of the range from `low` to `high`.

    `log_integrand` takes m values and returns m; -inf is zero. The range may be far too large.
    """
    ends = _range(lambda x: log_integrand(x[:, 0]), np.array([low]), np.array([high]), NEGLIGIBLE)
    if ends.top == -np.inf:
        return Integral(-np.inf, 0.0)
    before, n, error = np.nan, FIRST_POINTS, np.inf
    for _ in range(MOST_DOUBLINGS + 1):
        points = np.linspace(ends.low[0], ends.high[0], n)
        now = float(np.sum(np.exp(log_integrand(points) - ends.top)) * (points[1] - points[0]))
        error = abs(now - before) / now
        if error < CLOSE:
            break
        before, n = now, 2 * n - 1
    return _integral(ends.top + float(np.log(now)), error, n)


def log_integral_in_box(log_integrand: LogIntegrand, low: FloatArray, high: FloatArray) -> Integral:
    """Log of the integral of exp(log_integrand) over a box of up to four dimensions.

    `log_integrand` takes points as an array (m, k) and returns m values; -inf is zero.
    """
    ends = _range(log_integrand, np.asarray(low, np.float64), np.asarray(high, np.float64), NEGLIGIBLE_IN_BOX)
    if ends.top == -np.inf:
        return Integral(-np.inf, 0.0)
    before, error, n_points = np.nan, np.inf, 0
    for n in RULES:
        if n ** len(ends.low) > MOST_POINTS:
            break
        points, weights = _gauss_legendre(ends.low, ends.high, n)
        now = float(np.sum(np.exp(log_integrand(points) - ends.top) * weights))
        n_points, error = len(points), abs(now - before) / now
        if error < CLOSE_IN_BOX:
            break
        before = now
    return _integral(ends.top + float(np.log(now)), error, n_points)


def _integral(value: float, error: float, n_points: int) -> Integral:
    return Integral(value, max(error, ROUNDING * max(1.0, abs(value))), bool(error < AGREE), n_points)


@dataclass(frozen=True)
class _Ends:
    """The box outside of which an integrand is negligible, and its largest value on the lattices that found the box."""

    low: FloatArray
    high: FloatArray
    top: float


def _range(log_integrand: LogIntegrand, low: FloatArray, high: FloatArray, negligible: float) -> _Ends:
    top, n = -np.inf, SCOUT[len(low)]
    for _ in range(12):
        axes = [np.linspace(a, b, n) for a, b in zip(low, high, strict=True)]
        points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        values = log_integrand(points)
        top = max(top, float(np.max(values)))
        if top == -np.inf:
            break
        heard, step = points[values > top - negligible], (high - low) / (n - 1)
        inner_low, inner_high = np.maximum(heard.min(axis=0) - step, low), np.minimum(heard.max(axis=0) + step, high)
        shrunk = (inner_high - inner_low) / (high - low)
        low, high = inner_low, inner_high
        if (shrunk > 0.5).all():
            break
    return _Ends(low, high, top)


def _gauss_legendre(low: FloatArray, high: FloatArray, n: int) -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(n)
    half = 0.5 * (high - low)
    axes = [a + h * (nodes + 1.0) for a, h in zip(low, half, strict=True)]
    points = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    each = np.meshgrid(*[h * weights for h in half], indexing="ij")
    return points, np.prod(np.stack([w.ravel() for w in each]), axis=0)
