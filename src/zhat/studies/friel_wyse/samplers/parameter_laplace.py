"""Laplace's formula in a model's own parameters, as Friel & Wyse (2012) have it; the library's method works in unconstrained coordinates.

For the pine models the coordinates matter. At a draw whose precision is a factor (1 + e) off the mode, the two curvatures of
the line are too large by that factor each, and that of tau too small by its square: to first order their product does not change.
In the logarithm of tau it does, and Laplace at the best of a sample then scatters thirty times as much between runs.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.compiled import JaxBackend, compiled
from zhat.sampling.backend.loop import Loop

NEWTON_STEPS = 20


def laplace_at_points(model: Model, points: dict[str, Array], loop: Loop) -> Array:
    """Laplace's formula with the curvature at each of n points (leading axis n) of scalar parameters."""
    names = model.space.names
    flat = np.stack([np.asarray(points[name], np.float64) for name in names], axis=1)
    value, _, hessian = _three(model, flat, loop)
    d = flat.shape[1]
    # Parameters differ by ten orders of magnitude; the determinant is taken in units of the curvatures themselves.
    units = np.sqrt(np.abs(np.einsum("nii->ni", hessian)))
    _, log_determinant = np.linalg.slogdet(-hessian / (units[:, :, None] * units[:, None, :]))
    log_determinant += 2.0 * np.log(units).sum(axis=1)
    return np.asarray(value + 0.5 * d * np.log(2.0 * np.pi) - 0.5 * log_determinant)


def newton(model: Model, start: dict[str, float], loop: Loop) -> dict[str, Array]:
    """The mode of prior x likelihood in the parameters themselves, by plain Newton steps from a good point."""
    names = model.space.names
    point = np.array([[float(start[name]) for name in names]])
    for _ in range(NEWTON_STEPS):
        _, gradient, hessian = _three(model, point, loop)
        units = 1.0 / np.sqrt(np.abs(np.diag(hessian[0])))
        point = point - units * np.linalg.solve(hessian[0] * np.outer(units, units), units * gradient[0])
    return {name: point[:, i] for i, name in enumerate(names)}


def _three(model: Model, flat: Array, loop: Loop) -> tuple[Array, Array, Array]:
    """Log of prior x likelihood, gradient and Hessian at n points."""
    out = compiled(model, "parameter_laplace", _derivatives, flat)
    loop.count(n_likelihood=len(flat), n_gradient=len(flat), n_hessian=len(flat))
    value, gradient, hessian = (np.asarray(part, np.float64) for part in out)
    return value, gradient, hessian


def _derivatives(backend: JaxBackend, points: Any) -> Any:
    core, data, hyper = backend.core, backend.data, backend.hyper

    def density(vector: Any) -> Any:
        params = {name: vector[i] for i, name in enumerate(core.space.names)}
        log_likelihood = jnp.reshape(core.log_likelihood(params, data, hyper), ())
        return core.space.log_prior(params, data, hyper) + log_likelihood

    return jax.vmap(lambda u: (density(u), jax.grad(density)(u), jax.hessian(density)(u)))(points)
