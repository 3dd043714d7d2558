"""Data and functions as users have them: frames, series, lists, swapped arguments, and what is refused with a sentence."""

import math

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pandas as pd
import pytest

import zhat
from zhat import Model
from zhat.errors import BadInput, BadType

NORMAL = {"x": dist.Normal(0.0, 1.0)}
FRAME = pd.DataFrame({"dose": [1.0, 2.0, 3.0], "deaths": [0, 1, 1]})


def of_y(y):
    x = numpyro.sample("x", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(x, 1.0), obs=y)


def test_a_frame_keeps_its_columns():
    model = Model(lambda p, d: -jnp.sum((d["deaths"] - p["x"] * d["dose"]) ** 2), NORMAL, data=FRAME)
    assert model.evaluate(x=1.0)[1] == -(1.0 + 1.0 + 4.0)
    assert model.data["deaths"].dtype == np.int64
    nested = Model(lambda p, d: -jnp.sum(d["first"]["dose"]) * p["x"] ** 2, NORMAL, data={"first": FRAME})
    assert nested.evaluate(x=1.0)[1] == -6.0
    assert model.with_data(FRAME.iloc[::-1]).data["dose"].tolist() == [3.0, 2.0, 1.0]


def test_a_frame_in_numpyro_is_a_dictionary_of_columns_and_a_series_an_array():
    def regression(frame):
        x = numpyro.sample("x", dist.Normal(0.0, 1.0))
        numpyro.sample("y", dist.Normal(x * frame["dose"], 1.0), obs=frame["deaths"])

    def direct(p):
        return dist.Normal(p["x"] * FRAME["dose"].to_numpy(), 1.0).log_prob(FRAME["deaths"].to_numpy()).sum()

    assert Model.from_numpyro(regression, FRAME).evaluate(x=0.3)[1] == pytest.approx(float(direct({"x": 0.3})), rel=1e-6)
    given = Model.from_numpyro(of_y, np.array([1.0, 2.0]))
    for same in (pd.Series([1.0, 2.0]), [1.0, 2.0], [1, 2.0]):
        assert Model.from_numpyro(of_y, same).evaluate(x=0.3) == given.evaluate(x=0.3)
    assert given.with_data(((pd.Series([3.0, 4.0]),), {})).data[0].tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (FRAME.assign(town=["a", "b", "c"]), r"column 'town' of data holds values of type .*frame\.drop\(columns=\['town'\]\)"),
        (pd.DataFrame(np.ones((2, 2))), r"a frame with the columns \[0, 1\].*frame\.to_numpy\(\)"),
        (pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), r"a frame with the columns \['a', 'a'\]"),
        (FRAME.assign(dose=[1.0, np.nan, 2.0]), r"data holds nan at index \(1,\)"),
    ],
    ids=["text", "no names", "a name twice", "missing value"],
)
def test_frames_that_cannot_be_data(frame, sentence):
    with pytest.raises((BadInput, BadType), match=sentence):
        Model(lambda p, d: -p["x"], NORMAL, data=frame)


def test_lists_of_unequal_length():
    ragged = [[1.0, 2.0], [3.0]]
    with pytest.raises(BadType, match=r"data are 2 arrays of shapes \(2,\), \(1,\); give one array"):
        Model(lambda p, d: -p["x"] * jnp.sum(d), NORMAL, data=ragged)
    with pytest.raises(BadType, match=r"'of_y' does not run on its arguments.*shapes \(2,\), \(1,\)"):
        Model.from_numpyro(of_y, ragged)
    two = Model(lambda p, d: -p["x"] * (jnp.sum(d[0]) + jnp.sum(d[1])), NORMAL, data=ragged)  # as two samples they are legal
    assert two.evaluate(x=1.0)[1] == -6.0


def test_a_constant_is_no_parameter():
    for constant in (dist.Delta(1.0), dist.Delta(np.ones(2)).to_event(1)):
        with pytest.raises(BadInput, match=r"parameter 'd' has a Delta prior.*it is a constant and no parameter"):
            Model(lambda p: -p["x"], {**NORMAL, "d": constant})


@pytest.mark.parametrize("scale", [-1.0, 0.0, np.nan])
def test_scales_inside_a_model(scale):
    def model(y):
        x = numpyro.sample("x", dist.Normal(0.0, scale))
        numpyro.sample("y", dist.Normal(x, 1.0), obs=y)

    with pytest.raises(BadInput, match=r"Normal distribution got invalid scale parameter: .*positive"):
        Model.from_numpyro(model, np.ones(2))
    with pytest.raises(BadInput, match="invalid scale parameter"):
        Model(lambda p: -p["x"], lambda: {"x": dist.Normal(0.0, scale)})


@pytest.mark.parametrize(
    "one_point",
    [lambda p: math.exp(-p["x"]), lambda p: float(-(p["x"] ** 2)), lambda p: -1.0 if p["x"] > 0 else -2.0],
    ids=["math", "float", "branch"],
)
def test_a_function_of_one_point_that_is_given_a_batch(one_point):
    model = Model.black_box(one_point, NORMAL, batched=True)
    with pytest.raises(BadType, match=r"fails on \d+ points at once \(batched=True\).*set batched=False"):
        zhat.evidence(model, zhat.PriorMean(n_draws=100), seed=0)


def test_a_function_of_a_batch_that_is_given_one_point():
    model = Model.black_box(lambda p: -(p["x"][:, None] ** 2).sum(axis=1), NORMAL)
    with pytest.raises(BadType, match=r"fails at one point \(batched=False\).*set batched=True"):
        zhat.evidence(model, zhat.PriorMean(n_draws=100), seed=0)


def test_a_function_that_fails_either_way_keeps_its_own_exception():
    def broken(p):
        raise KeyError("no table")

    for batched in (True, False):
        with pytest.raises(KeyError, match="no table"):
            zhat.evidence(Model.black_box(broken, NORMAL, batched=batched), zhat.PriorMean(n_draws=100), seed=0)


@pytest.mark.parametrize("door", [Model, Model.black_box])
def test_likelihood_and_prior_swapped(door):
    with pytest.raises(BadType, match=r"log_likelihood is a dict, not a function\. The log likelihood comes first"):
        door(NORMAL, lambda p: -p["x"])
    with pytest.raises(BadType, match=r"the prior is called as prior\(\).*the two were swapped"):
        door(lambda: {"x": dist.Normal()}, lambda p: -p["x"])


def test_a_function_of_the_prior_without_hyper():
    with pytest.raises(BadType, match=r"the prior is called as prior\(\), because no hyper= is given"):
        Model(lambda p: -p["x"], lambda scale: {"x": dist.Normal(0.0, scale)})
    with pytest.raises(BadType, match=r"the prior is called as prior\(hyper\)"):
        Model(lambda p: -p["x"], lambda: {"x": dist.Normal(0.0, 1.0)}, hyper=2.0)


def test_parameters_and_data_swapped():
    with pytest.raises(BadType, match=r"called as log_likelihood\(params, data\).*\('x'\).*were the two swapped"):
        Model(lambda d, p: -p["x"] * jnp.sum(d), NORMAL, data=np.ones(3))


def test_numpyro_without_a_model_or_without_data():
    with pytest.raises(BadType, match=r"takes the model first, a function of numpyro\.sample statements, not a ndarray"):
        Model.from_numpyro(np.ones(3), of_y)
    with pytest.raises(BadType, match=r"missing a required argument: 'y'.*from_numpyro\(of_y, y\)"):
        Model.from_numpyro(of_y)


@pytest.mark.parametrize("door", [Model, Model.black_box])
def test_one_log_prob_alone(door):
    with pytest.raises(BadInput, match=r"the prior is missing\..*normalised.*from_log_prior.*posterior draws"):
        door(lambda p: -(p["x"] ** 2))


def test_the_improper_prior_does_not_advise_a_wide_one():
    with pytest.raises(
        BadInput, match=r"nearly cancels in the Bayes factor.*zhat\.sensitivity.*a wide prior counts against that model"
    ):
        Model(lambda p: -p["x"], {"x": dist.ImproperUniform(dist.constraints.real, (), ())})


def test_a_class_is_no_distribution():
    with pytest.raises(BadType, match=r"prior\['x'\] is the class Normal, not a NumPyro distribution"):
        Model(lambda p: -p["x"], {"x": dist.Normal})
