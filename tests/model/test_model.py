"""Four ways to build a model, what each computes, and what from_numpyro refuses."""

import math
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from numpyro.infer.util import potential_energy
from scipy import stats

import zhat
from zhat import Conditional, Model
from zhat.errors import BadInput, BadType
from zhat.model.model import Offer

Y = np.array([1.2, -0.4, 0.7, 2.1])


def gaussian(params, y):
    return jnp.sum(dist.Normal(params["mu"], params["tau"] ** -0.5).log_prob(y))


def by_hand(mu, tau):
    prior = stats.norm(0.0, 10.0).logpdf(mu) + stats.gamma(3.0, scale=0.5).logpdf(tau)
    return prior, stats.norm(mu, tau**-0.5).logpdf(Y).sum()


def as_dictionary():
    return {"mu": dist.Normal(0.0, 10.0), "tau": dist.Gamma(3.0, 2.0)}


def as_statements():
    numpyro.sample("mu", dist.Normal(0.0, 10.0))
    numpyro.sample("tau", dist.Gamma(3.0, 2.0))


@pytest.mark.parametrize("prior", [as_dictionary(), as_dictionary, as_statements], ids=["dict", "returns-dict", "samples"])
def test_three_ways_to_write_a_prior_are_the_same_model(prior):
    model = Model(gaussian, prior, data=Y)
    assert model.space.names == ("mu", "tau")
    assert model.n_dimensions == 2
    assert model.evaluate(mu=0.7, tau=1.3) == pytest.approx(by_hand(0.7, 1.3), rel=1e-13)


def test_a_parameter_may_depend_on_another():
    def prior():
        precision = numpyro.sample("precision", dist.Gamma(2.0, 1.0))
        numpyro.sample("slope", dist.Normal(1.0, 1.0 / jnp.sqrt(precision)).expand([2]).to_event(1))

    model = Model(lambda p: -jnp.sum(p["slope"] ** 2), prior)
    slope = np.array([0.3, 2.0])
    log_prior, log_likelihood = model.evaluate(precision=4.0, slope=slope)
    expected = stats.gamma(2.0).logpdf(4.0) + stats.norm(1.0, 0.5).logpdf(slope).sum()
    assert log_prior == pytest.approx(expected, rel=1e-13)
    assert log_likelihood == pytest.approx(-4.09, rel=1e-13)


def test_hyperparameters_reach_the_prior():
    def prior(hyper):
        return {"mu": dist.Normal(hyper["mean"], hyper["scale"]), "tau": dist.Gamma(3.0, 2.0)}

    model = Model(gaussian, prior, data=Y, hyper={"mean": 0.0, "scale": 10.0})
    assert model.evaluate(mu=0.7, tau=1.3) == pytest.approx(by_hand(0.7, 1.3), rel=1e-13)
    narrow = model.with_hyper({"mean": 1.0, "scale": 0.5}).evaluate(mu=0.7, tau=1.3)[0]
    assert narrow == pytest.approx(stats.norm(1.0, 0.5).logpdf(0.7) + stats.gamma(3.0, scale=0.5).logpdf(1.3), rel=1e-13)


def test_evaluate_asks_for_exactly_the_parameters():
    model = Model(gaussian, as_dictionary(), data=Y, name="pines")
    with pytest.raises(BadInput, match=r"parameters of 'pines' are \['mu', 'tau'\]; got \['mu', 'sigma'\]"):
        model.evaluate(mu=0.0, sigma=1.0)


def test_evaluate_outside_the_support_is_an_impossible_point():
    log_prior, _ = Model(lambda p: -p["x"], {"x": dist.Uniform(0.0, 1.0)}).evaluate(x=2.0)
    assert log_prior == -math.inf


def test_what_a_model_offers_follows_from_how_it_was_built():
    plain = {Offer.JOINT_DENSITY, Offer.PRIOR_DRAWS, Offer.LIKELIHOOD}
    assert Model(gaussian, as_dictionary(), data=Y).offers == plain | {Offer.GRADIENT}
    assert Model.black_box(lambda p: 0.0, {"x": dist.Normal()}).offers == plain


def test_conditionals_must_cover_every_parameter_once():
    block = Conditional(("mu",), lambda *a: None, lambda *a: {}, lambda *a: 0.0)
    with pytest.raises(BadInput, match=r"conditionals draw \['mu'\] but the parameters are \['mu', 'tau'\]"):
        Model(gaussian, as_dictionary(), data=Y, conditionals=(block,))


# -- from_numpyro ---------------------------------------------------------------------------------------------------

SCHOOLS_Y = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
SCHOOLS_SIGMA = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def eight_schools(n, sigma, y=None):
    mu = numpyro.sample("mu", dist.Normal(0.0, 5.0))
    tau = numpyro.sample("tau", dist.HalfCauchy(5.0))
    with numpyro.plate("schools", n):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        numpyro.sample("obs", dist.Normal(theta, sigma), obs=y)


@cache
def schools():
    return Model.from_numpyro(eight_schools, 8, SCHOOLS_SIGMA, y=SCHOOLS_Y)


def test_prior_and_likelihood_of_a_numpyro_model_add_up_to_minus_its_potential_energy():
    model = schools()
    assert model.name == "eight_schools"
    assert model.space.names == ("mu", "tau", "theta")
    with jax.enable_x64(True):
        u = np.random.default_rng(1).normal(size=(10, 10))
        log_prior, log_likelihood = jax.jit(jax.vmap(lambda v: model.core.log_densities(v, model.data, None)))(u)

        def energy(v):
            return potential_energy(eight_schools, (8, SCHOOLS_SIGMA), {"y": SCHOOLS_Y}, model.space.split(v))

        expected = -jax.jit(jax.vmap(energy))(u)
    np.testing.assert_allclose(np.asarray(log_prior + log_likelihood), np.asarray(expected), rtol=1e-12)
    tau, theta = np.exp(u[0, 1]), u[0, 2:]
    by_hand = stats.norm(theta, SCHOOLS_SIGMA).logpdf(SCHOOLS_Y).sum()
    assert float(log_likelihood[0]) == pytest.approx(by_hand, rel=1e-12)
    prior = stats.norm(0, 5).logpdf(u[0, 0]) + stats.halfcauchy(0, 5).logpdf(tau) + u[0, 1]
    assert float(log_prior[0]) == pytest.approx(prior + stats.norm(u[0, 0], tau).logpdf(theta).sum(), rel=1e-12)


def test_other_data_for_a_numpyro_model_are_given_as_its_arrays():
    point = {"mu": 1.0, "tau": 2.0, "theta": np.arange(8.0)}
    moved = schools().with_data([SCHOOLS_SIGMA, SCHOOLS_Y + 1.0])
    expected = stats.norm(point["theta"], SCHOOLS_SIGMA).logpdf(SCHOOLS_Y + 1.0).sum()
    assert moved.evaluate(**point)[1] == pytest.approx(expected, rel=1e-12)
    assert moved.core is schools().core


def test_other_data_for_a_numpyro_model_are_given_as_its_call():
    # BUG when written: the docstring of from_numpyro says with_data((args, kwargs)), which ends in a JAX traceback.
    point = {"mu": 1.0, "tau": 2.0, "theta": np.arange(8.0)}
    moved = schools().with_data(((8, SCHOOLS_SIGMA), {"y": SCHOOLS_Y + 1.0}))
    expected = stats.norm(point["theta"], SCHOOLS_SIGMA).logpdf(SCHOOLS_Y + 1.0).sum()
    assert moved.evaluate(**point)[1] == pytest.approx(expected, rel=1e-12)


def test_a_weighted_observed_site_keeps_its_weight():
    def model(y):
        x = numpyro.sample("x", dist.Normal())
        with numpyro.handlers.scale(scale=3.0):
            numpyro.sample("y", dist.Normal(x, 1.0), obs=y)

    built = Model.from_numpyro(model, Y)
    assert built.evaluate(x=0.4)[1] == pytest.approx(3.0 * stats.norm(0.4).logpdf(Y).sum(), rel=1e-12)


def test_flags_among_the_arguments_are_not_data():
    def model(y, robust):
        x = numpyro.sample("x", dist.Normal())
        numpyro.sample("y", dist.StudentT(4.0, x, 1.0) if robust else dist.Normal(x, 1.0), obs=y)

    robust = Model.from_numpyro(model, Y, robust=True)
    assert robust.evaluate(x=0.4)[1] == pytest.approx(stats.t(4.0, 0.4).logpdf(Y).sum(), rel=1e-12)
    assert len(robust.data) == 1


def with_factor(y):
    x = numpyro.sample("x", dist.Normal())
    numpyro.sample("y", dist.Normal(x, 1.0), obs=y)
    numpyro.factor("penalty", -(x**2))


def with_discrete(y):
    k = numpyro.sample("k", dist.Bernoulli(0.5))
    numpyro.sample("y", dist.Normal(k, 1.0), obs=y)


def with_improper(y):
    x = numpyro.sample("x", dist.ImproperUniform(dist.constraints.real, (), ()))
    numpyro.sample("y", dist.Normal(x, 1.0), obs=y)


def with_subsample(y):
    x = numpyro.sample("x", dist.Normal())
    with numpyro.plate("rows", 4, subsample_size=2) as rows:
        numpyro.sample("y", dist.Normal(x, 1.0), obs=y[rows])


def with_imputed(y):
    x = numpyro.sample("x", dist.Normal())
    numpyro.sample("y", dist.Normal(x, 1.0).expand([4]), obs=y, obs_mask=np.array([True, True, False, True]))


def with_scaled_prior(y):
    with numpyro.handlers.scale(scale=2.0):
        x = numpyro.sample("x", dist.Normal())
    numpyro.sample("y", dist.Normal(x, 1.0), obs=y)


def with_masked_prior(y):
    x = numpyro.sample("x", dist.Normal().mask(False))
    numpyro.sample("y", dist.Normal(x, 1.0), obs=y)


def with_param(y):
    x = numpyro.param("x", 0.0)
    numpyro.sample("y", dist.Normal(x, 1.0), obs=y)


def with_nothing_observed(y):
    x = numpyro.sample("x", dist.Normal())
    numpyro.deterministic("shifted", x + y.mean())


REFUSED = [
    (with_factor, r"numpyro.factor 'penalty' cannot be split into prior and likelihood"),
    (with_discrete, r"parameter 'k' is discrete \(Bernoulli\w*\): sum it out of the likelihood first"),
    (with_improper, r"has an improper prior: the evidence is then undefined"),
    (with_subsample, r"plate 'rows' is subsampled: the likelihood would be random; use the full data"),
    (with_imputed, r"site 'y_unobserved' is imputed missing data \(obs_mask\)"),
    (with_scaled_prior, r"parameter 'x' is inside handlers.scale: its prior would not integrate to one"),
    (with_masked_prior, r"parameter 'x' is masked: its prior would not integrate to one"),
    (with_param, r"numpyro.param 'x' is not a random variable: give it a prior"),
    (with_nothing_observed, r"with_nothing_observed has no observed site: pass the data"),
]


@pytest.mark.parametrize(("model", "message"), REFUSED, ids=[model.__name__ for model, _ in REFUSED])
def test_what_cannot_be_split_is_refused_with_a_sentence(model, message):
    with pytest.raises(BadInput, match=message):
        Model.from_numpyro(model, Y)


def test_a_numpyro_model_without_its_data_has_nothing_observed():
    with pytest.raises(BadInput, match="eight_schools has no observed site"):
        Model.from_numpyro(eight_schools, 8, SCHOOLS_SIGMA)


def test_a_likelihood_that_cannot_be_traced_is_sent_to_the_black_box():
    with pytest.raises(BadType, match=r"cannot be traced by JAX .* zhat\.Model\.black_box"):
        Model(lambda p: float(np.log(np.asarray(p["x"]))), {"x": dist.Gamma(1.0, 1.0)})


def test_labels_and_units_reach_results_and_exports(tmp_path):
    def log_likelihood(p):
        return -0.5 * (p["speed"] - 1.0) ** 2 - jnp.sum(p["beta"] ** 2)

    prior = {"speed": dist.Normal(0.0, 1.0), "beta": dist.Normal(np.zeros(2), 1.0).to_event(1)}
    model = Model(log_likelihood, prior, labels={"speed": "$v$", "beta[1]": "slope"}, units={"speed": "km/s"})
    found = zhat.evidence(model, zhat.PriorMean(n_draws=200), seed=1)
    assert [found.label(column) for column in ("speed", "beta[0]", "beta[1]")] == ["$v$ [km/s]", "beta[0]", "slope"]
    again = zhat.Evidence.load(found.save(tmp_path / "found.json"))
    assert (again.labels, again.units) == (found.labels, found.units)
    tree = pytest.importorskip("zhat.adapters.arviz").to_arviz(found)
    assert tree["posterior"]["speed"].attrs == {"long_name": "$v$", "units": "km/s"}
    assert "long_name" not in tree["posterior"]["beta"].attrs
    other = model.with_labels({"speed": "v"})
    assert (other.labels, other.units, other.core) == ({"speed": "v"}, None, model.core)
    box = Model.black_box(lambda p: -(p["x"] ** 2), {"x": dist.Normal()}, labels={"x": "$x$"})
    assert box.labels == {"x": "$x$"}


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ({"y": "$y$"}, "labels has 'y'; the parameters are x"),
        (["$x$"], r"labels=\['\$x\$'\]: give a dictionary of texts by parameter"),
        ({"x": 3}, r"labels=\{'x': 3\}: give a dictionary of texts"),
    ],
)
def test_labels_of_no_parameter_are_refused(labels, sentence):
    with pytest.raises((BadInput, BadType), match=sentence):
        Model(lambda p: -p["x"], {"x": dist.Normal()}, labels=labels)
