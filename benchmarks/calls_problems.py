"""Problems for counting likelihood calls, once for all tools: a likelihood of NumPy arrays on a box with uniform priors.

Two with one clear mode, in 6 and in 10 dimensions (a correlated Gaussian; a skewed one with heavy right tails), two with several modes
(eggbox, two shells), two curved ones (Rosenbrock's function as a log likelihood). It imports neither JAX nor zhat.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from nested_problems import eggbox, shells
from scipy.interpolate import CubicSpline


@dataclass(frozen=True)
class BoxProblem:
    """A log likelihood of points (..., d) of the box [low, high]^d, and the true log evidence."""

    name: str
    d: int
    low: float
    high: float
    log_likelihood: Callable[[np.ndarray], np.ndarray]
    log_evidence: float

    def from_cube(self, cube: np.ndarray) -> np.ndarray:
        """The point of the box at a point of the unit cube."""
        return self.low + (self.high - self.low) * cube


def gaussian(d: int) -> BoxProblem:
    """A normalised Gaussian with standard deviations 0.5 and correlations 0.6 in [-5, 5]^d."""
    covariance = 0.25 * (np.full((d, d), 0.6) + 0.4 * np.eye(d))
    precision = np.linalg.inv(covariance)
    constant = -0.5 * (d * math.log(2.0 * math.pi) + float(np.linalg.slogdet(covariance)[1]))

    def log_likelihood(x: np.ndarray) -> np.ndarray:
        return constant - 0.5 * np.einsum("...i,ij,...j->...", x, precision, x)

    return BoxProblem(f"gaussian-{d}", d, -5.0, 5.0, log_likelihood, -d * math.log(10.0))


def skewed(d: int) -> BoxProblem:
    """x_i - 0.6 x_(i-1) has a Gumbel density of scale 0.5, in [-10, 10]^d: skewness 1.14, exponential right tails."""

    def log_likelihood(x: np.ndarray) -> np.ndarray:
        z = x.copy()
        z[..., 1:] -= 0.6 * x[..., :-1]
        z = 2.0 * z
        return np.sum(math.log(2.0) - z - np.exp(np.minimum(-z, 500.0)), axis=-1)

    return BoxProblem(f"skewed-{d}", d, -10.0, 10.0, log_likelihood, -d * math.log(20.0))


def rosenbrock(d: int) -> BoxProblem:
    """log L = -sum of 100 (x_(i+1) - x_i^2)^2 + (1 - x_i)^2 on [-5, 5]^d, one integral after another by quadrature."""

    def log_likelihood(x: np.ndarray) -> np.ndarray:
        return -np.sum(100.0 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1.0 - x[..., :-1]) ** 2, axis=-1)

    grid = np.linspace(-5.0, 5.0, 20_001)
    step = np.linspace(-0.7, 0.7, 1401)
    weight = np.exp(-100.0 * step**2) * (step[1] - step[0])
    inner = np.ones_like(grid)  # the integral over all later coordinates, given this one
    for _ in range(d - 1):
        later = CubicSpline(grid, inner)
        outer = np.empty_like(grid)
        for part in np.array_split(np.arange(len(grid)), 50):
            at = grid[part, None] ** 2 + step
            outer[part] = np.where(np.abs(at) <= 5.0, later(np.clip(at, -5.0, 5.0)), 0.0) @ weight
        inner = outer * np.exp(-((1.0 - grid) ** 2))
    exact = math.log(np.trapezoid(inner, grid) if hasattr(np, "trapezoid") else np.trapz(inner, grid)) - d * math.log(10.0)
    return BoxProblem(f"rosenbrock-{d}", d, -5.0, 5.0, log_likelihood, exact)


def _of(make: Callable[[], object], low: float, high: float) -> BoxProblem:
    problem = make().problem  # type: ignore[attr-defined]
    return BoxProblem(
        problem.name, problem.d, low, high, lambda x: problem.log_likelihood(np, np.asarray(x)), problem.log_evidence
    )


PROBLEMS: dict[str, Callable[[], BoxProblem]] = {
    "gaussian-6": lambda: gaussian(6),
    "skewed-6": lambda: skewed(6),
    "gaussian-10": lambda: gaussian(10),
    "skewed-10": lambda: skewed(10),
    "eggbox": lambda: _of(eggbox, 0.0, 10.0 * math.pi),
    "shells-2": lambda: _of(lambda: shells(2), -6.0, 6.0),
    "rosenbrock-2": lambda: rosenbrock(2),
    "rosenbrock-4": lambda: rosenbrock(4),
}
