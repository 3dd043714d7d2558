"""Linear regressions with closed-form evidence: small with unknown variance (E8), larger with known variance (E9)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.linalg import solve_triangular

from zhat.errors import BadInput
from zhat.model.data import fingerprint
from zhat.model.model import Conditional, Model
from zhat.zoo._example import Example
from zhat.zoo.parts.densities import LOG_TWO_PI, log_normal
from zhat.zoo.parts.gibbs import normal_vector_block

SUBSETS = {
    "none": ((), -10.490780052820),
    "intercept": ((0,), -12.450479687046),
    "slope": ((1,), -5.050048045135),
    "both": ((0, 1), -6.981088385843),
}
KNOWN_NOISE = 0.5
SOURCE = "conjugate linear regression; exact set of zhat"


def straight_line() -> Example:
    """E8: a line through five points; coefficients given variance N(0, 10 variance I), variance IG(2, 1)."""
    return _line("E8", "both")


def straight_line_subset(terms: str) -> Example:
    """E8s: the line with a subset of its terms: "none", "intercept", "slope" or "both".

    The four are a whole model space with known probabilities (.003771, .000531, .869607, .126091) for reversible
    jump and model averaging. "none" still has the variance as its parameter; "both" is E8.
    """
    if terms not in SUBSETS:
        raise BadInput(f"terms={terms!r}: the subsets of E8 are {', '.join(SUBSETS)}.")
    return _line(f"E8s-{terms}", terms)


def _line(id: str, terms: str) -> Example:
    columns, log_evidence = SUBSETS[terms]
    x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    y = np.array([-1.9, -1.1, 0.2, 0.8, 2.3])
    design = np.stack([np.ones(5), x], axis=1)[:, list(columns)]
    d = len(columns)

    def prior(hyper: Any) -> None:
        variance = numpyro.sample("variance", dist.InverseGamma(hyper["shape"], hyper["rate"]))
        if d:
            scale = jnp.sqrt(hyper["spread"] * variance)
            numpyro.sample("coefficients", dist.Normal(0.0, scale).expand([d]).to_event(1))

    def log_likelihood(params: Any, data: Any) -> Any:
        return jnp.sum(log_normal(_residuals(params, data), 0.0, jnp.sqrt(params["variance"])))

    blocks = (_coefficients_block(), _variance_block(d)) if d else (_variance_block(d),)
    return Example(
        id=id,
        title=f"straight line, terms: {terms}",
        model=Model(
            log_likelihood,
            prior,
            data=(design, y),
            hyper={"spread": 10.0, "shape": 2.0, "rate": 1.0},
            name=id,
            conditionals=blocks,
            latent=("coefficients",) if d else None,
            data_id=fingerprint(y),  # the response is what the subsets share; their designs differ
        ),
        log_evidence=log_evidence,
        formula="ratio of normal-inverse-gamma normalising constants",
        source=SOURCE,
        tags=("one-dimensional" if d == 0 else "two-dimensional" if d == 1 else "many-dimensional", "conditionals"),
    )


def _residuals(params: Any, data: Any) -> Any:
    design, y = data
    return y - design @ params["coefficients"] if design.shape[1] else y


def _coefficients_block() -> Conditional:
    """Coefficients given variance: N(mean, variance A^-1) with A = beta X'X + I/spread."""

    def factor_and_mean(beta: Any, data: Any, hyper: Any) -> tuple[Any, Any]:
        design, y = data
        a = beta * design.T @ design + jnp.eye(design.shape[1]) / hyper["spread"]
        factor = jnp.linalg.cholesky(a)
        half = solve_triangular(factor, beta * (design.T @ y), lower=True)
        return factor, solve_triangular(factor, half, lower=True, trans="T")

    def noise(rng: Any, shape: tuple[int, ...], beta: Any, data: Any, hyper: Any) -> Any:
        return rng.standard_normal((*shape, data[0].shape[1]))

    def draw(noise: Any, params: Any, beta: Any, data: Any, hyper: Any) -> dict[str, Any]:
        factor, mean = factor_and_mean(beta, data, hyper)
        spread = noise @ solve_triangular(factor, jnp.eye(factor.shape[0]), lower=True)  # the inverse is the same for all points
        return {"coefficients": mean + jnp.sqrt(params["variance"]) * spread}

    def log_density(params: Any, beta: Any, data: Any, hyper: Any) -> Any:
        factor, mean = factor_and_mean(beta, data, hyper)
        standard = factor.T @ (params["coefficients"] - mean)
        log_determinant = jnp.sum(jnp.log(jnp.diagonal(factor)))
        squares = jnp.sum(standard**2) / params["variance"]
        return log_determinant - 0.5 * (standard.shape[0] * (LOG_TWO_PI + jnp.log(params["variance"])) + squares)

    return Conditional(("coefficients",), noise, draw, log_density)


def _variance_block(d: int) -> Conditional:
    """Variance given coefficients: inverse gamma."""

    def shape_of(beta: Any, data: Any, hyper: Any) -> Any:
        return hyper["shape"] + 0.5 * (d + beta * data[1].shape[0])

    def rate_of(params: Any, beta: Any, data: Any, hyper: Any) -> Any:
        squares = beta * jnp.sum(_residuals(params, data) ** 2)
        if d:
            squares = squares + jnp.sum(params["coefficients"] ** 2) / hyper["spread"]
        return hyper["rate"] + 0.5 * squares

    def noise(rng: Any, shape: tuple[int, ...], beta: Any, data: Any, hyper: Any) -> Any:
        return rng.standard_gamma(shape_of(beta, data, hyper), shape)

    def draw(noise: Any, params: Any, beta: Any, data: Any, hyper: Any) -> dict[str, Any]:
        return {"variance": rate_of(params, beta, data, hyper) / noise}

    def log_density(params: Any, beta: Any, data: Any, hyper: Any) -> Any:
        inverse_gamma = dist.InverseGamma(shape_of(beta, data, hyper), rate_of(params, beta, data, hyper))
        return inverse_gamma.log_prob(params["variance"])

    return Conditional(("variance",), noise, draw, log_density)


def cosine_regression_10() -> Example:
    """E9a: 40 observations, 10 cosine regressors, noise known: a ten-dimensional Gaussian posterior."""
    return _cosine_regression("E9a", 40, 10, -69.709974574598)


def cosine_regression_50() -> Example:
    """E9b: 60 observations, 50 regressors: what 50 dimensions cost when nothing else is hard."""
    return _cosine_regression("E9b", 60, 50, -134.284163402710)


def _cosine_regression(id: str, n: int, d: int, log_evidence: float) -> Example:
    rows, columns = np.arange(n)[:, None], np.arange(d)[None, :]
    design = np.cos(np.pi * columns * (rows + 0.5) / n)
    y = np.sin(np.arange(n) + 1.0)

    def log_likelihood(params: Any, data: Any) -> Any:
        design, y = data
        return jnp.sum(log_normal(y, design @ params["coefficients"], KNOWN_NOISE))

    def prior(hyper: Any) -> Any:
        return {"coefficients": dist.Normal(0.0, hyper["scale"]).expand([d]).to_event(1)}

    def moments(params: Any, beta: Any, data: Any, hyper: Any) -> tuple[Any, Any]:
        design, y = data
        weight = beta / KNOWN_NOISE**2
        return weight * design.T @ y, weight * design.T @ design + jnp.eye(d) / hyper["scale"] ** 2

    block = normal_vector_block("coefficients", d, moments)
    return Example(
        id=id,
        title=f"regression on {d} cosines, known noise",
        model=Model(log_likelihood, prior, (design, y), {"scale": 1.0}, name=id, conditionals=(block,), latent=("coefficients",)),
        log_evidence=log_evidence,
        formula="log N(y; 0, 0.25 I + XX')",
        source=SOURCE,
        tags=("many-dimensional", "conditionals"),
    )
