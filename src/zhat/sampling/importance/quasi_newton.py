"""The way to a mode in hundreds of dimensions, by gradients alone (L-BFGS, Nocedal & Wright 2006).

A Newton step in d dimensions takes d gradients for its Hessian and d^3 operations; from a prior draw thirty of them are needed, at a
thousand dimensions a quarter of a second each. Some hundred steps by gradients take less than one Hessian, and a few Newton steps then
end the search.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.compiled import JaxBackend, compiled
from zhat.sampling.backend.loop import Loop
from zhat.sampling.target import Tempered

# Dimensions above which searches begin by gradients.
GRADIENTS_ABOVE = 200
# Gradients of a search at most; gradient below which it ends: Newton steps do the rest.
MOST_STEPS, FLAT = 1000, 1e-3


def ascended(model: Model, position: Array, loop: Loop) -> Array:
    """The points to which quasi-Newton steps lead from these, one after the other."""
    return np.stack([_ascended(model, start, loop) for start in position])


def _ascended(model: Model, start: Array, loop: Loop) -> Array:
    from scipy.optimize import minimize

    def value_and_slope(u: Array) -> tuple[float, Array]:
        log_prior, log_likelihood, slope = (np.asarray(part) for part in compiled(model, "slope of one", _slope, u[None]))
        loop.count(n_gradient=1)
        loop.tick("mode search")
        value = float(log_prior[0] + log_likelihood[0])
        return (-value, -slope[0]) if np.isfinite(value) else (1e300, np.zeros_like(u))

    found = minimize(
        value_and_slope, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_STEPS, "gtol": FLAT, "maxcor": 30}
    )
    return np.asarray(found.x)


def _slope(backend: JaxBackend, points: Any) -> Any:
    state = backend.gradient(points, Tempered(1.0))
    return state.log_prior, state.log_likelihood, state.gradient
