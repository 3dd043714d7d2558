"""Radiata pine: which density predicts the strength of timber? Two non-nested straight lines (Friel & Wyse 2012, section 4.1).

    strength_i = intercept + slope (x_i - mean x) + N(0, 1/tau),   tau ~ Ga(3, rate 2 * 300^2)

x is the density (model 1) or the density adjusted for resin (model 2). Two priors for the line are in use:

* "review": intercept ~ N(3000, 1/(0.06 tau)), slope ~ N(185, 1/(6 tau)). Conjugate: the evidence is a formula,
  printed in the paper with three misprints (the mean of the prior left out, X not centred, a 2 x 2 identity).
* "green_ohagan": intercept ~ N(3000, 1e6), slope ~ N(185, 1e4). One quadrature over tau.

Two data files are in use as well, see `zhat.zoo.datasets`. With "williams1959" and "green_ohagan" model 2 wins by
the literature's factor of 4862; with "friel_wyse" and "review" by the paper's 4553.65.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

from zhat.errors import BadInput
from zhat.model.data import fingerprint
from zhat.model.model import Conditional, Model
from zhat.zoo._example import Example
from zhat.zoo.datasets import load
from zhat.zoo.parts.densities import LOG_TWO_PI
from zhat.zoo.parts.gibbs import gamma_block, normal_block
from zhat.zoo.parts.quadrature import log_integral_over_positive

COVARIATES = ("density", "adjusted_density")
DATA = ("friel_wyse", "williams1959")
PRIORS = ("review", "green_ohagan")
MEAN = (3000.0, 185.0)
GAMMA_SHAPE, GAMMA_RATE = 3.0, 2.0 * 300.0**2


def pine(covariate: str = "density", data: str = "friel_wyse", prior: str = "review") -> Example:
    """One of the eight pine models; all have tempered Gibbs conditionals and the evidence to 1e-8.

    Parameters
    ----------
    covariate : "density" (the paper's model 1) or "adjusted_density" (model 2)
    data : "friel_wyse" (the paper's own file) or "williams1959" (the published table)
    prior : "review" (of Friel & Wyse 2012) or "green_ohagan"
    """
    _check("covariate", covariate, COVARIATES)
    _check("data", data, DATA)
    _check("prior", prior, PRIORS)
    table = load(f"radiata_pine_{data}")
    x, y = table[covariate] - np.mean(table[covariate]), table["strength"]
    conjugate = prior == "review"
    # Precisions of intercept and slope: in units of tau for the conjugate prior, absolute for the other.
    precisions = np.array([0.06, 6.0]) if conjugate else np.array([1e-6, 1e-4])
    hyper = {"mean": np.array(MEAN), "precisions": precisions, "shape": GAMMA_SHAPE, "rate": GAMMA_RATE}
    id = f"pine-{covariate}-{data}-{prior}"
    exact = conjugate_log_evidence if conjugate else independent_log_evidence
    return Example(
        id=id,
        title=f"radiata pine on {covariate.replace('_', ' ')}, {data} data, {prior} prior",
        model=Model(
            _log_likelihood,
            _prior(conjugate),
            data=(x, y),
            hyper=hyper,
            name=id,
            conditionals=_conditionals(conjugate),
            data_id=fingerprint(y),  # the two models explain the same strengths with other covariates
        ),
        log_evidence=exact(x, y, precisions),
        formula="closed form" if conjugate else "coefficients integrated exactly, one-dimensional quadrature over tau",
        source="Williams (1959); Friel & Wyse (2011)" + ("" if conjugate else "; prior of Green & O'Hagan (1998)"),
        tags=("many-dimensional", "conditionals", "friel-wyse"),
    )


def _check(argument: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadInput(f"{argument}={value!r}: the pine models are kept for {' and '.join(map(repr, allowed))}.")


def _prior(conjugate: bool) -> Any:
    def prior(hyper: Any) -> None:
        tau = numpyro.sample("tau", dist.Gamma(hyper["shape"], hyper["rate"]))
        scales = 1.0 / jnp.sqrt(hyper["precisions"] * (tau if conjugate else 1.0))
        numpyro.sample("intercept", dist.Normal(hyper["mean"][0], scales[0]))
        numpyro.sample("slope", dist.Normal(hyper["mean"][1], scales[1]))

    return prior


def _log_likelihood(params: Any, data: Any) -> Any:
    n = data[1].shape[0]
    return 0.5 * (n * (jnp.log(params["tau"]) - LOG_TWO_PI) - params["tau"] * _squares(params, data))


def _squares(params: Any, data: Any) -> Any:
    """Sum of squared residuals, from sums over the data that do not depend on the parameters.

    So a point costs a few operations instead of one for each specimen; split at the least squares line it loses no digits:
    sum (y - a - b x)^2 = (least sum) + Sxx (b - b_hat)^2 + n (a + b mean(x) - mean(y))^2.
    """
    x, y = data
    n = x.shape[0]
    if n == 0:
        return jnp.zeros(())
    mean_x, mean_y = jnp.mean(x), jnp.mean(y)
    sxx, sxy = jnp.sum((x - mean_x) ** 2), jnp.sum((x - mean_x) * (y - mean_y))
    best = jnp.where(sxx > 0.0, sxy / jnp.where(sxx > 0.0, sxx, 1.0), 0.0)
    least = jnp.sum((y - mean_y - best * (x - mean_x)) ** 2)
    return least + sxx * (params["slope"] - best) ** 2 + n * (params["intercept"] + params["slope"] * mean_x - mean_y) ** 2


def _conditionals(conjugate: bool) -> tuple[Conditional, ...]:
    """Intercept, slope and tau in turn, the blocks of the paper's Chib runs."""

    def prior_precisions(params: Any, hyper: Any) -> Any:
        return hyper["precisions"] * (params["tau"] if conjugate else 1.0)

    def intercept(params: Any, beta: Any, data: Any, hyper: Any) -> tuple[Any, Any]:
        x, y = data
        own, weight = prior_precisions(params, hyper)[0], beta * params["tau"]
        precision = own + weight * y.shape[0]
        return (own * hyper["mean"][0] + weight * (jnp.sum(y) - params["slope"] * jnp.sum(x))) / precision, precision

    def slope(params: Any, beta: Any, data: Any, hyper: Any) -> tuple[Any, Any]:
        x, y = data
        own, weight = prior_precisions(params, hyper)[1], beta * params["tau"]
        precision = own + weight * jnp.sum(x**2)
        return (own * hyper["mean"][1] + weight * (jnp.sum(x * y) - params["intercept"] * jnp.sum(x))) / precision, precision

    def tau_shape(beta: Any, data: Any, hyper: Any) -> Any:
        # Under the conjugate prior two normal densities carry sqrt(tau) each.
        return hyper["shape"] + 0.5 * beta * data[1].shape[0] + (1.0 if conjugate else 0.0)

    def tau_rate(params: Any, beta: Any, data: Any, hyper: Any) -> Any:
        squares = beta * _squares(params, data)
        if conjugate:
            for i, name in enumerate(("intercept", "slope")):
                squares = squares + hyper["precisions"][i] * (params[name] - hyper["mean"][i]) ** 2
        return hyper["rate"] + 0.5 * squares

    return normal_block("intercept", intercept), normal_block("slope", slope), gamma_block("tau", tau_shape, tau_rate)


def conjugate_log_evidence(x: np.ndarray, y: np.ndarray, precisions: np.ndarray) -> float:
    """The paper's formula with its misprints mended, for centred or uncentred x and its gamma prior."""
    a0, b0, n = 2.0 * GAMMA_SHAPE, 2.0 * GAMMA_RATE, len(y)
    design = np.stack([np.ones(n), x], axis=1)
    residual = y - design @ np.array(MEAN)
    m = design.T @ design + np.diag(precisions)
    quadratic = residual @ residual - (design.T @ residual) @ np.linalg.solve(m, design.T @ residual)
    log_determinants = 0.5 * (np.sum(np.log(precisions)) - np.linalg.slogdet(m)[1])
    gammas = math.lgamma((n + a0) / 2.0) - math.lgamma(a0 / 2.0)
    powers = 0.5 * a0 * math.log(b0) - 0.5 * (n + a0) * math.log(quadratic + b0)
    return float(-0.5 * n * math.log(math.pi) + gammas + log_determinants + powers)


def independent_log_evidence(x: np.ndarray, y: np.ndarray, precisions: np.ndarray) -> float:
    """Green & O'Hagan's prior: given tau the strengths are jointly normal; then one integral over tau."""
    n = len(y)
    design = np.stack([np.ones(n), x], axis=1)
    residual = y - design @ np.array(MEAN)
    # Covariance given tau: I/tau + sum of two rank-one terms; in their eigenbasis everything is a scalar.
    directions, singular, _ = np.linalg.svd(design / np.sqrt(precisions), full_matrices=False)
    along = (directions.T @ residual) ** 2
    across = float(residual @ residual - np.sum(along))

    def log_integrand(tau: np.ndarray) -> np.ndarray:
        variances = 1.0 / tau[:, None] + singular**2
        two = -0.5 * np.sum(np.log(variances) + along / variances, axis=1)
        rest = 0.5 * (n - 2) * np.log(tau) - 0.5 * tau * across
        log_gamma = GAMMA_SHAPE * math.log(GAMMA_RATE) - math.lgamma(GAMMA_SHAPE)
        prior = log_gamma + (GAMMA_SHAPE - 1.0) * np.log(tau) - GAMMA_RATE * tau
        return two + rest + prior - 0.5 * n * math.log(2.0 * math.pi)

    return log_integral_over_positive(log_integrand)
