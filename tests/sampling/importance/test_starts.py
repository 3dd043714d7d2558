"""Starts of a survey are draws from the prior, spread evenly; what has no quantiles is drawn at random."""

import jax
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

from zhat import Model, zoo
from zhat.sampling.backend.evaluation import prior_positions
from zhat.sampling.importance import starts
from zhat.sampling.importance.starts import spread_positions
from zhat.seeding import Key

PRIORS = {
    "quantiles": lambda: {"a": dist.Normal(1.0, 2.0).expand([2]).to_event(1), "b": dist.HalfNormal(3.0)},
    "gamma": lambda: {"a": dist.Gamma(np.array([0.3, 1.0, 20.0]), 2.0)},
    "drawn": lambda: {"w": dist.Dirichlet(np.ones(3)), "x": dist.Beta(2.0, 3.0), "y": dist.Uniform(-1.0, 4.0)},
}


def model_with(prior):
    return Model(lambda params: 0.0, prior)


def spread(model, n, key=None, after=0):
    with jax.enable_x64(True):
        return spread_positions(model, n, key or Key(1), after)


@pytest.mark.parametrize("name", PRIORS)
def test_they_are_distributed_as_the_prior(name):
    model = model_with(PRIORS[name])
    with jax.enable_x64(True):
        drawn = prior_positions(model, 4096, Key(2))
    found = spread(model, 4096)
    # Gamma quantiles are near the exact ones, not equal to them.
    assert all(stats.ks_2samp(found[:, i], drawn[:, i]).statistic < 0.04 for i in range(found.shape[1]))


def test_parents_of_a_parameter_shape_it():
    found = spread(zoo.example("E15").model, 4096)
    scale, effects = np.exp(found[:, 1]), found[:, 2:]
    wide, narrow = scale > np.median(scale), scale <= np.median(scale)
    assert effects[wide].std() > 2 * effects[narrow].std()


def test_they_fill_the_prior_more_evenly_than_random_draws():
    """The number of starts in a hundredth of a square varies less than a binomial one does."""
    model = model_with(lambda: {"x": dist.Uniform(0.0, 1.0).expand([2]).to_event(1)})
    inside = [
        (np.abs(1.0 / (1.0 + np.exp(-spread(model, 1024, Key(seed)))) - 0.4) < 0.05).all(axis=1).sum() for seed in range(20)
    ]
    assert np.mean(inside) == pytest.approx(10.24, abs=1.5) and np.std(inside) < 0.6 * np.sqrt(1024 * 0.01 * 0.99)


def test_later_ones_go_on_where_earlier_ones_end():
    model = model_with(PRIORS["quantiles"])
    assert np.array_equal(spread(model, 96)[64:], spread(model, 32, after=64))


def test_wrong_quantiles_are_noticed(monkeypatch):
    model = model_with(lambda: {"a": dist.Gamma(2.0, 1.0)})
    monkeypatch.setattr("zhat.model.coordinates.cube._near_gamma_quantile", lambda c, fn: 3.0 * c)
    assert np.array_equal(spread(model, 2048), prior_positions_of(model, 2048, Key(1).child(0)))


def test_many_dimensions_are_drawn_at_random():
    model = model_with(lambda: {"x": dist.Normal(0.0, 1.0).expand([starts.SPREAD_UP_TO + 1]).to_event(1)})
    assert np.array_equal(spread(model, 100), prior_positions_of(model, 100, Key(1).child(0)))


def prior_positions_of(model, n, key):
    with jax.enable_x64(True):
        return prior_positions(model, n, key)
