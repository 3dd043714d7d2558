"""One entry of a parameter as a point hypothesis: its own coordinate, its prior density, and the cases in which it has none."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat.errors import BadInput

X = np.random.default_rng(0).standard_normal((30, 3))
Y = X @ np.array([0.5, 0.0, -0.3]) + np.random.default_rng(1).standard_normal(30)


def regression(prior):
    return zhat.Model(lambda p, d: jnp.sum(dist.Normal(d[0] @ p["beta"], 1.0).log_prob(d[1])), prior, data=(X, Y), name="lm")


def exact(covariance, seed):
    """Draws of the normal posterior, and its mean and covariance."""
    precision = X.T @ X + np.linalg.inv(covariance)
    spread = np.linalg.inv(precision)
    mean = spread @ X.T @ Y
    return {"beta": np.random.default_rng(seed).multivariate_normal(mean, spread, (4, 1000))}, mean, spread


def test_one_coefficient_of_a_regression_is_right():
    model = regression({"beta": dist.Normal(0.0, jnp.array([1.0, 2.0, 3.0])).to_event(1)})
    z = []
    for seed in range(6):
        draws, mean, spread = exact(np.diag([1.0, 4.0, 9.0]), seed)
        result = zhat.savage_dickey(model, draws, "beta[1]", at=0.0, seed=1)
        known = dist.Normal(mean[1], np.sqrt(spread[1, 1])).log_prob(0.0) - dist.Normal(0.0, 2.0).log_prob(0.0)
        assert result.status.is_ok, result.explain()
        assert abs(result.log_prior_density - float(dist.Normal(0.0, 2.0).log_prob(0.0))) < 1e-6
        z.append((result.value - float(known)) / result.se)
    print(np.round(z, 2))
    assert np.abs(z).max() < 4.0 and "beta[1] = 0.0" in str(result)


@pytest.mark.parametrize("family", [dist.Cauchy, dist.Laplace, dist.StudentT])
def test_the_prior_density_is_integrated_for_other_tails(family):
    one = family(2.0, 0.0, 1.5) if family is dist.StudentT else family(0.0, 1.5)
    model = regression({"beta": one.expand([3]).to_event(1)})
    fit = zhat.evidence(model, zhat.Bridge(mode_check=False), seed=1, progress=False)
    result = zhat.savage_dickey(model, fit, "beta[2]", at=-0.25, seed=1)
    assert result.status.is_ok and abs(result.log_prior_density - float(one.log_prob(-0.25))) < 1e-3


def test_entries_whose_priors_depend_on_each_other_are_said():
    covariance = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]])
    model = regression({"beta": dist.MultivariateNormal(jnp.zeros(3), covariance)})
    draws, _, _ = exact(covariance, 1)
    assert "prior-depends" in str(zhat.savage_dickey(model, draws, "beta[1]", at=0.0, seed=1).status)
    assert zhat.savage_dickey(model, draws, "beta[2]", at=0.0, seed=1).status.is_ok  # independent of the other two


def test_entries_without_a_coordinate_of_their_own_are_refused():
    simplex = zhat.Model(
        lambda p, y: jnp.sum(y * jnp.log(p["w"])), {"w": dist.Dirichlet(jnp.ones(3))}, data=np.array([3.0, 4.0, 5.0])
    )
    draws = {"w": np.random.default_rng(1).dirichlet([4.0, 5.0, 6.0], (4, 500))}
    with pytest.raises(BadInput, match="cannot change alone"):
        zhat.savage_dickey(simplex, draws, "w[0]", at=0.2)


@pytest.mark.parametrize(
    ("name", "words"), [("beta[3]", "no entry"), ("beta[0,1]", "no entry"), ("gamma[0]", "no parameter 'gamma'")]
)
def test_entries_that_do_not_exist_are_named(name, words):
    model = regression({"beta": dist.Normal().expand([3]).to_event(1)})
    with pytest.raises(BadInput, match=words):
        zhat.savage_dickey(model, exact(np.eye(3), 1)[0], name, at=0.0)


def test_a_number_for_a_vector_names_an_entry():
    model = regression({"beta": dist.Normal().expand([3]).to_event(1)})
    with pytest.raises(BadInput, match=r"one entry is named beta\[0\]"):
        zhat.savage_dickey(model, exact(np.eye(3), 1)[0], "beta", at=0.0)
