"""Models of a prior transform: the evidence, the user's parameters everywhere, and what is refused at the door."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats as st
from jax.scipy.special import ndtri as traced_ndtri
from scipy.special import ndtr, ndtri

import zhat
from zhat import Model
from zhat.comparing.averaging import posterior_draws
from zhat.errors import BadInput, BadType, ShapeError, UnsupportedModel
from zhat.model.identity import same_model
from zhat.run.distribution.travel import Task, opened, parcels, work
from zhat.sampling.backend.backend import shown_parameters
from zhat.sampling.backend.evaluation import log_densities, unconstrained
from zhat.sampling.backend.loop import Loop

pytestmark = pytest.mark.xdist_group("prior transform")

# y ~ N(a + b x, 1) with a ~ N(0, 2), b ~ N(1, 3): the evidence is a normal density.
X, Y = np.array([-1.0, 0.0, 1.0, 2.0]), np.array([0.3, 1.0, 2.2, 2.9])
COVARIANCE = np.eye(4) + 4.0 + 9.0 * np.outer(X, X)
TRUTH = float(st.multivariate_normal(1.0 * X, COVARIANCE).logpdf(Y))
PRECISION = np.linalg.inv(np.diag([0.25, 1 / 9]) + np.array([[4.0, X.sum()], [X.sum(), X @ X]]))
POSTERIOR = PRECISION @ (np.array([0.0, 1 / 9]) + np.array([Y.sum(), X @ Y]))


def loglike(theta):
    return normal(theta[0] + theta[1] * X, Y).sum()


def normal(mean, y):
    return -0.5 * (y - mean) ** 2 - 0.5 * np.log(2 * np.pi)


def ptform(u):
    x = np.array(u)
    x[0] = 2.0 * ndtri(u[0])
    x[1] = 1.0 + 3.0 * ndtri(u[1])
    return x


def in_place(u):
    u[0] = 2.0 * ndtri(u[0])
    u[1] = 1.0 + 3.0 * ndtri(u[1])


def cdf(theta):
    return [ndtr(theta[0] / 2.0), ndtr((theta[1] - 1.0) / 3.0)]


def batch_loglike(theta):
    return normal(theta[:, :1] + theta[:, 1:] * X, Y).sum(axis=1)


def batch_ptform(u):
    return np.stack([2.0 * ndtri(u[:, 0]), 1.0 + 3.0 * ndtri(u[:, 1])], axis=1)


def dict_ptform(u):
    return {"a": 2.0 * ndtri(u[..., 0]), "b": 1.0 + 3.0 * ndtri(u[..., 1])}


def traced_ptform(u):
    return jnp.array([2.0 * traced_ndtri(u[0]), 1.0 + 3.0 * traced_ndtri(u[1])])


def traced_loglike(theta):
    return jnp.sum(-0.5 * (Y - theta[0] - theta[1] * X) ** 2 - 0.5 * jnp.log(2 * jnp.pi))


NAMES = ["a", "b"]
MODELS = {
    "one point": lambda: Model.from_prior_transform(loglike, ptform, 2, NAMES),
    "in place": lambda: Model.from_prior_transform(loglike, in_place, 2, NAMES),
    "batch": lambda: Model.from_prior_transform(batch_loglike, batch_ptform, 2, NAMES, batched=True),
    "dictionary": lambda: Model.from_prior_transform(lambda p: loglike([p["a"], p["b"]]), dict_ptform, 2),
    "dictionary, batch": lambda: Model.from_prior_transform(
        lambda p: batch_loglike(np.stack([p["a"], p["b"]], axis=1)), dict_ptform, 2, batched=True
    ),
    "traced": lambda: Model.from_prior_transform(traced_loglike, traced_ptform, 2, NAMES),
    "traced batch": lambda: Model.from_prior_transform(jax.vmap(traced_loglike), jax.vmap(traced_ptform), 2, NAMES, batched=True),
}


@pytest.mark.parametrize("form", MODELS)
def test_the_evidence_and_the_parameters_of_the_draws(form):
    model = MODELS[form]()
    assert model.is_black_box != form.startswith("traced")
    found = zhat.evidence(model, zhat.Importance(n_draws=4000), seed=3)
    assert found.status.is_ok
    assert abs(found.log_evidence - TRUTH) < 4.5 * found.log_evidence_se
    draws = found.record
    weight = np.exp(draws.log_weight - draws.log_weight.max())
    for name, mean, variance in zip(NAMES, POSTERIOR, np.diag(PRECISION), strict=True):
        x = draws.parameters[name]
        assert x.shape == (len(weight),)
        ours = np.average(x, weights=weight)
        ess = weight.sum() ** 2 / (weight**2).sum()
        assert abs(ours - mean) < 4.5 * np.sqrt(variance / ess)
        assert np.average((x - ours) ** 2, weights=weight) == pytest.approx(variance, rel=0.2)


def test_nested_sampling_from_regions_in_the_cube():
    found = zhat.evidence(MODELS["one point"](), "nested", seed=2)
    assert abs(found.log_evidence - TRUTH) < 4.5 * found.log_evidence_se
    assert set(posterior_draws(found).parameters) == set(NAMES)


@pytest.mark.parametrize("transform", [ptform, traced_ptform], ids=["NumPy", "traced"])
def test_names_in_any_order(transform):
    model = Model.from_prior_transform(traced_loglike, transform, 2, ["z", "a"], inverse=cdf, traced=transform is traced_ptform)
    z = np.array([[0.3, -1.2], [2.0, 0.1]])
    shown = shown_parameters(model, z)
    np.testing.assert_allclose(shown["z"], 2.0 * z[:, 0], atol=1e-12)
    np.testing.assert_allclose(shown["a"], 1.0 + 3.0 * z[:, 1], atol=1e-12)
    np.testing.assert_allclose(unconstrained(model, shown), z, atol=1e-9)
    log_likelihood = log_densities(model, z, Loop(progress=False))[1]
    direct = [normal(shown["z"][i] + shown["a"][i] * X, Y).sum() for i in range(2)]
    np.testing.assert_allclose(log_likelihood, direct, rtol=1e-6)


def test_without_names_the_parameters_are_one_vector():
    model = Model.from_prior_transform(loglike, ptform, 2)
    found = zhat.evidence(model, zhat.PriorMean(n_draws=2000), seed=1)
    assert found.record.parameters["theta"].shape == (2000, 2)
    assert abs(found.record.parameters["theta"][:, 1].mean() - 1.0) < 4.5 * 3.0 / np.sqrt(2000)


def test_one_parameter_may_have_any_name():
    for name in ("theta", "u", "mass"):
        model = Model.from_prior_transform(lambda t: -0.5 * t[0] ** 2, lambda u: 4 * u - 2, 1, [name])
        found = zhat.evidence(model, zhat.PriorMean(n_draws=1000), seed=1)
        assert found.record.parameters[name].shape == (1000,)


def test_derived_parameters_are_shown_beside_the_others():
    model = Model.from_prior_transform(loglike, lambda u: np.append(ptform(u), u[0] ** 2), 2, ["a", "b", "square"])
    assert model.n_dimensions == 2
    draws = zhat.evidence(model, zhat.PriorMean(n_draws=1000), seed=1).record
    np.testing.assert_allclose(draws.parameters["square"], st.norm.cdf(draws.parameters["a"], 0.0, 2.0) ** 2, rtol=1e-9)


def test_many_points_are_one_call_where_the_transform_allows():
    calls = []

    def counted(u):
        calls.append(np.shape(u))
        return ptform(u)

    def sorted_cube(u):  # sorts along the wrong axis when it is given arrays
        calls.append(np.shape(u))
        return np.sort(u)

    for transform, few in ((counted, True), (sorted_cube, False)):
        calls.clear()
        model = Model.from_prior_transform(loglike, transform, 2, NAMES)
        shown = shown_parameters(model, np.random.default_rng(1).normal(size=(1000, 2)))
        assert (len(calls) < 50) == few
    assert (shown["a"] <= shown["b"]).all()


def test_data_can_be_replaced():
    def with_data(theta, y):
        return normal(theta[0] + theta[1] * X, y).sum()

    model = Model.from_prior_transform(with_data, ptform, 2, NAMES, data=Y)
    first = zhat.evidence(model, zhat.Importance(n_draws=1000), seed=1)
    assert abs(first.log_evidence - TRUTH) < 4.5 * first.log_evidence_se
    other = model.with_data(Y + 1.0)
    truth = float(st.multivariate_normal(X, COVARIANCE).logpdf(Y + 1.0))
    second = zhat.evidence(other, zhat.Importance(n_draws=1000), seed=1)
    assert abs(second.log_evidence - truth) < 4.5 * second.log_evidence_se
    assert other.data_id != model.data_id


def test_draws_of_another_program_need_the_inverse():
    rng = np.random.default_rng(4)
    chains = rng.multivariate_normal(POSTERIOR, PRECISION, size=(4, 1000))
    draws = {"a": chains[..., 0], "b": chains[..., 1]}
    with pytest.raises(
        UnsupportedModel, match=r"cannot be taken back there: give from_prior_transform\(\.\.\., inverse=\.\.\.\)"
    ):
        zhat.evidence(MODELS["one point"](), draws=draws, seed=1)

    model = Model.from_prior_transform(loglike, ptform, 2, NAMES, inverse=cdf)
    found = zhat.evidence(model, draws=draws, seed=1)
    assert found.status.is_ok
    assert abs(found.log_evidence - TRUTH) < 4.5 * found.log_evidence_se


def parameters_of_prior_draws(model):
    return zhat.evidence(model, zhat.PriorMean(n_draws=500), seed=1).record.parameters


def test_it_travels_to_workers():
    for form in ("one point", "traced"):
        model = MODELS[form]()
        (parcel,) = parcels([Task(parameters_of_prior_draws, model, {})])
        there = opened(work(parcel))
        for name, values in parameters_of_prior_draws(model).items():
            np.testing.assert_array_equal(values, there[name])


def test_two_models_of_the_same_functions_are_the_same():
    assert same_model(MODELS["one point"](), MODELS["one point"]())
    assert not same_model(MODELS["one point"](), MODELS["batch"]())
    assert not same_model(MODELS["one point"](), Model.from_prior_transform(loglike, in_place, 2, NAMES))


def test_messages_name_the_users_parameters():
    model = Model.from_prior_transform(lambda t: np.inf if t[0] > 0 else 0.0, lambda u: 100 + u, 2, NAMES)
    with pytest.raises(zhat.errors.NonFiniteLikelihood, match=r"\+inf at a=100\.\d+, b=100\."):
        zhat.evidence(model, zhat.PriorMean(n_draws=100), seed=0)

    def broken(theta):
        raise ZeroDivisionError("no")

    with pytest.raises(ZeroDivisionError) as caught:
        zhat.evidence(Model.from_prior_transform(broken, lambda u: 100 + u, 2, NAMES), zhat.PriorMean(n_draws=100), seed=0)
    assert "a=100." in caught.value.__notes__[-1]


def test_what_needs_a_density_of_the_prior_is_refused():
    model = MODELS["one point"]()
    with pytest.raises(UnsupportedModel, match="its density is not known; call the log likelihood itself"):
        model.evaluate(a=0.0, b=1.0)
    with pytest.raises(UnsupportedModel, match=r"savage_dickey: the prior of 'model' is a transform"):
        zhat.savage_dickey(model, {"a": np.zeros(200), "b": np.zeros(200)}, "a", at=0.0, seed=1)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((loglike, 3.0, 2), "prior_transform is a float, not a function"),
        ((None, ptform, 2), "log_likelihood is a NoneType, not a function"),
        ((lambda: 0.0, ptform, 2), r"log_likelihood is called as log_likelihood\(theta\)"),
        ((loglike, lambda cube, n, m: cube, 2), r"prior_transform is called as prior_transform\(u\).*functools\.partial"),
        ((loglike, ptform, 0), "n_dim=0: give the number of coordinates"),
        ((loglike, ptform, 2.0), r"n_dim=2\.0: give the number"),
        ((loglike, ptform, True), "n_dim=True: give the number"),
        ((loglike, lambda u: None, 2), "returned None and left u as it was"),
        ((loglike, lambda u: u[:1], 2), "returns 1 parameters for n_dim=2 coordinates"),
        ((loglike, lambda u: np.outer(u, u), 2), r"returned shape \(2, 2\): it must return one value for each parameter"),
        ((loglike, lambda u: np.array([0.3, 0.4]), 2), "it is constant"),
        ((loglike, lambda u: u / 0 * np.nan, 2), "parameters must be finite numbers"),
        ((loglike, ptform, 2, ["a"]), r"names has 1 entries \(a\), and prior_transform returns 2"),
        ((loglike, ptform, 2, ["a", "a"]), "every parameter needs a name of its own"),
        ((loglike, ptform, 2, "ab"), "names='ab' is one text: give a list"),
        ((loglike, dict_ptform, 2, ["a", "b"]), r"returns a dictionary, whose keys \['a', 'b'\] are the names"),
        ((loglike, lambda u: {"a": u}, 2), "a dictionary with arrays: each parameter must be one number"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bad_arguments(arguments, sentence):
    with pytest.raises((BadInput, BadType, ShapeError), match=sentence):
        Model.from_prior_transform(*arguments)


def test_bad_options():
    with pytest.raises(ShapeError, match=r"returned shape \(2,\) \(two points are given at once: batched=True\)"):
        Model.from_prior_transform(loglike, lambda u: u[0], 2, batched=True)
    with pytest.raises(BadType, match=r"traced=True, and JAX cannot trace these functions \("):
        Model.from_prior_transform(loglike, ptform, 2, traced=True)
    with pytest.raises(BadType, match="inverse is a int, not a function"):
        Model.from_prior_transform(loglike, ptform, 2, inverse=3)
    assert Model.from_prior_transform(traced_loglike, traced_ptform, 2, traced=False).is_black_box


def test_a_transform_that_fails_says_where():
    with pytest.raises(IndexError) as caught:
        Model.from_prior_transform(loglike, lambda u: u[[5]], 2)
    assert "raised by prior_transform at a point of the unit cube (n_dim=2)" in caught.value.__notes__[0]
