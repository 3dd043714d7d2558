"""The unit cube of a prior: uniform where distribution functions exist, with a known density elsewhere."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from scipy import stats

import zhat
from zhat import zoo
from zhat.sampling.backend.evaluation import prior_positions
from zhat.sampling.nested.cube import cube_of
from zhat.seeding import Key


def hierarchy():
    tau = numpyro.sample("tau", dist.HalfNormal(2.0))
    numpyro.sample("theta", dist.Normal(1.0, tau).expand([3]).to_event(1))


def model_of(prior):
    return zhat.Model.black_box(lambda params: 0.0, prior)


@pytest.mark.parametrize(
    "prior",
    [
        {"a": dist.Uniform(-1.0, 4.0), "b": dist.Normal(3.0, 2.0), "c": dist.Exponential(3.0)},
        {"a": dist.LogNormal(0.0, 1.0), "b": dist.HalfCauchy(2.0), "c": dist.Cauchy(0.0, 1.0)},
        hierarchy,
    ],
    ids=["box", "skewed", "hierarchy"],
)
def test_prior_draws_are_uniform_in_the_cube(prior):
    model = model_of(prior)
    cube = cube_of(model)
    assert cube.is_uniform
    position = prior_positions(model, 2000, Key(3))
    at, log_q = cube.of(position)
    assert (log_q == 0.0).all()
    assert min(stats.kstest(column, "uniform").pvalue for column in at.T) > 1e-4
    assert np.abs(np.corrcoef(at.T) - np.eye(at.shape[1])).max() < 4.5 / np.sqrt(2000)
    np.testing.assert_allclose(cube.positions(at)[0], position, rtol=1e-6, atol=1e-6)


def test_a_simplex_has_a_density_in_the_cube_that_integrates_to_one():
    model = zoo.example("E6").model
    cube = cube_of(model)
    assert not cube.is_uniform
    rng = np.random.default_rng(0)
    _, log_q = cube.positions(rng.random((20_000, model.n_dimensions)))
    weight = np.exp(log_q)
    assert abs(weight.mean() - 1.0) < 4.5 * weight.std() / np.sqrt(20_000)


def test_a_cube_is_made_once():
    model = model_of({"a": dist.Uniform(0.0, 1.0)})
    assert cube_of(model).map is cube_of(model).map


def test_a_cube_does_not_keep_its_model():
    model = model_of({"a": dist.Uniform(0.0, 1.0)})
    cube_of(model)
    kept = weakref.ref(model)
    del model
    gc.collect()
    assert kept() is None
