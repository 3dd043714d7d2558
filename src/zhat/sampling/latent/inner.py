"""The inner integral: the mode of the latents for each value of the other parameters, and Laplace's method there.

    log Z~(theta) = log p(y, x*, theta) + (n/2) log 2 pi - (1/2) log det H(x*, theta),     H = -(second derivatives in x).

Newton steps with the banded factor, halved while they do not raise the density, for many values of theta together. Where H is not
positive definite (a likelihood that is not log-concave) its diagonal is enlarged until it is; at the mode itself it must be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zhat.numerics.fields.arrow import Arrow, Factor
from zhat.results.records import Array
from zhat.sampling.backend.loop import Loop
from zhat.sampling.latent.field import Field

# A Newton step that would gain less than this many nats ends a search.
TOLERANCE = 1e-10
MAX_STEPS = 60
# Halvings of a step before a search is given up.
MAX_HALVINGS = 30


@dataclass(frozen=True)
class Node:
    """Laplace's method for the latents at one value of the other parameters."""

    theta: Array
    mode: Array
    log_joint: float
    factor: Factor
    log_laplace: float


def inner_modes(field: Field, theta: Array, start: Array, loop: Loop) -> list[Node | None]:
    """The node of each row of theta, None where no mode was found; `start` is one vector or one for each."""
    n = len(theta)
    x = np.array(np.broadcast_to(start, (n, field.shape.size)))
    value, gradient, arrows = field.derivatives(x, theta, loop)
    factors: list[Factor | None] = [None] * n
    step, scale = np.zeros_like(x), np.ones(n)
    active = np.isfinite(value)
    for row in np.flatnonzero(active):
        factors[row], step[row] = _step(arrows[row], gradient[row])
    if field.quadratic:  # one step ends at the mode, and what it gains is known
        value = value + 0.5 * np.einsum("ki,ki->k", gradient, step)
        return [_node(theta[k], x[k] + step[k], value[k], factors[k]) if active[k] else None for k in range(n)]
    done = np.zeros(n, bool)
    halvings = np.zeros(n, int)
    for _ in range(MAX_STEPS):
        gain = np.einsum("ki,ki->k", gradient, step)
        ended = active & (np.abs(gain) < TOLERANCE)
        done |= ended
        active &= ~ended & np.isfinite(gain) & (halvings < MAX_HALVINGS)
        rows = np.flatnonzero(active)
        if not len(rows):
            break
        loop.tick(f"inner modes  {len(rows)} of {n} active")
        trial = x[rows] + scale[rows, None] * step[rows]
        new, slope, curved = field.derivatives(trial, theta[rows], loop)
        # Rounding of the density must not stop a step that is nearly at the mode.
        rises = np.isfinite(new) & (new >= value[rows] - 1e-13 * np.abs(value[rows]) - 1e-12)
        for k, row in enumerate(rows):
            if not rises[k]:
                scale[row] *= 0.5
                halvings[row] += 1
                continue
            x[row], value[row], gradient[row] = trial[k], new[k], slope[k]
            factors[row], step[row] = _step(curved[k], slope[k])
            scale[row], halvings[row] = 1.0, 0
    return [_node(theta[k], x[k], value[k], factors[k]) if done[k] else None for k in range(n)]


def _node(theta: Array, x: Array, value: float, factor: Factor | None) -> Node | None:
    if factor is None:
        return None
    laplace = value + 0.5 * len(x) * np.log(2.0 * np.pi) - 0.5 * factor.log_determinant
    return Node(theta, x, float(value), factor, float(laplace))


def _step(arrow: Arrow, gradient: Array) -> tuple[Factor | None, Array]:
    """The factor of the matrix, None if it is not positive definite, and the Newton step, with a larger diagonal then."""
    factor = own = arrow.factor()
    amount = 1e-3
    while factor is None and amount < 1e8:
        factor, amount = arrow.plus_diagonal(amount).factor(), 10.0 * amount
    if factor is None or not math.isfinite(gradient.sum()):
        return None, np.full(len(gradient), np.nan)
    return own, factor.solve(gradient)
