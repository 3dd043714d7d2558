"""The four problems of the nested samplers, once for all tools: the problems of `problems.py` with a map from the unit cube.

Like that file it imports neither JAX nor zhat, so that it serves an interpreter that has only a peer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import problems
from scipy.integrate import quad
from scipy.special import gammaln, ndtri


@dataclass(frozen=True)
class NestedProblem:
    """A problem on vectors u, and the map from uniform numbers to them (last axis d) under which the prior is uniform."""

    problem: problems.Problem
    from_cube: Callable[[np.ndarray], np.ndarray]


def pima() -> NestedProblem:
    """Pima model 2 with tau = 0.01."""
    return NestedProblem(problems.pima(), lambda cube: 10.0 * ndtri(cube))


def eight_schools() -> NestedProblem:
    """Eight schools, non-centred."""

    def from_cube(cube: np.ndarray) -> np.ndarray:
        u = ndtri(cube)
        u[..., 0] *= 5.0
        u[..., 1] = np.log(5.0 * np.tan(0.5 * math.pi * cube[..., 1]))
        return u

    return NestedProblem(problems.eight_schools(), from_cube)


def eggbox() -> NestedProblem:
    """S2 of the zoo: log L = (2 + cos(x0/2) cos(x1/2))^5 on [0, 10 pi]^2."""
    return _in_box(
        "eggbox", "S2", 2, 0.0, 10.0 * math.pi, lambda xp, u, _=None: (2.0 + xp.prod(xp.cos(0.5 * u), axis=-1)) ** 5,
        235.855940332,
    )  # fmt: skip


def shells(d: int = 10) -> NestedProblem:
    """Two shells of radius 2 and width 0.1 around (-3.5, 0, ...) and (3.5, 0, ...) in [-6, 6]^d."""
    constant = -math.log(0.1) - 0.5 * problems.LOG_TWO_PI

    def log_likelihood(xp: Any, u: Any, _: Any = None) -> Any:
        rest = xp.sum(u[..., 1:] ** 2, axis=-1)
        one, two = (constant - 50.0 * (xp.sqrt((u[..., 0] - c) ** 2 + rest + 1e-300) - 2.0) ** 2 for c in (-3.5, 3.5))
        return xp.logaddexp(one, two)

    # The surface of the unit sphere times a radial integral; the shells lie in the box and do not meet.
    log_surface = math.log(2.0) + 0.5 * d * math.log(math.pi) - gammaln(0.5 * d)
    radial = quad(
        lambda r: r ** (d - 1) * math.exp(constant - 50.0 * (r - 2.0) ** 2), 0.0, 4.0, points=[1.5, 2.0, 2.5], epsabs=0.0
    )[0]
    exact = math.log(2.0) + log_surface + math.log(radial) - d * math.log(12.0)
    return _in_box(f"shells-{d}", "", d, -6.0, 6.0, log_likelihood, exact)


def _in_box(
    name: str, zoo_id: str, d: int, low: float, high: float, log_likelihood: Callable[..., Any], log_evidence: float
) -> NestedProblem:
    def log_prior(xp: Any, u: Any) -> Any:
        inside = xp.all((u >= low) & (u <= high), axis=-1)
        return xp.where(inside, -d * math.log(high - low), -xp.inf)

    def from_cube(cube: np.ndarray) -> np.ndarray:
        return low + (high - low) * cube

    problem = problems.Problem(
        name, zoo_id, d, log_prior, log_likelihood, lambda rng, n: from_cube(rng.random((n, d))), log_evidence
    )
    return NestedProblem(problem, from_cube)


PROBLEMS: dict[str, Callable[[], NestedProblem]] = {
    "shells-10": shells,
    "eggbox": eggbox,
    "pima-2": pima,
    "eight-schools": eight_schools,
}
