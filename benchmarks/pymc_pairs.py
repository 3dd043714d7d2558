"""Nine models (eight schools in two forms), each written in PyMC and in NumPyro: the same parameters, priors and data.

`Pair.numpyro_parameters` turns PyMC's parameters into NumPyro's where the two libraries write a parameter differently, and
`Pair.log_jacobian` is then the logarithm of the volume that the change of parameters takes: log prior in PyMC's + log_jacobian =
log prior in NumPyro's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

from zhat.zoo import datasets

SCHOOLS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SCHOOLS_SE = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
COUNTS = np.array([3.0, 7.0, 1.0, 4.0])


@dataclass(frozen=True)
class Pair:
    """A model in both libraries: a function that builds PyMC's, NumPyro's function and its arguments."""

    name: str
    pymc: Callable[[], Any]
    numpyro: Callable[..., Any]
    arguments: tuple[Any, ...]
    numpyro_parameters: Callable[[dict[str, Any]], dict[str, Any]] = dict
    log_jacobian: Callable[[dict[str, Any]], float] = lambda params: 0.0


def _rng() -> np.random.Generator:
    return np.random.default_rng(20)


# -- linear regression -------------------------------------------------------------------------------------------


def _line() -> tuple[np.ndarray, np.ndarray]:
    x = _rng().normal(size=(40, 3))
    return x, 0.5 + x @ np.array([1.0, -0.5, 0.2]) + 0.7 * _rng().normal(size=40)


def linear_pymc() -> Any:
    import pymc as pm

    x, y = _line()
    with pm.Model() as model:
        a = pm.Normal("a", 0, 10)
        b = pm.Normal("b", 0, 2.5, shape=3)
        sigma = pm.HalfNormal("sigma", 2)
        pm.Normal("y", a + pm.Data("x", x) @ b, sigma, observed=y)
    return model


def linear_numpyro(x: Any, y: Any) -> None:
    a = numpyro.sample("a", dist.Normal(0.0, 10.0))
    b = numpyro.sample("b", dist.Normal(0.0, 2.5).expand([3]))
    sigma = numpyro.sample("sigma", dist.HalfNormal(2.0))
    numpyro.sample("y", dist.Normal(a + x @ b, sigma), obs=y)


# -- logistic regression of the Pima data --------------------------------------------------------------------------


def _pima() -> tuple[np.ndarray, np.ndarray]:
    columns = datasets.load("pima_indians")
    names = [name for name in columns if name in ("NP", "PGC", "BMI", "DP")]
    x = np.stack([columns[name] for name in names], axis=1)
    return (x - x.mean(axis=0)) / x.std(axis=0), columns["diabetes"].astype(int)


def pima_pymc() -> Any:
    import pymc as pm

    x, y = _pima()
    with pm.Model() as model:
        a = pm.Normal("a", 0, 10)
        b = pm.Normal("b", 0, 10, shape=x.shape[1])
        pm.Bernoulli("y", logit_p=a + x @ b, observed=y)
    return model


def pima_numpyro(x: Any, y: Any) -> None:
    a = numpyro.sample("a", dist.Normal(0.0, 10.0))
    b = numpyro.sample("b", dist.Normal(0.0, 10.0).expand([x.shape[1]]))
    numpyro.sample("y", dist.Bernoulli(logits=a + x @ b), obs=y)


# -- eight schools, centred and not ----------------------------------------------------------------------------------


def centred_pymc() -> Any:
    import pymc as pm

    with pm.Model(coords={"school": list("ABCDEFGH")}) as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        theta = pm.Normal("theta", mu, tau, dims="school")
        pm.Normal("y", theta, SCHOOLS_SE, observed=SCHOOLS, dims="school")
    return model


def centred_numpyro(y: Any, se: Any) -> None:
    mu = numpyro.sample("mu", dist.Normal(0.0, 5.0))
    tau = numpyro.sample("tau", dist.HalfCauchy(5.0))
    theta = numpyro.sample("theta", dist.Normal(mu, tau).expand([8]))
    numpyro.sample("y", dist.Normal(theta, se), obs=y)


def non_centred_pymc() -> Any:
    import pymc as pm

    with pm.Model() as model:
        mu = pm.Normal("mu", 0, 5)
        tau = pm.HalfCauchy("tau", 5)
        z = pm.Normal("z", 0, 1, shape=8)
        theta = pm.Deterministic("theta", mu + tau * z)
        pm.Normal("y", theta, SCHOOLS_SE, observed=SCHOOLS)
    return model


def non_centred_numpyro(y: Any, se: Any) -> None:
    mu = numpyro.sample("mu", dist.Normal(0.0, 5.0))
    tau = numpyro.sample("tau", dist.HalfCauchy(5.0))
    z = numpyro.sample("z", dist.Normal(0.0, 1.0).expand([8]))
    numpyro.sample("y", dist.Normal(mu + tau * z, se), obs=y)


# -- Poisson regression with an intercept for each group -----------------------------------------------------------


def _groups() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = _rng()
    group, x = np.repeat(np.arange(6), 8), rng.normal(size=48)
    return group, x, rng.poisson(np.exp(0.5 + 0.4 * x + rng.normal(0.0, 0.5, 6)[group]))


def glmm_pymc() -> Any:
    import pymc as pm

    group, x, y = _groups()
    with pm.Model() as model:
        a = pm.Normal("a", 0, 2)
        b = pm.Normal("b", 0, 1)
        sd = pm.Exponential("sd", 1)
        u = pm.Normal("u", 0, sd, shape=6)
        pm.Poisson("y", pm.math.exp(a + b * x + u[group]), observed=y)
    return model


def glmm_numpyro(group: Any, x: Any, y: Any) -> None:
    a = numpyro.sample("a", dist.Normal(0.0, 2.0))
    b = numpyro.sample("b", dist.Normal(0.0, 1.0))
    sd = numpyro.sample("sd", dist.Exponential(1.0))
    u = numpyro.sample("u", dist.Normal(0.0, sd).expand([6]))
    numpyro.sample("y", dist.Poisson(jnp.exp(a + b * x + u[group])), obs=y)


# -- a mixture of two normals, the labels summed out ------------------------------------------------------------------


def _two_bumps() -> np.ndarray:
    rng = _rng()
    return np.where(rng.random(60) < 0.35, rng.normal(-1.5, 0.6, 60), rng.normal(1.2, 0.9, 60))


def mixture_pymc() -> Any:
    import pymc as pm

    with pm.Model() as model:
        w = pm.Dirichlet("w", np.ones(2))
        mu = pm.Normal("mu", 0, 3, shape=2)
        sigma = pm.Gamma("sigma", 2, 2, shape=2)
        pm.NormalMixture("y", w, mu, sigma, observed=_two_bumps())
    return model


def mixture_numpyro(y: Any) -> None:
    w = numpyro.sample("w", dist.Dirichlet(jnp.ones(2)))
    mu = numpyro.sample("mu", dist.Normal(0.0, 3.0).expand([2]))
    sigma = numpyro.sample("sigma", dist.Gamma(2.0, 2.0).expand([2]))
    numpyro.sample("y", dist.MixtureSameFamily(dist.Categorical(probs=w), dist.Normal(mu, sigma)), obs=y)


# -- a covariance matrix: correlations by Lewandowski, Kurowicka & Joe (2009), standard deviations apart ----------------


def _three_columns() -> np.ndarray:
    factor = np.array([[1.0, 0.0, 0.0], [0.8, 0.6, 0.0], [-0.3, 0.2, 0.9]])
    return _rng().normal(size=(30, 3)) @ factor.T


def lkj_pymc() -> Any:
    import pymc as pm

    with pm.Model() as model:
        factor, _, _ = pm.LKJCholeskyCov("factor", n=3, eta=2, sd_dist=pm.Exponential.dist(1), compute_corr=True)
        pm.MvNormal("y", np.zeros(3), chol=factor, observed=_three_columns())
    return model


def lkj_numpyro(y: Any) -> None:
    sd = numpyro.sample("sd", dist.Exponential(1.0).expand([3]))
    corr = numpyro.sample("corr", dist.LKJCholesky(3, 2.0))
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(3), scale_tril=sd[:, None] * corr), obs=y)


LOWER = np.tril_indices(3)
BELOW = np.tril_indices(3, -1)


def _packed(free: Any) -> Any:
    """PyMC's packed factor of the covariance from three standard deviations and three entries of the factor of the correlations."""
    corr = jnp.zeros((3, 3)).at[BELOW].set(free[3:])
    corr = corr + jnp.diag(jnp.sqrt(1.0 - jnp.sum(corr**2, axis=1)))
    return (free[:3, None] * corr)[LOWER]


def lkj_parameters(params: dict[str, Any]) -> dict[str, Any]:
    factor = np.zeros((3, 3))
    factor[LOWER] = params["factor"]
    sd = np.sqrt((factor**2).sum(axis=1))
    return {"sd": sd, "corr": factor / sd[:, None]}


def lkj_log_jacobian(params: dict[str, Any]) -> float:
    other = lkj_parameters(params)
    with jax.enable_x64(True):
        slope = jax.jacfwd(_packed)(jnp.concatenate([other["sd"], other["corr"][BELOW]]))
        return float(jnp.linalg.slogdet(slope)[1])


# -- a simplex ---------------------------------------------------------------------------------------------------------


def simplex_pymc() -> Any:
    import pymc as pm

    with pm.Model() as model:
        p = pm.Dirichlet("p", np.array([2.0, 1.0, 3.0, 0.5]))
        pm.Multinomial("y", n=int(COUNTS.sum()), p=p, observed=COUNTS.astype(int))
    return model


def simplex_numpyro(y: Any) -> None:
    p = numpyro.sample("p", dist.Dirichlet(jnp.array([2.0, 1.0, 3.0, 0.5])))
    numpyro.sample("y", dist.Multinomial(total_count=int(COUNTS.sum()), probs=p), obs=y)


# -- truncation, in the prior and in the likelihood --------------------------------------------------------------------


def _above_one() -> np.ndarray:
    y = _rng().normal(1.3, 1.0, 80)
    return y[y > 1.0]


def truncated_pymc() -> Any:
    import pymc as pm

    with pm.Model() as model:
        mu = pm.TruncatedNormal("mu", 0.5, 2.0, lower=-1.0, upper=3.0)
        sigma = pm.Uniform("sigma", 0.1, 4)
        pm.Truncated("y", pm.Normal.dist(mu, sigma), lower=1.0, upper=None, observed=_above_one())
    return model


def truncated_numpyro(y: Any) -> None:
    mu = numpyro.sample("mu", dist.TruncatedNormal(0.5, 2.0, low=-1.0, high=3.0))
    sigma = numpyro.sample("sigma", dist.Uniform(0.1, 4.0))
    numpyro.sample("y", dist.TruncatedNormal(mu, sigma, low=1.0), obs=y)


PAIRS = (
    Pair("linear", linear_pymc, linear_numpyro, _line()),
    Pair("logistic, Pima", pima_pymc, pima_numpyro, _pima()),
    Pair("eight schools, centred", centred_pymc, centred_numpyro, (SCHOOLS, SCHOOLS_SE)),
    Pair("eight schools, not centred", non_centred_pymc, non_centred_numpyro, (SCHOOLS, SCHOOLS_SE)),
    Pair("Poisson with groups", glmm_pymc, glmm_numpyro, _groups()),
    Pair("mixture", mixture_pymc, mixture_numpyro, (_two_bumps(),)),
    Pair("correlations", lkj_pymc, lkj_numpyro, (_three_columns(),), lkj_parameters, lkj_log_jacobian),
    Pair("simplex", simplex_pymc, simplex_numpyro, (COUNTS.astype(int),)),
    Pair("truncated", truncated_pymc, truncated_numpyro, (_above_one(),)),
)
