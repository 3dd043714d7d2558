"""The normal-gamma model: y_i ~ N(mu, 1/tau), mu given tau ~ N(mu0, 1/(tau0 tau)), tau ~ Ga(a0, rate b0).

Conjugate, so the evidence is a formula:

    p(y) = Gamma(a_n)/Gamma(a0) * b0^a0 / b_n^a_n * sqrt(tau0/tau_n) * (2 pi)^(-n/2)

Two examples are built on it: E2 of the exact set and Table 1 of Friel & Wyse (2012). Its full conditionals are not the ones
the paper prints (those are the factors of the exact posterior): tau given mu also depends on mu through its prior.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

from zhat.model.model import Conditional, Model
from zhat.zoo.parts.densities import log_normal
from zhat.zoo.parts.gibbs import gamma_block, normal_block


def build(y: Any, mu0: float, tau0: float, a0: float, b0: float, name: str) -> Model:
    """The model with `y` as data and ``{"mu0", "tau0", "a0", "b0"}`` as hyperparameters."""
    hyper = {"mu0": float(mu0), "tau0": float(tau0), "a0": float(a0), "b0": float(b0)}
    y = np.asarray(y, np.float64)
    return Model(log_likelihood, prior, data=y, hyper=hyper, name=name, conditionals=conditionals(), latent=("mu",))


def prior(hyper: Any) -> None:
    """tau first: mu's spread depends on it."""
    tau = numpyro.sample("tau", dist.Gamma(hyper["a0"], hyper["b0"]))
    numpyro.sample("mu", dist.Normal(hyper["mu0"], 1.0 / jnp.sqrt(hyper["tau0"] * tau)))


def log_likelihood(params: Any, y: Any) -> Any:
    """Independent normal observations with mean mu and precision tau."""
    return jnp.sum(log_normal(y, params["mu"], 1.0 / jnp.sqrt(params["tau"])))


def conditionals() -> tuple[Conditional, ...]:
    """mu given tau, and tau given mu, of prior x likelihood^beta."""

    def mu_moments(params: Any, beta: Any, y: Any, hyper: Any) -> tuple[Any, Any]:
        weight = beta * y.shape[0] + hyper["tau0"]
        mean = (beta * jnp.sum(y) + hyper["tau0"] * hyper["mu0"]) / weight
        return mean, params["tau"] * weight

    def tau_shape(beta: Any, y: Any, hyper: Any) -> Any:
        # The extra 1/2 is the prior of mu, whose density carries sqrt(tau).
        return hyper["a0"] + 0.5 * (beta * y.shape[0] + 1.0)

    def tau_rate(params: Any, beta: Any, y: Any, hyper: Any) -> Any:
        squares = beta * jnp.sum((y - params["mu"]) ** 2) + hyper["tau0"] * (params["mu"] - hyper["mu0"]) ** 2
        return hyper["b0"] + 0.5 * squares

    return normal_block("mu", mu_moments), gamma_block("tau", tau_shape, tau_rate)


def log_evidence(y: Any, mu0: float, tau0: float, a0: float, b0: float) -> float:
    """The closed form above."""
    y = np.asarray(y, np.float64)
    n, mean = len(y), float(np.mean(y))
    tau_n, a_n = tau0 + n, a0 + n / 2.0
    b_n = b0 + 0.5 * float(np.sum((y - mean) ** 2)) + tau0 * n * (mean - mu0) ** 2 / (2.0 * tau_n)
    gammas = math.lgamma(a_n) - math.lgamma(a0)
    return gammas + a0 * math.log(b0) - a_n * math.log(b_n) + 0.5 * math.log(tau0 / tau_n) - 0.5 * n * math.log(2.0 * math.pi)
