"""Models are the same by content: functions, prior, data, hyperparameters; names do not matter."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

from zhat import Model
from zhat.model.identity import same_model

Y = np.array([0.3, -0.2, 0.9])


def log_likelihood(params, y):
    return jnp.sum(dist.Normal(params["mu"], 1.0).log_prob(y))


def prior(hyper):
    return {"mu": dist.Normal(0.0, hyper["scale"])}


def program(y, effects=True):
    mu = numpyro.sample("mu", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(mu if effects else 0.0, 1.0), obs=y)


def with_scale(scale, **other):
    return Model(log_likelihood, {"mu": dist.Normal(0.0, scale)}, **{"data": Y, **other})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda: with_scale(1.0), lambda: with_scale(1.0, name="other")),
        (lambda: with_scale(1.0), lambda: with_scale(1.0, data=Y.copy())),
        (lambda: Model.from_numpyro(program, Y), lambda: Model.from_numpyro(program, Y, name="other")),
        (lambda: Model.from_numpyro(program, y=Y, effects=False), lambda: Model.from_numpyro(program, y=Y, effects=False)),
        (
            lambda: Model.black_box(log_likelihood, {"mu": dist.Normal()}, data=Y),
            lambda: Model.black_box(log_likelihood, {"mu": dist.Normal()}, data=Y),
        ),
    ],
    ids=["name", "copied data", "numpyro", "numpyro with a flag", "black box"],
)
def test_the_same_content_is_the_same_model(first, second):
    assert same_model(first(), second())


def test_other_hyperparameters_data_and_names_of_one_model():
    model = Model(log_likelihood, prior, data=Y, hyper={"scale": 1.0})
    assert same_model(model, model.named("other"))
    assert same_model(model, model.with_hyper({"scale": 1.0}))
    assert not same_model(model, model.with_hyper({"scale": 2.0}))
    assert not same_model(model, model.with_data(Y + 1.0))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda: with_scale(1.0), lambda: with_scale(1.001)),
        (lambda: with_scale(1.0), lambda: with_scale(1.0, data=Y + 1e-12)),
        (lambda: with_scale(1.0), lambda: with_scale(1.0, zero_where_nan=True)),
        (lambda: with_scale(1.0), lambda: Model(log_likelihood, {"mu": dist.StudentT(3.0, 0.0, 1.0)}, data=Y)),
        (lambda: with_scale(1.0), lambda: Model(lambda p, y: log_likelihood(p, y), {"mu": dist.Normal(0.0, 1.0)}, data=Y)),
        (lambda: with_scale(1.0), lambda: Model.black_box(log_likelihood, {"mu": dist.Normal(0.0, 1.0)}, data=Y)),
        (lambda: Model.from_numpyro(program, Y), lambda: Model.from_numpyro(program, Y, effects=False)),
    ],
    ids=["prior", "data", "NaN", "family", "function", "black box", "flag"],
)
def test_other_content_is_another_model(first, second):
    assert not same_model(first(), second())


def test_a_named_model_shares_everything_but_its_name():
    model = with_scale(1.0)
    other = model.named("labelled")
    assert (model.name, other.name) == ("model", "labelled")
    assert other.core is model.core and other.data is model.data and other.data_id == model.data_id
    with pytest.raises(ValueError, match="a model's name is a non-empty string"):
        model.named(" ")
