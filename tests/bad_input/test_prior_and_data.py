"""Priors and data that cannot be used: rows 15, 16 and 18 to 23 of the table of bad input."""

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

import zhat
from zhat import Model
from zhat.errors import BadInput, BadType, ZhatError

NORMAL = {"x": dist.Normal(0.0, 1.0)}


def log_likelihood(params):
    return -(params["x"] ** 2)


class OffByTwo(dist.Normal):
    def log_prob(self, value):
        return super().log_prob(value) - jnp.log(2.0)


# Row 15
def test_a_prior_that_integrates_to_one_half_is_told_so():
    sentence = Model(log_likelihood, {"x": OffByTwo(0.0, 1.0)}).check(n_draws=2000)["prior"].sentence
    assert sentence.startswith(("the prior integrates to 0.49", "the prior integrates to 0.5"))
    assert "not 1: a constant, a truncation or a Jacobian is missing" in sentence


# Row 16
@pytest.mark.parametrize(
    "distribution",
    [
        dist.ImproperUniform(dist.constraints.real, (), ()),
        dist.ImproperUniform(dist.constraints.positive, (), ()),
        dist.Uniform(-np.inf, np.inf),
        dist.Uniform(0.0, np.inf),
    ],
    ids=["flat", "flat, positive", "uniform on the line", "uniform, half line"],
)
def test_an_improper_prior_is_refused_with_a_way_out(distribution):
    with pytest.raises(BadInput, match=r"improper prior: the evidence is then undefined\. Give a proper prior that states"):
        Model(log_likelihood, {"x": distribution})


def test_an_improper_prior_is_named():
    # BUG when written: "parameter '(a site that cannot be sampled)' has an improper prior".
    with pytest.raises(BadInput, match="parameter 'x' has an improper prior"):
        Model(log_likelihood, {"x": dist.ImproperUniform(dist.constraints.real, (), ())})

    def program():
        numpyro.sample("y", dist.Normal(0.0, 1.0))
        numpyro.sample("x", dist.ImproperUniform(dist.constraints.real, (), ()))

    with pytest.raises(BadInput, match="parameter 'x' has an improper prior"):
        Model.from_numpyro(program)


# Row 18
def test_crossed_bounds_are_refused_and_named():
    with pytest.raises(BadInput, match=r"prior of 'x': low=1.0 is not below high=0.0"):
        Model(log_likelihood, {"x": dist.Uniform(1.0, 0.0)})
    with pytest.raises(BadInput, match=r"prior of 'x': low=1.0 is not below high=1.0"):
        Model(log_likelihood, {"x": dist.Uniform(1.0, 1.0)})


@pytest.mark.parametrize("scale", [-1.0, 0.0, np.nan])
def test_a_scale_that_is_none_is_refused(scale):
    with pytest.raises(ValueError, match="invalid scale parameter"):
        Model(log_likelihood, {"x": dist.Normal(0.0, scale)})


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_hyperparameters_that_are_no_numbers_are_refused(value):
    with pytest.raises(BadInput, match=r"hyper holds (nan|inf) at index \(\)"):
        Model(log_likelihood, lambda hyper: {"x": dist.Normal(0.0, hyper["scale"])}, hyper={"scale": value})


@pytest.mark.parametrize("prior", ["normal", "uniform"])
def test_a_hyperparameter_that_breaks_the_prior_blames_the_prior(prior):
    # BUG when written: NoSupport, "Check the likelihood": the traced scale of -1 (or crossed bounds) makes the prior NaN.
    def of(hyper):
        return {"x": dist.Normal(0.0, hyper) if prior == "normal" else dist.Uniform(0.0, hyper)}

    with pytest.raises(ZhatError) as caught:
        zhat.evidence(Model(log_likelihood, of, hyper=-1.0), zhat.PriorMean(n_draws=1000), seed=0)
    assert "Check the likelihood" not in str(caught.value)


# Row 19
@pytest.mark.parametrize("name", ["", "  ", 3, None], ids=repr)
def test_names_must_be_text(name):
    with pytest.raises(BadInput, match="names must be non-empty strings"):
        Model(log_likelihood, {name: dist.Normal()})


def test_a_name_used_twice_is_refused():
    # BUG when written: NumPyro's AssertionError comes out, which is not an ZhatError.
    def twice():
        numpyro.sample("x", dist.Normal())
        numpyro.sample("x", dist.Normal())

    with pytest.raises(BadInput, match="x"):
        Model(log_likelihood, twice)


def test_a_model_has_a_name():
    for name in ("", "  ", 3):
        with pytest.raises(BadInput, match="a model's name is a non-empty string"):
            Model(log_likelihood, NORMAL, name=name)


def test_odd_names_are_kept_as_they_are():
    model = Model(lambda p: -p["θ <b>"], {"θ <b>": dist.Normal()})
    assert model.space.names == ("θ <b>",)


# Row 20
def test_a_model_without_parameters_is_refused():
    with pytest.raises(BadInput, match="prior is an empty dictionary: a model needs at least one parameter"):
        Model(lambda p: 0.0, {})
    with pytest.raises(BadInput, match="The prior has no parameters: a model needs at least one"):
        Model(lambda p: 0.0, lambda: None)


def test_a_prior_must_be_made_of_distributions():
    with pytest.raises(BadType, match=r"prior\['x'\] is a float, not a NumPyro distribution; for example"):
        Model(log_likelihood, {"x": 3.0})
    with pytest.raises(
        BadType, match="prior is a list: give a dictionary of NumPyro distributions by the names of the parameters"
    ):
        Model(log_likelihood, [dist.Normal()])


def test_a_discrete_parameter_is_refused():
    with pytest.raises(BadInput, match=r"parameter 'x' is discrete \(Poisson\): sum it out of the likelihood first"):
        Model(log_likelihood, {"x": dist.Poisson(3.0)})


# Row 21
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_data_that_are_not_finite_are_refused_with_their_place(bad):
    y = np.ones((4, 2))
    y[2, 1] = bad
    message = r"data holds -?(nan|inf) at index \(2, 1\): drop or impute .* nothing is dropped silently"
    with pytest.raises(BadInput, match=message):
        Model(lambda p, d: -p["x"] * jnp.sum(d["y"]), NORMAL, data={"y": y})


# Row 22
@pytest.mark.parametrize("method", [zhat.PriorMean(n_draws=1000), zhat.SMC(n_particles=40)], ids=["prior mean", "smc"])
def test_no_data_at_all_have_an_evidence_of_one(method):
    model = Model(lambda p, y: jnp.sum(dist.Normal(p["x"], 1.0).log_prob(y)), NORMAL, data=np.zeros(0))
    found = zhat.evidence(model, method, seed=0)
    assert (found.log_evidence, found.log_evidence_se) == (0.0, 0.0)


# Row 23
@pytest.mark.parametrize(
    "data",
    [np.array(["a"]), np.array([1, None], dtype=object), np.array(["2020-01-01"], dtype="datetime64[D]"), np.array([1j])],
    ids=["text", "objects", "dates", "complex"],
)
def test_data_that_are_no_numbers_are_refused(data):
    with pytest.raises(BadType, match=r"data holds values of type .* only numbers can be data"):
        Model(lambda p, y: -p["x"], NORMAL, data=data)


def test_columns_of_different_length_are_reported_with_both_shapes():
    def regression(params, data):
        return -jnp.sum((data["y"] - params["x"] * data["covariate"]) ** 2)

    with pytest.raises(TypeError, match=r"\(4,\), \(5,\)|\(5,\), \(4,\)"):
        Model(regression, NORMAL, data={"y": np.ones(4), "covariate": np.ones(5)})


def with_data(data):
    return Model(lambda p, y: -0.5 * jnp.sum((y - p["x"]) ** 2), NORMAL, data=data)


def test_a_masked_array_is_refused_with_what_to_type():
    masked = np.ma.masked_invalid([1.0, np.nan, 3.0])
    with pytest.raises(BadInput, match=r"data is a masked array with 1 of 3 values masked.*numpy\.ma\.compressed\(y\)"):
        with_data(masked)
    with pytest.raises(BadInput, match="masked array"):
        with_data({"y": masked})
    assert with_data(masked.compressed()).data.tolist() == [1.0, 3.0]
    assert with_data(np.ma.masked_array([1.0, 2.0])).data.tolist() == [1.0, 2.0]  # nothing is masked


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32])
def test_small_integers_are_widened(kind):
    model = with_data(np.array([100, 100, 100], dtype=kind))
    assert model.data.dtype == np.int64
    wide = Model(lambda p, y: 1e-6 * jnp.sum(y * y) + 0.0 * p["x"], NORMAL, data=np.array([100, 100, 100], dtype=kind))
    assert wide.evaluate(x=0.0)[1] == pytest.approx(0.03)


def test_data_without_rows_are_noted():
    found = zhat.evidence(with_data(np.empty(0)), zhat.PriorMean(n_draws=1000), seed=0)
    assert found.log_evidence == 0.0
    assert "an array of the data has no rows (shape (0,))" in found.explain()
    assert str(found.status) == "ok (note: no-data)"
    # A design of no columns is a legal one.
    model = Model(lambda p, d: -0.5 * jnp.sum((d["y"] - p["x"]) ** 2), NORMAL, data={"y": np.ones(3), "X": np.ones((3, 0))})
    assert zhat.evidence(model, zhat.PriorMean(n_draws=1000), seed=0).status.notes == ()
