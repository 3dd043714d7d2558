"""The space of a NumPyro program: bijections there and back, log-Jacobians against differences, names and shapes."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from scipy import stats

from zhat import Model
from zhat.model.program import EXACT_QUANTILES


def nested_bounds():
    high = numpyro.sample("high", dist.LogNormal(0.5, 0.5))
    numpyro.sample("inside", dist.Uniform(0.0, high))


PRIORS = {
    "vector": {"x": dist.Normal(1.0, 2.0).expand([3]).to_event(1)},
    "matrix": {"x": dist.Normal(0.0, 1.0).expand([2, 3]).to_event(2)},
    "batch": {"x": dist.Gamma(2.0, 1.0).expand([2, 2])},
    "positive": {"x": dist.LogNormal(0.0, 1.0), "y": dist.HalfCauchy(5.0)},
    "bounded": {"x": dist.Uniform(-2.0, 3.0), "y": dist.TruncatedNormal(0.2, 1.0, low=0.0, high=1.0)},
    "simplex": {"x": dist.Dirichlet(np.array([1.0, 2.0, 3.0, 1.5]))},
    "cholesky": {"x": dist.LKJCholesky(3, 1.5)},
    "dependent": nested_bounds,
}
SHAPES = {
    "vector": ((3,), (3,)),
    "matrix": ((2, 3), (2, 3)),
    "batch": ((2, 2), (2, 2)),
    "positive": ((), ()),
    "bounded": ((), ()),
    "simplex": ((4,), (3,)),
    "cholesky": ((3, 3), (3,)),
}
N_POINTS = 5


@cache
def maps(case):
    """Model, unconstrained points, parameters there, log prior of both kinds, points back: one compilation a case."""
    model = Model(lambda params: 0.0, PRIORS[case], name=case)
    space = model.space

    def there_and_back(u):
        params, free = space.constrain(u, None, None)
        return params, free, space.log_prior(params, None, None), space.unconstrain(params, None, None)

    with jax.enable_x64(True):
        u = np.random.default_rng(0).normal(0.0, 1.2, (N_POINTS, model.n_dimensions))
        return model, u, *jax.tree.map(np.asarray, jax.jit(jax.vmap(there_and_back))(u))


@pytest.mark.parametrize("case", PRIORS)
def test_unconstrained_vectors_come_back_to_nine_digits(case):
    _, u, _, _, _, back = maps(case)
    np.testing.assert_allclose(back, u, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("case", PRIORS)
def test_parameters_lie_in_their_support(case):
    _, _, params, _, _, _ = maps(case)
    x = params.get("x")
    if case in ("batch", "positive"):
        assert (x > 0).all()
    if case == "bounded":
        assert ((x > -2) & (x < 3)).all() and ((params["y"] > 0) & (params["y"] < 1)).all()
    if case == "simplex":
        assert (x > 0).all()
        np.testing.assert_allclose(x.sum(axis=1), 1.0, atol=1e-12)
    if case == "cholesky":
        correlation = x @ np.swapaxes(x, 1, 2)
        np.testing.assert_allclose(np.einsum("kii->ki", correlation), 1.0, atol=1e-12)
        assert (np.triu(x, 1) == 0).all()
    if case == "dependent":
        assert ((params["inside"] > 0) & (params["inside"] < params["high"])).all()


@pytest.mark.parametrize("case", SHAPES)
def test_sites_keep_the_shape_that_people_see(case):
    model, _, params, _, _, _ = maps(case)
    site = model.space.sites[0]
    assert (site.shape, site.free_shape) == SHAPES[case]
    assert params["x"].shape[1:] == SHAPES[case][0]


def free_coordinates(case, params):
    """A chart of the parameters with as many coordinates as the unconstrained vector; densities are per this chart."""
    if case == "simplex":
        return params["x"][:-1]
    if case == "cholesky":
        return params["x"][jnp.tril_indices(3, -1)]
    return jnp.concatenate([jnp.ravel(value) for value in params.values()])


@pytest.mark.parametrize("case", ["positive", "bounded", "simplex", "cholesky", "dependent"])
def test_the_log_jacobian_is_that_of_numerical_differences(case):
    model, u, _, free, constrained, _ = maps(case)
    d, h = model.n_dimensions, 1e-5
    shifted = u[:, None, None, :] + h * np.stack([np.eye(d), -np.eye(d)])[None]  # points x (plus, minus) x direction x d
    with jax.enable_x64(True):
        chart = jax.jit(jax.vmap(lambda v: free_coordinates(case, model.space.constrain(v, None, None)[0])))
        values = np.asarray(chart(shifted.reshape(-1, d))).reshape(N_POINTS, 2, d, d)
    jacobian = (values[:, 0] - values[:, 1]) / (2 * h)
    np.testing.assert_allclose(free - constrained, np.linalg.slogdet(jacobian)[1], atol=1e-7)


def test_the_dependent_prior_uses_its_parents_value():
    _, _, params, _, log_prior, _ = maps("dependent")
    high = params["high"]
    expected = stats.lognorm(0.5, scale=np.exp(0.5)).logpdf(high) - np.log(high)
    np.testing.assert_allclose(log_prior, expected, rtol=1e-12)


def test_every_coordinate_has_a_label():
    assert maps("matrix")[0].space.coordinate_names() == tuple(f"x[{i},{j}]" for i in range(2) for j in range(3))
    assert maps("bounded")[0].space.coordinate_names() == ("x", "y")
    assert maps("simplex")[0].space.coordinate_names() == ("x[0]", "x[1]", "x[2]")


@pytest.mark.parametrize("case", ["bounded", "dependent"])
def test_prior_draws_and_prior_density_belong_together(case):
    # The change of measure of model.check(): it alarms at 4 errors, 6e-5 a case, with fixed seeds.
    finding = maps(case)[0].check(n_draws=2000, seed=2)["prior"]
    print(finding)
    assert finding.verdict.value == "fine"


def test_two_threads_may_run_programs_at_once():
    """NumPyro's handlers are one stack for the whole process; the pause lets the other thread in between statements."""

    def slow(*_):
        numpyro.sample("a", dist.Normal(0.0, 1.0))
        time.sleep(0.02)
        numpyro.sample("b", dist.Normal(0.0, 1.0))

    def observed():
        slow()
        numpyro.sample("y", dist.Normal(0.0, 1.0), obs=1.0)

    def build(i):
        if i % 2:
            return Model.from_numpyro(observed)
        return Model(lambda p: p["a"], slow)

    def evaluate(model):
        with jax.enable_x64(True):
            return model.core.log_densities(jnp.ones(2), model.data, model.hyper)

    with ThreadPoolExecutor(4) as threads:
        models = list(threads.map(build, range(8)))
        values = list(threads.map(evaluate, models))
    assert all(model.core.space.names == ("a", "b") for model in models)
    priors, likelihoods = np.transpose(values)
    assert np.allclose(priors, -1.0 - np.log(2.0 * np.pi))
    assert np.allclose(likelihoods[0::2], 1.0) and np.allclose(likelihoods[1::2], -0.5 - 0.5 * np.log(2.0 * np.pi))


QUANTILES = {
    dist.Cauchy: (dist.Cauchy(1.0, 2.0), stats.cauchy(1.0, 2.0)),
    dist.Exponential: (dist.Exponential(0.5), stats.expon(scale=2.0)),
    dist.HalfCauchy: (dist.HalfCauchy(2.0), stats.halfcauchy(scale=2.0)),
    dist.HalfNormal: (dist.HalfNormal(2.0), stats.halfnorm(scale=2.0)),
    dist.Laplace: (dist.Laplace(1.0, 2.0), stats.laplace(1.0, 2.0)),
    dist.LogNormal: (dist.LogNormal(1.0, 2.0), stats.lognorm(2.0, scale=np.exp(1.0))),
    dist.Logistic: (dist.Logistic(1.0, 2.0), stats.logistic(1.0, 2.0)),
    dist.Normal: (dist.Normal(1.0, 2.0), stats.norm(1.0, 2.0)),
    dist.Uniform: (dist.Uniform(-1.0, 2.0), stats.uniform(-1.0, 3.0)),
}


@pytest.mark.parametrize("kind", sorted(EXACT_QUANTILES, key=lambda kind: kind.__name__))
def test_quantile_functions_that_draws_come_from_are_exact(kind):
    ours, theirs = QUANTILES[kind]
    level = np.concatenate([[1e-9, 1e-6, 1.0 - 1e-6, 1.0 - 1e-9], np.linspace(0.001, 0.999, 50)])
    with jax.enable_x64(True):
        np.testing.assert_allclose(np.asarray(ours.icdf(level)), theirs.ppf(level), rtol=1e-7, atol=1e-14)
