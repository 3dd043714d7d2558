"""One-parameter and small conjugate models: the evidence is a formula, the posteriors are of every common shape.

E1 to E7 of the exact set. Gaussian-only test sets hide sign errors, so most of these are skewed or bounded.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from jax.scipy.special import gammaln

from zhat.model.model import Model
from zhat.zoo._example import Example
from zhat.zoo.parts import normal_gamma as _normal_gamma
from zhat.zoo.parts.densities import log_normal
from zhat.zoo.parts.gibbs import gamma_block, normal_block

FIVE_NUMBERS = np.array([1.2, -0.4, 0.7, 2.1, 0.3])
SOURCE = "textbook conjugate family; exact set of zhat"


def normal_mean() -> Example:
    """E1: five observations of N(theta, 1), theta ~ N(0, 2^2). The posterior is exactly Gaussian: Laplace is exact."""

    def log_likelihood(params: Any, y: Any) -> Any:
        return jnp.sum(log_normal(y, params["theta"], 1.0))

    def prior(hyper: Any) -> Any:
        return {"theta": dist.Normal(0.0, hyper["scale"])}

    def moments(params: Any, beta: Any, y: Any, hyper: Any) -> tuple[Any, Any]:
        precision = beta * y.shape[0] + 1.0 / hyper["scale"] ** 2
        return beta * jnp.sum(y) / precision, precision

    block = normal_block("theta", moments)
    return Example(
        id="E1",
        title="mean of a normal with known variance",
        model=Model(log_likelihood, prior, FIVE_NUMBERS, {"scale": 2.0}, name="E1", conditionals=(block,), latent=("theta",)),
        log_evidence=-7.963382456314,
        formula="log N(y; 0, I + 4 11')",
        source=SOURCE,
        tags=("one-dimensional", "conditionals"),
    )


def fixed_mean_log_evidence() -> float:
    """E1_0: the data of E1 with theta = 0. It has no parameters, so it is a number and no Model.

    The other side of a Bayes factor: log BF of E1 against it is -0.073689790290.
    """
    return -7.889692666023


def normal_gamma() -> Example:
    """E2: the data of E1, mean and precision unknown, conjugate priors. Has tempered Gibbs conditionals."""
    return Example(
        id="E2",
        title="mean and precision of a normal, conjugate prior",
        model=_normal_gamma.build(FIVE_NUMBERS, mu0=0.0, tau0=0.5, a0=2.0, b0=1.0, name="E2"),
        log_evidence=-8.150105751897,
        formula="ratio of normal-gamma normalising constants",
        source=SOURCE,
        tags=("two-dimensional", "skewed", "conditionals"),
    )


def beta_binomial_flat() -> Example:
    """E3a: 2 successes in 10 trials, flat prior. Laplace errs by +0.0519 in theta and -0.0300 in logit theta."""
    return _beta_binomial("E3a", 1.0, 1.0, -2.397895272798, "-log 11")


def beta_binomial_informed() -> Example:
    """E3b: the data of E3a under a Be(2, 3) prior, which vanishes at both ends."""
    return _beta_binomial("E3b", 2.0, 3.0, -2.003480000877, "log C(10,2) + log B(4,11) - log B(2,3)")


def _beta_binomial(id: str, a: float, b: float, log_evidence: float, formula: str) -> Example:
    def log_likelihood(params: Any, data: Any) -> Any:
        k, n, theta = data["successes"], data["trials"], params["theta"]
        # The binomial coefficient stays: leaving it out is the classic way to be wrong by a constant.
        log_choose = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
        return log_choose + k * jnp.log(theta) + (n - k) * jnp.log1p(-theta)

    def prior(hyper: Any) -> Any:
        return {"theta": dist.Beta(hyper["a"], hyper["b"])}

    data = {"successes": np.float64(2), "trials": np.float64(10)}
    return Example(
        id=id,
        title=f"binomial proportion, Be({a:g}, {b:g}) prior",
        model=Model(log_likelihood, prior, data=data, hyper={"a": a, "b": b}, name=id),
        log_evidence=log_evidence,
        formula=formula,
        source=SOURCE,
        tags=("one-dimensional", "bounded", "skewed"),
    )


def poisson_rate() -> Example:
    """E4: five Poisson counts, gamma prior on the rate; a positive, mildly skewed parameter."""

    def log_likelihood(params: Any, y: Any) -> Any:
        rate = params["rate"]
        return jnp.sum(y) * jnp.log(rate) - y.shape[0] * rate - jnp.sum(gammaln(y + 1.0))

    block = gamma_block(
        "rate",
        lambda beta, y, hyper: hyper["a"] + beta * y.sum(),
        lambda params, beta, y, hyper: hyper["b"] + beta * y.shape[0],
    )
    counts = np.array([3.0, 0.0, 2.0, 4.0, 1.0])
    return Example(
        id="E4",
        title="Poisson rate, gamma prior",
        model=Model(log_likelihood, _gamma_rate, data=counts, hyper=_gamma(), name="E4", conditionals=(block,)),
        log_evidence=-9.661766264999,
        formula="ratio of gamma normalising constants, with the factorials",
        source=SOURCE,
        tags=("one-dimensional", "skewed", "bounded", "conditionals"),
    )


def exponential_rate() -> Example:
    """E5: four waiting times, gamma prior on the rate; more skewed than E4. Catches sign errors in the weights."""

    def log_likelihood(params: Any, times: Any) -> Any:
        return times.shape[0] * jnp.log(params["rate"]) - params["rate"] * jnp.sum(times)

    return Example(
        id="E5",
        title="exponential rate, gamma prior",
        model=Model(log_likelihood, _gamma_rate, data=np.array([0.5, 1.3, 0.2, 2.7]), hyper=_gamma(), name="E5"),
        log_evidence=-5.655305306261,
        formula="ratio of gamma normalising constants",
        source=SOURCE,
        tags=("one-dimensional", "skewed", "bounded"),
    )


def _gamma_rate(hyper: Any) -> Any:
    return {"rate": dist.Gamma(hyper["a"], hyper["b"])}


def _gamma() -> dict[str, float]:
    return {"a": 2.0, "b": 1.0}


def dirichlet_multinomial() -> Example:
    """E6: counts (3, 1, 4) over three categories, flat Dirichlet: the parameter is a simplex (two free dimensions)."""

    def log_likelihood(params: Any, counts: Any) -> Any:
        log_choose = gammaln(jnp.sum(counts) + 1.0) - jnp.sum(gammaln(counts + 1.0))
        return log_choose + jnp.sum(counts * jnp.log(params["p"]))

    def prior(hyper: Any) -> Any:
        return {"p": dist.Dirichlet(hyper["concentration"])}

    return Example(
        id="E6",
        title="multinomial proportions, flat Dirichlet prior",
        model=Model(log_likelihood, prior, data=np.array([3.0, 1.0, 4.0]), hyper={"concentration": np.ones(3)}, name="E6"),
        log_evidence=-3.806662489770,
        formula="-log C(10,2): all 45 count vectors are equally likely",
        source=SOURCE,
        tags=("two-dimensional", "bounded", "skewed"),
    )


def geometric_probability() -> Example:
    """E7: failures before success (0, 3, 1, 2), Be(2, 2) prior."""

    def log_likelihood(params: Any, failures: Any) -> Any:
        p = params["p"]
        return failures.shape[0] * jnp.log(p) + jnp.sum(failures) * jnp.log1p(-p)

    def prior(hyper: Any) -> Any:
        return {"p": dist.Beta(hyper["a"], hyper["b"])}

    return Example(
        id="E7",
        title="geometric success probability, beta prior",
        model=Model(log_likelihood, prior, data=np.array([0.0, 3.0, 1.0, 2.0]), hyper={"a": 2.0, "b": 2.0}, name="E7"),
        log_evidence=-7.447751280048,
        formula="log B(6,8) - log B(2,2)",
        source=SOURCE,
        tags=("one-dimensional", "bounded"),
    )
