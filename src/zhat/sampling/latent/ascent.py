"""Maxima of a function of few variables that is evaluated at many points at once: Newton's method with differences, from several starts.

Each start has axes, in whose units differences are taken: the value at the centre, at both ends of every axis and at both ends
of every pair of axes give the gradient and all second derivatives. The eigenvectors of these are the next axes, scaled to unit
curvature, and the Newton step in them is the gradient itself. All starts move together, so that a call evaluates them all.

A step that lowers the value is halved. Where the function is flat or curved upwards the axes grow instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zhat.results.records import Array

# Differences in units of the axes: small at first, when the axes are a guess; then on the scale of the maximum itself.
FIRST_DIFFERENCE, DIFFERENCE = 0.05, 0.3
# A direction that is flat or curved upwards at this scale keeps at most three times its width.
LEAST_CURVATURE = 1.0 / 9.0
# The longest step in units of the axes before it, the length in units of those after it which ends an ascent; curvatures on them by then, and iterations at most.
LONGEST, SHORTEST = 3.0, 0.05
SETTLED = (0.5, 2.0)
MOST = 40
# Stands for the value where the function has none, below the centre.
NOWHERE = 10.0

Values = Callable[[Array], Array]


@dataclass(frozen=True)
class Ascent:
    """The end of an ascent: where, how high, and axes (columns) of unit curvature there."""

    place: Array
    value: float
    axes: Array


@dataclass
class _State:
    """An ascent on its way: the best centre so far, the step that is being tried from there, and the end if it has one."""

    place: Array
    axes: Array
    difference: float = FIRST_DIFFERENCE
    value: float = -np.inf
    step: Array | None = None
    end: Ascent | None = None

    @property
    def centre(self) -> Array:
        return self.place if self.step is None else self.place + self.step


def ascend(values: Values, starts: Array, axes: Array) -> list[Ascent]:
    """The maxima reached from the rows of `starts`; `axes` has a guess of their widths. `values` takes (n, m), gives (n,)."""
    states = [_State(start, axes) for start in starts]
    offsets = _offsets(starts.shape[1])
    for _ in range(MOST):
        going = [state for state in states if state.end is None]
        if not going:
            break
        points = [state.centre + state.difference * offsets @ state.axes.T for state in going]
        found = values(np.concatenate(points)).reshape(len(going), -1)
        for state, around in zip(going, found, strict=True):
            _advance(state, around)
    return [state.end or Ascent(state.place, state.value, state.axes) for state in states if np.isfinite(state.value)]


def _offsets(m: int) -> Array:
    """The centre, both ends of every axis, both ends of every pair."""
    unit = np.eye(m)
    both = np.array([unit[i] + unit[j] for i, j in _pairs(m)]).reshape(-1, m)
    return np.concatenate([np.zeros((1, m)), unit, -unit, both, -both])


def _pairs(m: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(m) for j in range(i)]


def _advance(state: _State, around: Array) -> None:
    """Take what was found around the centre: a shorter step, or the next one from there, or the end."""
    if not around[0] >= state.value - 1e-9:
        if state.step is not None:
            state.step = 0.5 * state.step
            if np.linalg.norm(np.linalg.solve(state.axes, state.step)) < 1e-3:  # nothing higher in this direction
                state.end = Ascent(state.place, state.value, state.axes)
        return
    around = np.where(np.isfinite(around), around, around[0] - NOWHERE)
    slope, curvature, vectors = _differences(around, state.difference, len(state.place))
    centre, value = state.centre, float(around[0])
    axes = state.axes @ (vectors / np.sqrt(np.maximum(curvature, LEAST_CURVATURE)))
    before = (vectors.T @ slope) / np.maximum(curvature, LEAST_CURVATURE)  # the Newton step in units of the axes as they were
    newton = before * np.sqrt(np.maximum(curvature, LEAST_CURVATURE))
    length = float(np.linalg.norm(newton))
    is_settled = state.difference == DIFFERENCE and SETTLED[0] < curvature.min() and curvature.max() < SETTLED[1]
    if length < SHORTEST and is_settled:
        state.end = Ascent(centre, value, axes)
    state.place, state.value, state.axes = centre, value, axes
    state.step = axes @ newton * min(1.0, LONGEST / max(float(np.linalg.norm(before)), 1e-300))
    # Axes within a factor of three of the scale of the function here: differences are taken on it from now on.
    if 0.1 < curvature.min() and curvature.max() < 10.0:
        state.difference = DIFFERENCE


def _differences(around: Array, step: float, m: int) -> tuple[Array, Array, Array]:
    """Gradient, and minus the eigenvalues and the eigenvectors of the second derivatives, in units of the axes."""
    centre, plus, minus = around[0], around[1 : m + 1], around[m + 1 : 2 * m + 1]
    hessian = np.diag((plus + minus - 2.0 * centre) / step**2)
    pairs = _pairs(m)
    for k, (i, j) in enumerate(pairs):
        cross = around[2 * m + 1 + k] + around[2 * m + 1 + len(pairs) + k]
        hessian[i, j] = hessian[j, i] = (cross - plus[i] - minus[i] - plus[j] - minus[j] + 2.0 * centre) / (2.0 * step**2)
    curvature, vectors = np.linalg.eigh(-hessian)
    return (plus - minus) / (2.0 * step), curvature, vectors
