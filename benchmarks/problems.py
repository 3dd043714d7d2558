"""The problems of the comparison with other packages, once for all tools: functions of an array module, and the true log evidence.

A problem lives on vectors u of length d. Its functions work on one vector or a batch (last axis d) and take the array module `xp`
(NumPy, jax.numpy or pytensor.tensor), so that every tool evaluates the same arithmetic. This file imports neither JAX nor zhat: it
also serves an interpreter that has only a peer. `ours.py` checks that our models agree.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.interpolate import CubicSpline
from scipy.special import gammaln, ndtri

LOG_TWO_PI = math.log(2.0 * math.pi)
PIMA = Path(__file__).resolve().parent.parent / "src" / "zhat" / "zoo" / "datasets" / "pima_indians.csv"


@dataclass(frozen=True)
class Problem:
    """A likelihood, a prior in the forms that tools take, and the answer."""

    name: str
    title: str
    d: int
    log_likelihood: Callable[..., Any]  # (xp, u, softplus)
    log_evidence: float
    log_prior: Callable[[Any, Any], Any]  # (xp, u), normalised on u
    from_cube: Callable[[np.ndarray], np.ndarray]  # the map of the unit cube under which the prior is uniform
    scale: float | None = None  # of a prior that is normal, independent, around zero
    box: tuple[float, float] | None = None  # of a prior that is uniform
    zoo_id: str = ""
    arrays: dict[str, np.ndarray] = field(default_factory=dict)  # what the likelihood needs where it is written once more, in R
    black_box: bool = False  # no gradients: NumPy only

    def sample_prior(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Draws, one a row."""
        return self.from_cube(rng.random((n, self.d)))


def softplus(x: Any) -> Any:
    """log(1 + e^x) in NumPy, in the quick form."""
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0.0)


def _normal_prior(d: int, scale: float) -> dict[str, Any]:
    constant = -d * (math.log(scale) + 0.5 * LOG_TWO_PI)
    return {
        "log_prior": lambda xp, u: constant - 0.5 * xp.sum(u * u, axis=-1) / scale**2,
        "from_cube": lambda cube: scale * ndtri(cube),
        "scale": scale,
    }


def _uniform_prior(d: int, low: float, high: float) -> dict[str, Any]:
    def log_prior(xp: Any, u: Any) -> Any:
        inside = xp.all((u >= low) & (u <= high), axis=-1)
        return xp.where(inside, -d * math.log(high - low), -xp.inf)

    return {"log_prior": log_prior, "from_cube": lambda cube: low + (high - low) * cube, "box": (low, high)}


def pima(tau: float = 0.01) -> Problem:
    """Pima model 2: logistic regression of diabetes on NP, PGC, BMI, DP, AGE, theta ~ N(0, I / tau)."""
    with PIMA.open(newline="") as file:
        rows = [row for row in csv.DictReader(line for line in file if not line.startswith("#"))]
    names = ("NP", "PGC", "BMI", "DP", "AGE")
    y = np.array([float(row["diabetes"]) for row in rows])
    columns = [np.array([float(row[name]) for row in rows]) for name in names]
    x = np.stack([np.ones_like(y), *((c - c.mean()) / c.std(ddof=1) for c in columns)], axis=1)
    signed = (1.0 - 2.0 * y)[:, None] * x

    def log_likelihood(xp: Any, u: Any, softplus: Callable[[Any], Any] = softplus) -> Any:
        return -xp.sum(softplus(u @ signed.T), axis=-1)

    return Problem(
        "pima-2", "Pima model 2, 6 parameters", 6, log_likelihood, -259.8583,
        zoo_id="pima-NP-PGC-BMI-DP-AGE-tau-0.01", arrays={"signed": signed}, **_normal_prior(6, tau**-0.5),
    )  # fmt: skip


def eight_schools() -> Problem:
    """Eight schools, non-centred: u = (mu, log tau, z), mu ~ N(0, 5^2), tau ~ half-Cauchy(5), z ~ N(0, I)."""
    y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    sigma = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])

    def log_prior(xp: Any, u: Any) -> Any:
        mu, t, z = u[..., 0], u[..., 1], u[..., 2:]
        normals = -0.5 * (mu / 5.0) ** 2 - 0.5 * xp.sum(z * z, axis=-1) - 4.5 * LOG_TWO_PI - math.log(5.0)
        half_cauchy = math.log(2.0 / (math.pi * 5.0)) - xp.logaddexp(0.0, 2.0 * (t - math.log(5.0)))
        return normals + half_cauchy + t

    def log_likelihood(xp: Any, u: Any, softplus: Any = None) -> Any:
        theta = u[..., :1] + xp.exp(u[..., 1:2]) * u[..., 2:]
        return xp.sum(-0.5 * ((y - theta) / sigma) ** 2 - np.log(sigma) - 0.5 * LOG_TWO_PI, axis=-1)

    def from_cube(cube: np.ndarray) -> np.ndarray:
        u = ndtri(cube)
        u[..., 0] *= 5.0
        u[..., 1] = np.log(5.0 * np.tan(0.5 * math.pi * cube[..., 1]))
        return u

    return Problem(
        "eight-schools", "eight schools, 10 parameters", 10, log_likelihood, -31.311347352293, log_prior, from_cube,
        zoo_id="E15n", arrays={"y": y, "sigma": sigma},
    )  # fmt: skip


def gaussian(d: int, correlation: float = 0.9, scale: float = 3.0) -> Problem:
    """m_i = sin(i + 1) observed with unit variances and equal correlations around x ~ N(0, scale^2 I)."""
    covariance = np.full((d, d), correlation) + (1.0 - correlation) * np.eye(d)
    observed = np.sin(np.arange(d) + 1.0)
    precision = np.linalg.inv(covariance)
    constant = -0.5 * (d * LOG_TWO_PI + np.linalg.slogdet(covariance)[1])
    marginal = covariance + scale**2 * np.eye(d)
    fit = observed @ np.linalg.solve(marginal, observed)
    exact = -0.5 * (d * LOG_TWO_PI + np.linalg.slogdet(marginal)[1] + fit)

    def log_likelihood(xp: Any, u: Any, softplus: Any = None) -> Any:
        residual = observed - u
        return constant - 0.5 * xp.sum((residual @ precision) * residual, axis=-1)

    return Problem(
        f"gaussian-{d}", f"correlated Gaussian, {d} parameters", d, log_likelihood, float(exact), zoo_id=f"gaussian-{d}",
        arrays={"observed": observed, "precision": precision, "constant": np.array([constant])}, **_normal_prior(d, scale),
    )  # fmt: skip


def shells(d: int = 10) -> Problem:
    """Two shells of radius 2 and width 0.1 around (-3.5, 0, ...) and (3.5, 0, ...) in [-6, 6]^d."""
    constant = -math.log(0.1) - 0.5 * LOG_TWO_PI

    def log_likelihood(xp: Any, u: Any, softplus: Any = None) -> Any:
        rest = xp.sum(u[..., 1:] ** 2, axis=-1)
        one, two = (constant - 50.0 * (xp.sqrt((u[..., 0] - c) ** 2 + rest + 1e-300) - 2.0) ** 2 for c in (-3.5, 3.5))
        return xp.logaddexp(one, two)

    # The surface of the unit sphere times a radial integral; the shells lie in the box and do not meet.
    log_surface = math.log(2.0) + 0.5 * d * math.log(math.pi) - gammaln(0.5 * d)
    radial = quad(
        lambda r: r ** (d - 1) * math.exp(constant - 50.0 * (r - 2.0) ** 2), 0.0, 4.0, points=[1.5, 2.0, 2.5], epsabs=0.0
    )[0]
    exact = math.log(2.0) + log_surface + math.log(radial) - d * math.log(12.0)
    return Problem(f"shells-{d}", f"two shells, {d} parameters", d, log_likelihood, exact, **_uniform_prior(d, -6.0, 6.0))


def eggbox() -> Problem:
    """S2 of the zoo: log L = (2 + cos(x0/2) cos(x1/2))^5 on [0, 10 pi]^2."""

    def log_likelihood(xp: Any, u: Any, softplus: Any = None) -> Any:
        return (2.0 + xp.prod(xp.cos(0.5 * u), axis=-1)) ** 5

    return Problem(
        "eggbox", "eggbox, 2 parameters", 2, log_likelihood, 235.855940332, zoo_id="S2", **_uniform_prior(2, 0.0, 10.0 * math.pi)
    )


def rosenbrock(d: int = 4) -> Problem:
    """log L = -sum of 100 (x_(i+1) - x_i^2)^2 + (1 - x_i)^2 on [-5, 5]^d, one integral after another by quadrature."""

    def log_likelihood(xp: Any, u: Any, softplus: Any = None) -> Any:
        return -xp.sum(100.0 * (u[..., 1:] - u[..., :-1] ** 2) ** 2 + (1.0 - u[..., :-1]) ** 2, axis=-1)

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
    exact = math.log(float(np.sum(inner[1:] + inner[:-1])) * 0.5 * (grid[1] - grid[0])) - d * math.log(10.0)
    return Problem(
        f"rosenbrock-{d}", f"Rosenbrock's valley, {d} parameters", d, log_likelihood, exact, **_uniform_prior(d, -5.0, 5.0)
    )


def skewed(d: int = 6) -> Problem:
    """x_i - 0.6 x_(i-1) has a Gumbel density of scale 0.5, in [-10, 10]^d: skewness 1.14, exponential right tails. NumPy only."""

    def log_likelihood(xp: Any, u: Any, softplus: Any = None) -> Any:
        z = np.array(u, float)
        z[..., 1:] -= 0.6 * u[..., :-1]
        z = 2.0 * z
        return np.sum(math.log(2.0) - z - np.exp(np.minimum(-z, 500.0)), axis=-1)

    return Problem(
        f"skewed-{d}", f"skewed black box, {d} parameters", d, log_likelihood, -d * math.log(20.0), black_box=True,
        **_uniform_prior(d, -10.0, 10.0),
    )  # fmt: skip


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "pima-2": pima,
    "eight-schools": eight_schools,
    "gaussian-20": lambda: gaussian(20),
    "gaussian-100": lambda: gaussian(100),
    "shells-10": shells,
    "eggbox": eggbox,
    "rosenbrock-4": rosenbrock,
    "skewed-6": skewed,
}
