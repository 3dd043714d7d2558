"""Curvature of the log posterior: its value, gradient and negative Hessian at several points.

Derivatives are automatic for a model that can be traced, and central differences for a black box. All are with respect to the
unconstrained vector.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.compiled import SAVED_BY_DERIVATIVES, JaxBackend, compiled, is_short, over_points
from zhat.sampling.backend.evaluation import log_densities, screened
from zhat.sampling.backend.loop import Loop

# Calls of a survey of the modes, most often.
CALLS = 200


def curvature(
    model: Model, position: Array, widths: Array, at_once: int, loop: Loop, must_be_number: bool = True
) -> tuple[Array, Array, Array]:
    """Log posterior, its gradient and negative Hessian at several points.

    A compiled call always has `at_once` points, padded with the first one, so that fewer points compile nothing new.
    """
    if model.is_black_box:
        return _by_differences(model, position, 0.03 * widths, loop)
    if len(position) > at_once:
        rows = [slice(i, i + at_once) for i in range(0, len(position), at_once)]
        parts = [curvature(model, position[some], widths[some], at_once, loop, must_be_number) for some in rows]
        value, gradient, precision = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return value, gradient, precision
    n, d = position.shape
    padded = np.concatenate([position, np.broadcast_to(position[:1], (at_once - n, d))])

    quick = is_short(CALLS * at_once * d * (model.data_size + d), SAVED_BY_DERIVATIVES)
    parts = compiled(model, "curvature", _derivatives, padded, quick=quick)
    value, gradient, precision = (np.array(part)[:n] for part in parts)
    loop.count(n_gradient=n, n_hessian=n)
    # A trial step may end where the log likelihood is NaN: it counts as zero likelihood, and the step is rejected.
    value = screened(model, position, np.where(np.isnan(value) & (not must_be_number), -np.inf, value), loop)
    with np.errstate(over="ignore", invalid="ignore"):
        return value, gradient, 0.5 * (precision + np.swapaxes(precision, 1, 2))


def _derivatives(backend: JaxBackend, points: Any) -> Any:
    """Log posterior, gradient and negative Hessian by automatic differentiation."""

    def density(u: Any) -> Any:
        log_prior, log_likelihood = backend.core.log_densities(u, backend.data, backend.hyper)
        return log_prior + log_likelihood

    def slope(u: Any) -> Any:
        value, gradient = jax.value_and_grad(density)(u)
        return gradient, (value, gradient)

    def all_three(u: Any) -> Any:
        hessian, (value, gradient) = jax.jacfwd(slope, has_aux=True)(u)
        return value, gradient, -hessian

    return over_points(all_three, points, max(1, backend.block // max(points.shape[1], 1)))


def _by_differences(model: Model, position: Array, steps: Array, loop: Loop) -> tuple[Array, Array, Array]:
    """The same for a black box, by central differences: 1 + d (d + 1) points a start, all in one batch."""
    n, d = position.shape
    unit = np.eye(d)
    pairs = [(i, j) for i in range(d) for j in range(i)]
    offsets = np.concatenate(
        [np.zeros((1, d)), unit, -unit] + [np.array([unit[i] + unit[j], -unit[i] - unit[j]]) for i, j in pairs]
    )
    points = position[:, None, :] + offsets[None] * steps[:, None, :]
    log_prior, log_likelihood = log_densities(model, points.reshape(-1, d), loop)
    f = (log_prior + log_likelihood).reshape(n, -1)
    with np.errstate(invalid="ignore"):
        centre, plus, minus = f[:, 0], f[:, 1 : d + 1], f[:, d + 1 : 2 * d + 1]
        gradient = (plus - minus) / (2 * steps)
        hessian = np.zeros((n, d, d))
        hessian[:, range(d), range(d)] = (plus + minus - 2 * centre[:, None]) / steps**2
        for k, (i, j) in enumerate(pairs):
            both = f[:, 2 * d + 1 + 2 * k] + f[:, 2 * d + 2 + 2 * k]
            mixed = both - plus[:, i] - minus[:, i] - plus[:, j] - minus[:, j] + 2 * centre
            hessian[:, i, j] = hessian[:, j, i] = mixed / (2 * steps[:, i] * steps[:, j])
    return centre, gradient, -hessian


def scaled(precision: Array) -> tuple[Array, Array]:
    """Precisions in units of each coordinate's own width, and these widths, so that the units of the data do not matter."""
    width = 1.0 / np.sqrt(np.maximum(np.abs(np.einsum("kii->ki", precision)), 1e-300))
    return precision * width[:, :, None] * width[:, None, :], width


def definite(precision: Array) -> NDArray[np.bool_]:
    """Which precisions are positive definite, with a condition number at which they can be inverted."""
    finite = np.asarray(np.isfinite(precision).all(axis=(1, 2)))
    values = np.linalg.eigvalsh(scaled(np.where(finite[:, None, None], precision, np.eye(precision.shape[1])))[0])
    return np.asarray(finite & (values[:, 0] > 0) & (values[:, -1] < 1e12 * values[:, 0]))
