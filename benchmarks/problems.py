"""The four problems, once for all tools: NumPy arrays, functions of an array module, and the true log evidence.

A problem lives on unconstrained vectors u of length d. Its functions work on one vector or a batch (last axis d) and
take the array module `xp` (NumPy, or jax.numpy), so that every tool evaluates the same arithmetic. This file imports
neither JAX nor zhat: it also serves an interpreter that has only `particles`. `ours.py` checks that the zoo's
models agree.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

LOG_TWO_PI = math.log(2.0 * math.pi)
PIMA = Path(__file__).resolve().parent.parent / "src" / "zhat" / "zoo" / "datasets" / "pima_indians.csv"

Function = Callable[[Any, Any], Any]  # (xp, u) -> value


@dataclass(frozen=True)
class Problem:
    """Log prior (normalised on u), log likelihood, prior draws, and the answer."""

    name: str
    zoo_id: str
    d: int
    log_prior: Function
    log_likelihood: Callable[..., Any]  # (xp, u, softplus)
    sample_prior: Callable[[np.random.Generator, int], np.ndarray]
    log_evidence: float


def softplus(x: Any) -> Any:
    """log(1 + e^x) in NumPy, in the quick form."""
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0.0)


def _normal_prior(d: int, scale: float) -> dict[str, Any]:
    constant = -d * (math.log(scale) + 0.5 * LOG_TWO_PI)
    return {
        "log_prior": lambda xp, u: constant - 0.5 * xp.sum(u * u, axis=-1) / scale**2,
        "sample_prior": lambda rng, n: scale * rng.standard_normal((n, d)),
    }


def pima(tau: float = 0.01) -> Problem:
    """Pima model 2: logistic regression of diabetes on NP, PGC, BMI, DP, AGE, theta ~ N(0, I / tau)."""
    with PIMA.open(newline="") as file:
        rows = [row for row in csv.DictReader(line for line in file if not line.startswith("#"))]
    names = ("NP", "PGC", "BMI", "DP", "AGE")
    y = np.array([float(row["diabetes"]) for row in rows])
    columns = [np.array([float(row[name]) for row in rows]) for name in names]
    x = np.stack([np.ones_like(y), *((c - c.mean()) / c.std(ddof=1) for c in columns)], axis=1)
    sign = 1.0 - 2.0 * y

    def log_likelihood(xp: Any, u: Any, softplus: Callable[[Any], Any] = softplus) -> Any:
        return -xp.sum(softplus(sign * (u @ x.T)), axis=-1)

    return Problem(
        "pima-2",
        "pima-NP-PGC-BMI-DP-AGE-tau-0.01",
        6,
        log_likelihood=log_likelihood,
        log_evidence=-259.8583,
        **_normal_prior(6, tau**-0.5),
    )


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

    def sample_prior(rng: np.random.Generator, n: int) -> np.ndarray:
        u = rng.standard_normal((n, 10))
        u[:, 0] *= 5.0
        u[:, 1] = np.log(5.0 * np.tan(0.5 * math.pi * rng.random(n)))
        return u

    return Problem("eight-schools", "E15n", 10, log_prior, log_likelihood, sample_prior, -31.311347352293)


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
        f"gaussian-{d}",
        f"gaussian-{d}",
        d,
        log_likelihood=log_likelihood,
        log_evidence=float(exact),
        **_normal_prior(d, scale),
    )


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "pima-2": pima,
    "eight-schools": eight_schools,
    "gaussian-20": lambda: gaussian(20),
    "gaussian-100": lambda: gaussian(100),
}
