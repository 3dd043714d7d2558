"""The two Gaussian examples of Friel & Wyse (2012): the running example (section 3.1) and the tractable one (section 3.2, Table 1).

Both are N(mu, 1/tau) observations. In the running example mu and tau are independent a priori, N(xi, 1/nu) and
Ga(a0/2, rate b0/2): conditionally conjugate, the evidence is one quadrature. In the tractable one mu's prior scales
with tau and the evidence is a formula. The paper's samples are lost; ours are simulated as it says (n = 100, mu = 0,
tau = 1) from a fixed seed, or given by the user.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist

from zhat.errors import BadInput
from zhat.model.model import Conditional, Model
from zhat.zoo._example import Example
from zhat.zoo.parts import normal_gamma as _normal_gamma
from zhat.zoo.parts.gibbs import gamma_block, normal_block
from zhat.zoo.parts.quadrature import log_integral_over_positive

TABLE_1_TAU0 = (0.0001, 0.01, 0.1, 1.0)


def running_example(
    y: Any = None,
    *,
    xi: float = 0.0,
    nu: float = 0.01,
    a0: float = 2.0,
    b0: float = 2.0,
    n: int = 100,
    seed: int = 0,
) -> Example:
    """Every method of the paper is shown on this model; tempered Gibbs conditionals as in its section 3.4, mended.

    Parameters
    ----------
    y : array (n,), optional
        Observations; simulated from N(0, 1) with `n` and `seed` when not given.
    xi, nu : float
        Mean and precision of mu's prior.
    a0, b0 : float
        tau ~ Ga(a0/2, rate b0/2).
    """
    data = _observations(y, n, seed)
    hyper = {"xi": float(xi), "nu": float(nu), "a0": float(a0), "b0": float(b0)}
    _check_positive(nu=nu, a0=a0, b0=b0)
    return Example(
        id="running-example",
        title="Gaussian, independent normal and gamma priors",
        model=Model(
            _normal_gamma.log_likelihood,
            _independent_prior,
            data=data,
            hyper=hyper,
            name="running-example",
            conditionals=_independent_conditionals(),
            latent=("mu",),
        ),
        log_evidence=independent_log_evidence(data, **hyper),
        formula="mu integrated exactly, one-dimensional quadrature over tau (1e-8)",
        source="Friel & Wyse (2011), running example",
        tags=("two-dimensional", "skewed", "conditionals", "friel-wyse"),
    )


def normal_gamma(
    tau0: float = 1.0,
    y: Any = None,
    *,
    mu0: float = 0.0,
    a0: float = 0.001,
    b0: float = 0.001,
    n: int = 100,
    seed: int = 0,
) -> Example:
    """Table 1: the exact log evidence moves with `tau0`, the harmonic mean hardly does.

    With the paper's a0 = b0 = 0.001 the prior of tau is so near to improper that half of its draws underflow to
    zero in float64. Methods that start from prior draws should be expected to say so; a0 = b0 = 1 is harmless.
    """
    data = _observations(y, n, seed)
    _check_positive(tau0=tau0, a0=a0, b0=b0)
    id = f"normal-gamma-{tau0:g}"
    return Example(
        id=id,
        title=f"Gaussian, normal-gamma prior with tau0 = {tau0:g}",
        model=_normal_gamma.build(data, mu0=mu0, tau0=tau0, a0=a0, b0=b0, name=id),
        log_evidence=_normal_gamma.log_evidence(data, mu0, tau0, a0, b0),
        formula="ratio of normal-gamma normalising constants",
        source="Friel & Wyse (2011), Table 1",
        tags=("two-dimensional", "skewed", "conditionals", "friel-wyse", "stress"),
    )


def independent_log_evidence(y: np.ndarray, xi: float, nu: float, a0: float, b0: float) -> float:
    """Given tau, y is normal with mean xi and covariance I/tau + 11'/nu; then one integral over tau."""
    n, mean = len(y), float(np.mean(y))
    within, between = float(np.sum((y - mean) ** 2)), (mean - xi) ** 2
    shape, rate = 0.5 * a0, 0.5 * b0

    def log_integrand(tau: np.ndarray) -> np.ndarray:
        shrunk = nu / (nu + n * tau)
        likelihood = 0.5 * n * np.log(tau) + 0.5 * np.log(shrunk) - 0.5 * tau * (within + n * shrunk * between)
        prior = shape * math.log(rate) - math.lgamma(shape) + (shape - 1.0) * np.log(tau) - rate * tau
        return likelihood + prior - 0.5 * n * math.log(2.0 * math.pi)

    return log_integral_over_positive(log_integrand)


def _independent_prior(hyper: Any) -> Any:
    return {
        "mu": dist.Normal(hyper["xi"], 1.0 / jnp.sqrt(hyper["nu"])),
        "tau": dist.Gamma(0.5 * hyper["a0"], 0.5 * hyper["b0"]),
    }


def _independent_conditionals() -> tuple[Conditional, ...]:
    def mu_moments(params: Any, beta: Any, y: Any, hyper: Any) -> tuple[Any, Any]:
        precision = beta * y.shape[0] * params["tau"] + hyper["nu"]
        # The paper prints n where tau belongs.
        return (beta * params["tau"] * jnp.sum(y) + hyper["nu"] * hyper["xi"]) / precision, precision

    def tau_shape(beta: Any, y: Any, hyper: Any) -> Any:
        return 0.5 * (beta * y.shape[0] + hyper["a0"])

    def tau_rate(params: Any, beta: Any, y: Any, hyper: Any) -> Any:
        return 0.5 * (beta * jnp.sum((y - params["mu"]) ** 2) + hyper["b0"])

    return normal_block("mu", mu_moments), gamma_block("tau", tau_shape, tau_rate)


def _observations(y: Any, n: int, seed: int) -> np.ndarray:
    if y is None:
        if n < 1:
            raise BadInput(f"n={n!r}: at least one observation is simulated.")
        return np.random.default_rng(seed).normal(0.0, 1.0, n)
    array = np.asarray(y, np.float64)
    if array.ndim != 1 or array.size == 0:
        raise BadInput(f"y has shape {array.shape}: give a vector of observations.")
    return array


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not (np.isfinite(value) and value > 0.0):
            raise BadInput(f"{name}={value!r} must be a positive number, or the prior is improper.")
