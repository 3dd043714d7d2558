"""PyMC models beside the same models in NumPyro; what cannot be carried over, with its sentence; data, identity, workers, draws."""

import importlib.util
import re
from functools import cache
from pathlib import Path

import cloudpickle
import jax
import numpy as np
import pytest
from scipy import stats

import zhat
from zhat.comparing.beforehand import check_items
from zhat.errors import BadInput, BadType
from zhat.model.core import QUICK, has_quick
from zhat.model.identity import same_model
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.compiled import JaxBackend, compiled
from zhat.sampling.backend.evaluation import prior_positions
from zhat.sampling.target import Tempered
from zhat.seeding import Key

pytestmark = [
    pytest.mark.xdist_group("pymc"),
    pytest.mark.filterwarnings("ignore"),  # of PyMC's and PyTensor's own imports
    pytest.mark.skipif(importlib.util.find_spec("pymc") is None, reason="PyMC is not installed"),
]


@pytest.fixture(scope="module")
def pm():
    """PyMC; its import switches JAX to 64 bits for the process, which other tests must not see."""
    before = jax.config.jax_enable_x64
    import pymc
    import pytensor.link.jax.dispatch  # noqa: F401

    jax.config.update("jax_enable_x64", before)
    return pymc


def pairs():
    path = Path(__file__).parents[2] / "benchmarks" / "pymc_pairs.py"
    spec = importlib.util.spec_from_file_location("pymc_pairs", path)
    import sys

    module = sys.modules.setdefault("pymc_pairs", importlib.util.module_from_spec(spec))
    spec.loader.exec_module(module)
    return {pair.name: pair for pair in module.PAIRS}


PAIRS = pairs()
ALL = tuple(PAIRS)


@cache
def both(name):
    pair = PAIRS[name]
    return zhat.Model.from_pymc(pair.pymc(), name=name), zhat.Model.from_numpyro(pair.numpyro, *pair.arguments, name=name)


def differences(name, n):
    """Log prior and log likelihood minus those in NumPyro, at draws from the prior."""
    pair, (ours, other) = PAIRS[name], both(name)
    params, _ = constrain_batch(ours, prior_positions(ours, n, Key(3)))
    for i in range(n):
        point = {key: value[i] for key, value in params.items()}
        log_prior, log_likelihood = ours.evaluate(**point)
        prior_there, likelihood_there = other.evaluate(**pair.numpyro_parameters(point))
        yield log_prior + pair.log_jacobian(point) - prior_there, log_likelihood - likelihood_there, likelihood_there


# Compilation is most of the time; the others run with `make slow`.
FAST = ("eight schools, centred", "correlations", "truncated")


@pytest.mark.parametrize("name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in ALL])
def test_log_densities_are_those_of_numpyro(pm, name):
    for prior, likelihood, size in differences(name, 20):
        assert abs(prior) < 1e-9
        assert abs(likelihood) < 1e-9 * max(1.0, abs(size) / 1000)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_evidences_agree_with_numpyro(pm, name):
    first, second = (zhat.evidence(model, seed=4, progress=False) for model in both(name))
    assert first.status.is_ok and second.status.is_ok
    joint = np.hypot(first.log_evidence_se, second.log_evidence_se)
    assert abs(first.log_evidence - second.log_evidence) < 4 * joint


def test_an_evidence_that_is_known(pm):
    model, _ = both("simplex")
    a, y = np.array([2.0, 1.0, 3.0, 0.5]), np.array([3, 7, 1, 4])
    truth = stats.dirichlet_multinomial(a, int(y.sum())).logpmf(y)
    result = zhat.evidence(model, "importance", seed=1, progress=False)
    assert result.status.is_ok and abs(result.log_evidence - truth) < 4 * result.log_evidence_se


def test_log_prior_of_the_coordinates_has_the_jacobian_and_gradients_exist(pm):
    model, _ = both("truncated")
    u = np.array([[0.3, -1.2], [-0.4, 0.8]])
    params, log_prior = constrain_batch(model, u)
    # mu between -1 and 3, sigma between 0.1 and 4, by the logistic function of u
    own = np.array([model.evaluate(mu=a, sigma=b)[0] for a, b in zip(params["mu"], params["sigma"], strict=True)])
    slope = np.log([4.0, 3.9])[None, :] + np.log(stats.logistic.pdf(u))
    np.testing.assert_allclose(log_prior, own + slope.sum(axis=1), rtol=1e-10)

    def slopes(backend: JaxBackend, points):
        return backend.gradient(points, Tempered(1.0)).gradient

    def total(u):
        params, log_prior = constrain_batch(model, u[None])
        return log_prior[0] + model.evaluate(**{key: value[0] for key, value in params.items()})[1]

    h = 1e-5
    numeric = [(total(u[0] + h * e) - total(u[0] - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(np.asarray(compiled(model, "slopes here", slopes, u))[0], numeric, rtol=1e-6)


def test_small_numbers_are_not_in_single_precision(pm):
    with pm.Model() as model:
        x = pm.Normal("x", 0, 10, shape=5)
        pm.Normal("y", x, 3, observed=np.arange(5.0))
    got = zhat.Model.from_pymc(model).evaluate(x=np.ones(5))
    exact = stats.norm.logpdf(np.ones(5), 0, 10).sum(), stats.norm.logpdf(np.arange(5.0), 1, 3).sum()
    np.testing.assert_allclose(got, exact, rtol=1e-14)


def test_a_scale_that_underflows_is_zero_likelihood_and_nan_elsewhere_stays(pm):
    with pm.Model() as model:
        sigma = pm.HalfNormal("sigma", 1.0)
        pm.Normal("y", 0.0, sigma, observed=[0.0, 1.0])
        pm.Potential("no check", pm.math.log(0.5 - sigma))  # NaN for sigma above 0.5, zero likelihood nowhere
    made = zhat.Model.from_pymc(model, potentials_are_likelihood=True)

    def density(backend: JaxBackend, points):
        return backend.density(points)

    _, log_likelihood = compiled(made, "density here", density, np.array([[-800.0], [-1.0], [1.0]]))
    assert log_likelihood[0] == -np.inf and np.isfinite(log_likelihood[1]) and np.isnan(log_likelihood[2])


# -- refusals --------------------------------------------------------------------------------------------------


def with_ordered(pm):
    x = pm.Normal("o", 0, 1, shape=3, transform=pm.distributions.transforms.ordered)
    pm.Normal("y", x, 1, observed=np.zeros(3))


def with_circle(pm):
    pm.Normal("y", pm.VonMises("angle", 0, 1), 1, observed=0.3)


def with_log(pm):
    pm.Normal("y", pm.Normal("x", 0, 1, transform=pm.distributions.transforms.log), 1, observed=0.3)


def with_potential(pm):
    x = pm.Normal("x", 0, 1)
    pm.Normal("y", x, 1, observed=0.3)
    pm.Potential("extra", -x)


def with_discrete(pm):
    pm.Normal("y", pm.Poisson("k", 3), 1, observed=0.3)


def with_flat(pm):
    pm.Normal("y", pm.Flat("x"), 1, observed=0.3)


def with_half_flat(pm):
    pm.Normal("y", 0, pm.HalfFlat("x"), observed=0.3)


def with_icar(pm):
    pm.Normal("y", pm.ICAR("x", W=np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])), 1, observed=np.zeros(3))


def with_missing(pm):
    pm.Normal("y", pm.Normal("x", 0, 1), 1, observed=np.ma.masked_invalid([0.1, np.nan, 0.3]))


def with_minibatch(pm):
    pm.Normal("y", pm.Normal("x", 0, 1), 1, observed=pm.Minibatch(np.zeros(50), batch_size=10), total_size=50)


def with_total_size(pm):
    pm.Normal("y", pm.Normal("x", 0, 1), 1, observed=np.zeros(50), total_size=500)


def with_censored(pm):
    pm.Normal("y", pm.Censored("x", pm.Normal.dist(0.0, 1.0), lower=0.0, upper=None), 1, observed=0.3)


def with_hurdle(pm):
    pm.Normal("y", pm.HurdleGamma("x", psi=0.5, alpha=2.0, beta=1.0), 1, observed=0.3)


def with_no_sampler(pm):
    pm.Normal("y", pm.Rice("x", nu=1.0, sigma=1.0), 1, observed=0.3)


def with_no_data(pm):
    pm.Normal("x", 0, 1)


def with_no_parameter(pm):
    pm.Normal("y", 0, 1, observed=0.3)


def with_simulator(pm):
    pm.Simulator("y", lambda rng, x, size: x, pm.Normal("x", 0, 1), observed=0.3)


def with_random_eta(pm):
    eta = pm.Uniform("eta", 1.0, 3.0)
    pm.Normal("y", pm.LKJCorr("r", n=2, eta=eta, return_matrix=False), 1, observed=[0.3])


def with_wrong_density(pm):
    import pytensor.tensor as pt

    def logp(value, mu):
        return -0.5 * (value - mu) ** 2  # without its constant

    x = pm.CustomDist("x", 0.0, dist=lambda mu, size: pm.Normal.dist(mu, 1.0, size=size), logp=logp)
    pm.Normal("y", pt.exp(x), 1, observed=0.3)


REFUSED = {
    with_ordered: r"\d+ of 1,024 prior draws of 'o' do not survive PyMC's transform 'ordered'.*cumsum",
    with_log: r"\d+ of 1,024 prior draws of 'x' do not survive PyMC's transform 'log'",
    with_circle: r"transform 'circular' of 'angle' is not one to one.*Interval\(-numpy.pi, numpy.pi\)",
    with_potential: r"pm.Potential 'extra'.*potentials_are_likelihood=True",
    with_discrete: r"parameter 'k' is discrete.*pymc_extras.marginalize",
    with_flat: r"'x' has the improper prior pm.Flat: the evidence is then undefined",
    with_half_flat: r"'x' has the improper prior pm.HalfFlat",
    with_icar: r"'x' has the improper prior pm.ICAR",
    with_missing: r"'y_unobserved' stands for missing values of 'y'.*drop the rows",
    with_minibatch: r"observed variable 'y' is of a minibatch",
    with_total_size: r"observed variable 'y' is of a minibatch \(pm.Minibatch or total_size\)",
    with_censored: r"'x' has the prior pm.Censored, which puts probability on single points",
    with_hurdle: r"'x' has the prior pm.DiracDelta, which puts probability on single points",
    with_no_sampler: r"JAX cannot draw from a prior of this PyMC model.*rice",
    with_no_data: r"no observed variable: give observed=",
    with_no_parameter: r"no free variable: a model needs at least one parameter",
    with_simulator: r"'y' is a pm.Simulator, which has no likelihood",
    with_wrong_density: r"pm.CustomDist 'x': the prior integrates to 2\.\d+",
}


@pytest.mark.parametrize("build", REFUSED, ids=lambda build: build.__name__)
def test_what_cannot_be_carried_is_refused_with_a_sentence(pm, build):
    with pm.Model() as model:
        build(pm)
    with pytest.raises(BadInput) as error:
        zhat.Model.from_pymc(model)
    assert re.search(REFUSED[build], str(error.value)), str(error.value)


@pytest.mark.parametrize("value", [None, 3.0, "model", zhat.zoo.example("E1").model])
def test_what_is_no_pymc_model_is_refused(pm, value):
    with pytest.raises(
        BadType, match=r"Model.from_pymc takes a pymc.Model, not a .*: give the object of `with pymc.Model\(\) as m:`"
    ):
        zhat.Model.from_pymc(value)


def test_single_precision_is_refused(pm):
    import pytensor

    with pytensor.config.change_flags(floatX="float32"), pm.Model() as model:
        pm.Normal("y", pm.Normal("x", 0, 1), 1, observed=np.float32(0.3))
    with pytest.raises(BadInput, match=r"'x' is of type float32: a log evidence needs double precision"):
        zhat.Model.from_pymc(model)


def test_potentials_count_as_likelihood_when_declared(pm):
    with pm.Model() as model:
        x = pm.Normal("x", 0, 1)
        pm.Normal("y", x, 1, observed=0.3)
        pm.Potential("extra", -2.0 * x)
    made = zhat.Model.from_pymc(model, potentials_are_likelihood=True)
    np.testing.assert_allclose(made.evaluate(x=0.7)[1], stats.norm.logpdf(0.3, 0.7, 1) - 1.4, rtol=1e-13)


# -- data, identity, draws, workers --------------------------------------------------------------------------------


def line(pm, scale=10.0, shift=0.0):
    x, y = np.arange(5.0), np.array([0.2, 0.8, 2.3, 2.9, 4.1]) + shift
    with pm.Model() as model:
        b = pm.Normal("b", 0, scale)
        pm.Normal("y", b * pm.Data("x", x), 1.0, observed=y)
    return model


def test_observed_values_and_pm_data_can_be_replaced(pm):
    made = zhat.Model.from_pymc(line(pm))
    assert set(made.data) == {"x", "y"}
    other = made.with_data({"y": made.data["y"] + 1.0, "x": made.data["x"]})
    assert other.core is made.core and other.data_id != made.data_id
    assert other.evaluate(b=0.4) == zhat.Model.from_pymc(line(pm, shift=1.0)).evaluate(b=0.4)
    with pytest.raises(BadInput, match=r"takes a dict of all of its data by name, 'x', 'y'; got 'y'"):
        made.with_data({"y": made.data["y"]})
    with pytest.raises(BadInput, match=r"got a ndarray"):
        made.with_data(made.data["y"])
    with pytest.raises(BadInput, match=r"call zhat.Model.from_pymc again"):
        made.with_data({"y": made.data["y"][:3], "x": made.data["x"][:3]})


def test_models_are_told_apart_by_content(pm):
    made = zhat.Model.from_pymc(line(pm))
    assert same_model(made, zhat.Model.from_pymc(line(pm)))
    assert not same_model(made, zhat.Model.from_pymc(line(pm, scale=9.0)))
    assert not same_model(made, zhat.Model.from_pymc(line(pm, shift=1.0)))


def test_the_fingerprint_is_that_of_what_is_observed(pm):
    with pm.Model() as constant:
        pm.Normal("y", pm.Normal("a", 0, 1), 1.0, observed=np.array([0.2, 0.8, 2.3, 2.9, 4.1]))
    models = {"line": zhat.Model.from_pymc(line(pm)), "constant": zhat.Model.from_pymc(constant)}
    assert models["line"].data_id == models["constant"].data_id
    check_items(models)


def test_draws_with_deterministics_and_transformed_values_are_taken(pm):
    model, _ = both("eight schools, not centred")
    rng = np.random.default_rng(0)
    mu, z = rng.normal(4.0, 3.0, (2, 200)), rng.normal(size=(2, 200, 8))
    tau = np.exp(rng.normal(1.0, 0.5, (2, 200)))
    from zhat.adapters.draws import read_draws
    from zhat.sampling.chains.given import matched

    draws = {"mu": mu, "tau": tau, "tau_log__": np.log(tau), "z": z, "theta": mu[..., None] + tau[..., None] * z}
    given = matched(model, read_draws(draws, model))
    assert given.ignored == ("tau_log__", "theta")
    np.testing.assert_allclose(given.position[..., 1], np.log(tau), rtol=1e-12)
    arviz = pytest.importorskip("arviz")
    if hasattr(arviz, "InferenceData"):  # what `pm.sample` returns; docs/howto/draws_you_have.md runs it
        idata = arviz.from_dict(posterior=draws)
        np.testing.assert_array_equal(matched(model, read_draws(idata, model)).position, given.position)


def test_it_is_built_anew_on_a_worker(pm):
    model, _ = both("simplex")
    core = cloudpickle.loads(cloudpickle.dumps((model.core.log_likelihood, model.core.space, model.core.pack)))
    point = {"p": np.array([0.1, 0.2, 0.3, 0.4])}
    with jax.enable_x64(True):
        np.testing.assert_allclose(core[0](point, model.data, None), model.evaluate(**point)[1], rtol=1e-12)
        np.testing.assert_allclose(core[1].log_prior(point, model.data, None), model.evaluate(**point)[0], rtol=1e-12)


def test_names_shapes_and_the_number_of_coordinates(pm):
    model, _ = both("correlations")
    assert [(s.name, s.shape) for s in model.space.sites] == [("factor", (6,))]
    model, _ = both("simplex")
    assert model.n_dimensions == 3 and model.space.sites[0].shape == (4,)


# -- coordinates -------------------------------------------------------------------------------------------------------


def test_a_transform_that_replaces_the_default_one_is_admitted_and_one_on_top_of_it_is_not(pm):
    from pymc.distributions import transforms

    def build(**transform):
        with pm.Model() as model:
            sd = pm.HalfNormal("sd", 1.0, **transform)
            pm.Normal("y", 0.0, sd, observed=np.array([1.0, 2.0]))
        return zhat.Model.from_pymc(model)

    assert build(default_transform=transforms.log).n_dimensions == 1
    assert build(default_transform=transforms.log_exp_m1).n_dimensions == 1
    with pytest.raises(BadInput, match="on top of its default transform"):
        build(transform=transforms.log)


def test_standard_coordinates_have_the_same_parameters_and_the_jacobian(pm):
    with pm.Model() as model:
        mu, sd = pm.Normal("mu", 0.0, 1.0), pm.HalfNormal("sd", 1.0)
        pm.Normal("normal", mu, sd, shape=3)
        for name in ("Cauchy", "Laplace", "Logistic", "Gumbel", "LogNormal"):
            getattr(pm, name)(name, mu, sd)
        pm.StudentT("t", 4.0, mu=mu, sigma=sd)
        pm.HalfNormal("half", sd)
        pm.HalfCauchy("half_cauchy", sd)
        pm.HalfStudentT("half_t", 4.0, sd)
        pm.Exponential("exponential", sd)
        pm.Gamma("gamma", 2.0, sd)
        scale = pm.InverseGamma("inverse", 3.0, sd)  # a parent of the next: standard coordinates one after the other
        pm.Normal("last", mu, scale)
        pm.Normal("y", mu, 1.0, observed=np.array([0.3]))
    own = zhat.Model.from_pymc(model)
    standard = own.in_other_coordinates()
    assert standard is not None
    assert standard.in_other_coordinates().space == own.space
    z = 0.5 * np.random.default_rng(1).standard_normal(own.n_dimensions)

    def both_ways(z, data):
        params, log_prior = standard.space.constrain(z, data, None)

        def own_coordinates(z):
            return own.space.unconstrain(standard.space.constrain(z, data, None)[0], data, None)

        _, log_jacobian = jax.numpy.linalg.slogdet(jax.jacfwd(own_coordinates)(z))
        expected = own.space.constrain(own_coordinates(z), data, None)[1] + log_jacobian
        back = standard.space.unconstrain(params, data, None)
        flat = jax.jacfwd(lambda z: standard.space.log_priors(z, data, None))(z)
        return log_prior, expected, back, flat

    with jax.enable_x64(True):
        program = jax.jit(both_ways, compiler_options=QUICK if has_quick() else None)
        log_prior, expected, back, flat = program(z, own.data)
    np.testing.assert_allclose(log_prior, expected, rtol=1e-10)
    np.testing.assert_allclose(back, z, atol=1e-10)
    off_diagonal = np.abs(np.asarray(flat)[2:, :2])  # no prior depends on mu and sd any more
    assert off_diagonal.max() < 1e-10
    drawn = prior_positions(standard, 512, Key(1))
    assert abs(drawn[:, 2:5].mean()) < 0.15  # standard normals
    assert abs(drawn[:, 2:5].std() - 1.0) < 0.15


def test_models_without_hierarchies_have_no_other_coordinates(pm):
    assert both("linear")[0].in_other_coordinates() is None


def test_coords_are_the_labels_of_entries_and_go_to_arviz(pm):
    with pm.Model(coords={"school": ["A", "B"]}) as model:
        theta = pm.Normal("theta", 0.0, 1.0, dims="school")
        pm.Normal("y", theta, 1.0, observed=np.array([0.5, -0.5]), dims="school")
    result = zhat.evidence(zhat.Model.from_pymc(model), zhat.PriorMean(n_draws=2000), seed=1)
    assert result.labels == {"theta[0]": "theta[A]", "theta[1]": "theta[B]"}
    tree = result.to_arviz(coords=model.coords, dims=model.named_vars_to_dims)
    assert list(tree["posterior"]["theta"].coords["school"].values) == ["A", "B"]
