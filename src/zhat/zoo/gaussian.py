"""A Gaussian in any number of dimensions with any common correlation, for benchmarks: nothing is hard but its size.

The observation m_i = sin(i + 1) of x has covariance C (unit variances, all correlations equal), and x ~ N(0, s^2 I):

    log p(m) = log N(m; 0, s^2 I + C)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpyro.distributions as dist

from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.zoo._example import Example
from zhat.zoo.parts.densities import LOG_TWO_PI


def gaussian(d: int = 20, correlation: float = 0.9, prior_scale: float = 3.0) -> Example:
    """The d-dimensional Gaussian with this correlation between every two coordinates (0 <= correlation < 1)."""
    if d < 1:
        raise BadInput(f"d={d!r}: at least one dimension.")
    if not 0.0 <= correlation < 1.0:
        raise BadInput(f"correlation={correlation!r}: must lie in [0, 1).")
    if not (math.isfinite(prior_scale) and prior_scale > 0.0):
        raise BadInput(f"prior_scale={prior_scale!r}: must be a positive number.")
    covariance = np.full((d, d), correlation) + (1.0 - correlation) * np.eye(d)
    observed = np.sin(np.arange(d) + 1.0)
    data = {
        "observed": observed,
        "precision": np.linalg.inv(covariance),
        "log_determinant": np.linalg.slogdet(covariance)[1],
    }

    def log_likelihood(params: Any, data: Any) -> Any:
        residual = data["observed"] - params["x"]
        quadratic = residual @ (data["precision"] @ residual)
        return -0.5 * (d * LOG_TWO_PI + data["log_determinant"] + quadratic)

    def prior(hyper: Any) -> Any:
        return {"x": dist.Normal(0.0, hyper["scale"]).expand([d]).to_event(1)}

    marginal = covariance + prior_scale**2 * np.eye(d)
    quadratic = float(observed @ np.linalg.solve(marginal, observed))
    exact = -0.5 * (d * LOG_TWO_PI + float(np.linalg.slogdet(marginal)[1]) + quadratic)
    id = f"gaussian-{d}"
    return Example(
        id=id,
        title=f"Gaussian in {d} dimensions, correlations {correlation:g}",
        model=Model(log_likelihood, prior, data=data, hyper={"scale": float(prior_scale)}, name=id, latent=("x",)),
        log_evidence=exact,
        formula="log N(m; 0, s^2 I + C)",
        source="benchmarks of zhat",
        tags=("one-dimensional",) if d == 1 else (_dimension_tag(d), "correlated"),
    )


def _dimension_tag(d: int) -> str:
    return "two-dimensional" if d == 2 else "many-dimensional"
