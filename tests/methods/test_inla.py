"""INLA against quadratures that do not use Laplace's method, against closed forms, and on models it must refuse."""

from __future__ import annotations

from functools import cache

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

import zhat
from zhat import latent, zoo
from zhat.errors import UnsupportedModel
from zhat.results.estimate import Kind

# What nested Laplace gives with exact quadrature, without a correction (computed independently, to 1e-6).
NESTED_LAPLACE = {
    "seeds-main": -72.544100,
    "seeds-interaction": -74.875896,
    "coal-smooth": -177.486295,
    "tokyo": -320.706257,
    "noisy-ar": -44.30173,
    "stochastic-volatility": -62.5763,
}


# One with independent effects and one smoother in the quick suite; each of the others takes 12 to 31 seconds on a busy machine.
QUICK = ("seeds-main", "coal-smooth")
EXAMPLES = [id if id in QUICK else pytest.param(id, marks=pytest.mark.slow) for id in NESTED_LAPLACE]


@cache
def run(id, seed=1):
    return zhat.evidence(zoo.example(id).model, "inla", seed=seed, progress=False)


@pytest.mark.parametrize("id", EXAMPLES)
def test_truths(id):
    result, truth = run(id), zoo.example(id).log_evidence
    print(result, truth)
    assert result.status.is_ok
    assert result.error <= 0.02
    assert abs(result.log_evidence - truth) < min(0.05, 3.0 * result.error)


@pytest.mark.parametrize("id", EXAMPLES)
def test_the_uncorrected_value_is_that_of_exact_quadrature(id):
    assert run(id).diagnostics["nested_laplace"] == pytest.approx(NESTED_LAPLACE[id], abs=5e-4)


@pytest.mark.slow
def test_the_correction_is_not_small_where_latents_are_many():
    assert run("tokyo").diagnostics["correction"] == pytest.approx(0.2332, abs=0.05)
    assert run("tokyo").kind is Kind.SAMPLING


@pytest.mark.parametrize(
    "id", ["E13", "E14a", "E9a", "S8", *(pytest.param(id, marks=pytest.mark.slow) for id in ("E15", "noisy-ar"))]
)
def test_gaussian_inner_integrals_are_exact(id):
    result = run(id)
    assert result.diagnostics["inner_is_gaussian"] and result.kind is Kind.APPROXIMATION and result.log_evidence_se is None
    assert result.error < 3e-3
    assert abs(result.log_evidence - zoo.example(id).log_evidence) <= result.error + 1e-8


def test_without_other_parameters_it_is_laplace():
    result = run("E11")
    assert result.diagnostics["nested_laplace"] - zoo.example("E11").log_evidence == pytest.approx(-0.0251, abs=1e-4)


@pytest.mark.slow
def test_the_cost_is_linear_and_two_thousand_latents_are_no_problem():
    gradients = {}
    for n in (500, 2000):
        t = np.arange(n)
        y = np.random.default_rng(0).poisson(np.exp(1.5 + np.sin(t / 58.0)))
        model = latent.model(y, [latent.RW1(name="x", sd=dist.Exponential(4.6), start=2.0)], latent.Poisson())
        result = zhat.evidence(model, "inla", seed=1, progress=False)
        assert result.status.is_ok and result.error < 0.05
        gradients[n] = result.cost.n_gradient
        assert model.latent.half_width == 1  # a Newton step is four gradients and a factor of three diagonals
    assert gradients[2000] < 2 * gradients[500]


def marginals():
    return latent.marginals(run("coal-smooth"))


def test_posterior_marginals_of_latents_and_hyperparameters():
    found = marginals()
    rate = np.exp(found["x"].mean)
    # Early years have about three disasters a year, late ones about one.
    assert 2.5 < rate[:30].mean() < 3.8 and 0.6 < rate[60:].mean() < 1.3
    assert (found["x"].low < found["x"].median).all() and (found["x"].median < found["x"].high).all()
    assert 0.05 < found["x_sd"].low < found["x_sd"].median < found["x_sd"].high < 0.6


def test_marginals_are_those_of_a_conjugate_model():
    """Normal states in normal noise: the posterior is known."""
    result = run("E14a")
    times = np.arange(8)
    prior = 0.8 ** np.abs(times[:, None] - times[None, :]) / (1 - 0.64)
    gain = prior @ np.linalg.inv(prior + 0.25 * np.eye(8))
    y = np.asarray(zoo.example("E14a").model.data)
    mean, covariance = gain @ y, prior - gain @ prior
    found = latent.marginals(result)["x"]
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(found.mean, mean, atol=5.0 * sd.max() / np.sqrt(result.diagnostics["ess"]))
    np.testing.assert_allclose(found.sd, sd, rtol=0.06)
    np.testing.assert_allclose(found.high, mean + 1.96 * sd, atol=0.1)


def test_terms_are_added():
    """Independent effects of variance a and b together are independent effects of variance a + b, for Gaussian observations."""
    y = np.array([0.3, -1.2, 0.8, 1.9, -0.4])
    both = [latent.IID(name="a", sd=0.6), latent.IID(name="b", sd=0.8), latent.Intercept(sd=2.0)]
    result = zhat.evidence(latent.model(y, both, latent.Gaussian(0.5)), "inla", seed=1, progress=False)
    covariance = (0.36 + 0.64 + 0.25) * np.eye(5) + 4.0
    exact = -0.5 * (5 * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + y @ np.linalg.solve(covariance, y))
    assert result.log_evidence == pytest.approx(exact, abs=1e-9)


@pytest.mark.slow
def test_a_field_on_a_graph():
    edges = np.array([[i, i + 1] for i in range(7)] + [[0, 7]])
    y = np.array([2.0, 3.0, 1.0, 0.0, 2.0, 4.0, 6.0, 5.0])
    prior = dist.Exponential(1.0)
    field = latent.Besag(name="u", sd=prior, edges=edges, mixing=0.9)
    model = latent.model(y, [latent.Intercept(sd=2.0), field], latent.Poisson())
    result = zhat.evidence(model, "inla", seed=1, progress=False)
    other = zhat.evidence(model, zhat.SMC(n_particles=1000), seed=1, progress=False)
    assert result.status.is_ok
    assert abs(result.log_evidence - other.log_evidence) < 4.0 * np.hypot(result.error, other.error)


def two_scales(narrow):
    """Noise whose scale is one of two, far apart beforehand: log sd is a mixture of two normals, so theta has two modes."""
    y = np.array([0.02, -0.03, 0.01, 2.1, -1.8, 0.4])
    log_sd = dist.MixtureSameFamily(dist.Categorical(jnp.array([0.5, 0.5])), dist.Normal(jnp.array([-3.0, 3.0]), narrow))

    def prior():
        numpyro.sample("theta", log_sd)
        numpyro.sample("x", dist.Normal(0.0, 1.0).expand([6]).to_event(1))

    def likelihood(p, y):
        return jnp.sum(dist.Poisson(jnp.exp(1.0 + 0.5 * p["x"] + 0.02 * p["theta"])).log_prob(y))

    return zhat.Model(likelihood, prior, data=np.round(np.abs(10 * y)), latent=("x",))


def test_two_modes_of_the_other_parameters_are_both_in_the_lattice():
    """The data say hardly anything of theta: both halves of its prior count, and twelve standard deviations lie between them."""
    result = zhat.evidence(two_scales(0.5), "inla", seed=1, progress=False)
    other = zhat.evidence(two_scales(0.5), zhat.SMC(n_particles=1000), seed=1, progress=False)
    assert result.diagnostics["n_outer_modes"] >= 1
    assert not result.status.is_ok or abs(result.log_evidence - other.log_evidence) < 4.0 * np.hypot(result.error, other.error)
    assert abs(result.log_evidence - other.log_evidence) < 0.3  # log 2 if one of them were missed


def test_the_mean_over_prior_draws_agrees_with_the_lattice():
    result = run("coal-smooth")
    off = result.diagnostics["from_population_log_evidence"] - result.log_evidence
    assert abs(off) < 4.0 * result.diagnostics["from_population_se"]


def test_the_default_integrates_declared_latents():
    result = zhat.evidence(zoo.example("coal-smooth").model, seed=2, progress=False)
    assert result.method == "inla" and result.status.is_ok
    assert abs(result.log_evidence - zoo.example("coal-smooth").log_evidence) < 3.5 * result.log_evidence_se
    assert "latent Gaussian" in result.why_this_method


@pytest.mark.slow
def test_scales_whose_prior_has_mass_at_zero():
    """Pure Poisson noise: the scale of the effects may well be zero, and its posterior on the log scale has a long left tail."""
    y = np.random.default_rng(5).poisson(4.0, 30)
    model = latent.model(y, [latent.Intercept(sd=3.0), latent.IID(name="b", sd=dist.HalfNormal(1.0))], latent.Poisson())
    noise = latent.model(
        y, [latent.Intercept(sd=3.0), latent.IID(name="b", sd=dist.HalfNormal(1.0))], latent.Poisson(), from_noise=True
    )
    result = zhat.evidence(model, "inla", seed=1, progress=False)
    other = zhat.evidence(noise, zhat.SMC(n_particles=1000), seed=1, progress=False)
    assert result.status.is_ok
    assert abs(result.log_evidence - other.log_evidence) < 4.0 * np.hypot(result.error, other.error)


@pytest.mark.slow
def test_binary_data_with_one_trial_each_are_right_or_flagged():
    """Zeros and ones leave the conditionals of the effects skewed: Laplace's method is worst there."""
    y = (np.random.default_rng(6).random(40) < 0.5).astype(float)
    parts = [latent.Intercept(sd=3.0), latent.IID(name="b", sd=dist.HalfNormal(2.0))]
    result = zhat.evidence(latent.model(y, parts, latent.Binomial()), "inla", seed=1, progress=False)
    noise = latent.model(y, parts, latent.Binomial(), from_noise=True)
    other = zhat.evidence(noise, zhat.SMC(n_particles=1000), seed=1, progress=False)
    assert not result.status.is_ok or abs(result.log_evidence - other.log_evidence) < 4.0 * np.hypot(result.error, other.error)


# -- refusals ------------------------------------------------------------------------------------------------------------------


def test_a_model_that_declares_nothing_is_refused():
    with pytest.raises(UnsupportedModel, match="declared latent Gaussian"):
        zhat.evidence(zoo.example("E3a").model, "inla")


def test_a_prior_that_is_not_gaussian_is_refused():
    model = zhat.Model(lambda p: -jnp.sum(p["x"] ** 2), {"x": dist.StudentT(3.0).expand([2]).to_event(1)}, latent=("x",))
    with pytest.raises(UnsupportedModel, match="not Gaussian"):
        zhat.evidence(model, "inla", seed=1, progress=False)


def test_too_many_other_parameters_are_refused():
    prior = {"x": dist.Normal(0.0, 1.0), "s": dist.Gamma(2.0, 1.0).expand([5]).to_event(1)}
    model = zhat.Model(lambda p: -jnp.sum(p["s"]) * p["x"] ** 2, prior, latent=("x",))
    with pytest.raises(UnsupportedModel, match="5 parameters beside"):
        zhat.evidence(model, "inla", seed=1, progress=False)


def test_a_band_that_is_too_narrow_is_refused():
    model = zoo.example("E14a").model
    wrong = zhat.Model(model.log_likelihood, model.prior, data=model.data, latent=latent.Latent(("x",), tuple(range(8)), 8, 0))
    with pytest.raises(UnsupportedModel, match="band"):
        zhat.evidence(wrong, "inla", seed=1, progress=False)


def test_several_modes_of_the_latents_are_seen():
    result = run("S7")
    assert not result.status.is_ok
    assert "inner-modes" in [reason.code for reason in result.status.reasons]


def test_a_latent_scale_that_depends_on_a_latent_is_refused():
    """Two latents, one of which is the log scale of the other: jointly not Gaussian."""

    def prior():
        v = numpyro.sample("v", dist.Normal(0.0, 1.0))
        numpyro.sample("x", dist.Normal(0.0, jnp.exp(v)))

    model = zhat.Model(lambda p: -0.5 * p["x"] ** 2, prior, latent=("v", "x"))
    with pytest.raises(UnsupportedModel, match="not Gaussian"):
        zhat.evidence(model, "inla", seed=1, progress=False)
