"""Latent Gaussian models in words: their densities, their declared structure, and what is refused."""

from __future__ import annotations

import jax
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

from zhat import latent
from zhat.errors import BadInput, BadType, ShapeError
from zhat.model.model import Offer

Y = np.array([3.0, 0.0, 2.0, 5.0, 1.0, 4.0])
ETA = np.array([0.3, -0.8, 0.1, 1.2, -0.2, 0.9])
FAMILIES = {
    "gaussian": (latent.Gaussian(0.6), lambda: stats.norm(ETA, 0.6).logpdf(Y)),
    "poisson": (latent.Poisson(exposure=2.0), lambda: stats.poisson(2.0 * np.exp(ETA)).logpmf(Y)),
    "binomial": (latent.Binomial(trials=6), lambda: stats.binom(6, 1 / (1 + np.exp(-ETA))).logpmf(Y)),
    "negative binomial": (latent.NegativeBinomial(2.5), lambda: stats.nbinom(2.5, 2.5 / (2.5 + np.exp(ETA))).logpmf(Y)),
    "volatility": (latent.StochasticVolatility(), lambda: stats.norm(0.0, np.exp(0.5 * ETA)).logpdf(Y)),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_observations_have_complete_densities(family):
    observed, exact = FAMILIES[family]
    model = latent.model(Y, [latent.IID(name="x", sd=1.0)], observed)
    log_prior, log_likelihood = model.evaluate(x=ETA)
    assert log_likelihood == pytest.approx(exact().sum(), abs=1e-9)
    assert log_prior == pytest.approx(stats.norm(0.0, 1.0).logpdf(ETA).sum(), abs=1e-9)
    assert Offer.LATENT_GAUSSIAN in model.offers


def hessian(model, u):
    with jax.enable_x64(True):
        return np.asarray(jax.jit(jax.hessian(lambda v: sum(model.core.log_densities(v, model.data, model.hyper))))(u))


def everything():
    rng = np.random.default_rng(1)
    n = 24
    terms = [
        latent.Intercept(sd=3.0),
        latent.Fixed(columns=rng.standard_normal((n, 2)), sd=2.0),
        latent.RW2(name="trend", sd=dist.HalfNormal(0.1), start=1.0, slope=0.3),
        latent.Seasonal(name="season", period=4, sd=dist.HalfNormal(0.1), start=1.0),
        latent.IID(name="extra", precision=dist.Gamma(2.0, 1.0)),
    ]
    return latent.model(rng.poisson(3.0, n), terms, latent.Poisson(), offset=np.linspace(0, 1, n))


def test_all_second_derivatives_lie_in_the_declared_band_and_border():
    model = everything()
    declared = model.latent
    names = model.space.coordinate_names()
    latents = [i for name in declared.names for i, label in enumerate(names) if label.split("[")[0] == name]
    assert declared.line == 72 and len(latents) == 75
    assert declared.half_width <= 14  # three effects a time, season joined over three steps: about 12
    u = np.random.default_rng(2).standard_normal(len(names))
    matrix = hessian(model, u)[np.ix_(latents, latents)][np.ix_(declared.order, declared.order)]
    rows, columns = np.indices(matrix.shape)
    outside = (rows < 72) & (columns < 72) & (np.abs(rows - columns) > declared.half_width)
    assert np.abs(matrix[outside]).max() < 1e-12
    assert np.abs(matrix[:72, 72:]).max() > 0.1


def test_effects_of_crossed_groups_are_dense():
    rng = np.random.default_rng(3)
    terms = [
        latent.IID(name="a", sd=1.0, index=rng.integers(0, 6, 40)),
        latent.IID(name="b", sd=1.0, index=np.concatenate([np.arange(6), rng.integers(0, 6, 34)])),
    ]
    model = latent.model(rng.poisson(3.0, 40), terms, latent.Poisson())
    assert model.latent.line == 0 and model.latent.half_width == 0


def test_effects_from_noise_are_the_same_model():
    terms = [latent.Intercept(sd=1.0), latent.AR1(name="x", sd=dist.HalfNormal(1.0), coefficient=dist.Uniform(-1.0, 1.0))]
    plain, noisy = (latent.model(Y, terms, latent.Poisson(), from_noise=flag) for flag in (False, True))
    assert Offer.LATENT_GAUSSIAN not in noisy.offers
    assert plain.n_dimensions == noisy.n_dimensions and plain.data_id == noisy.data_id
    noise, scale, phi = np.sin(np.arange(6.0)), 0.7, 0.5
    x = [scale * noise[0] / np.sqrt(1 - phi**2)]
    for shock in noise[1:]:
        x.append(phi * x[-1] + scale * shock)
    hyper = {"intercept": 0.2, "x_sd": scale, "x_coefficient": phi}
    there, here = plain.evaluate(x=np.array(x), **hyper), noisy.evaluate(x_noise=noise, **hyper)
    assert here[1] == pytest.approx(there[1], abs=1e-10)
    # The two priors differ by the determinant of the map, which is triangular.
    assert here[0] - there[0] == pytest.approx(6 * np.log(scale) - 0.5 * np.log(1 - phi**2), abs=1e-10)


def test_two_models_of_the_same_observations_can_be_compared():
    one = latent.model(Y, [latent.IID(name="x", sd=1.0)], latent.Poisson())
    other = latent.model(Y, [latent.Intercept(sd=1.0)], latent.Poisson())
    assert one.data_id == other.data_id
    assert one.data_id != latent.model(Y, [latent.IID(name="x", sd=1.0)], latent.Poisson(exposure=2.0)).data_id


WALK = {"name": "x", "start": 1.0}
REFUSED = [
    (lambda: latent.model(Y, [], latent.Poisson()), BadType, "list of terms"),
    (lambda: latent.model(Y[None], [latent.IID(name="x", sd=1.0)], latent.Poisson()), ShapeError, "vector"),
    (lambda: latent.model(Y, [latent.IID(name="x", sd=1.0)], "poisson"), BadType, "latent.Poisson"),
    (lambda: latent.model(Y, [latent.IID(name="x", sd=1.0)] * 2, latent.Poisson()), BadInput, "its own name"),
    (lambda: latent.model(-Y, [latent.IID(name="x", sd=1.0)], latent.Poisson()), BadInput, "observation 0 is -3"),
    (lambda: latent.model(Y, [latent.IID(name="x", sd=1.0)], latent.Binomial(4)), BadInput, "5 successes in 4"),
    (lambda: latent.model(Y, [latent.IID(name="x", sd=1.0, index=[0, 1])], latent.Poisson()), ShapeError, "index has 2"),
    (lambda: latent.model(Y, [latent.Fixed(columns=np.ones(3), sd=1.0)], latent.Poisson()), ShapeError, "3 rows for 6"),
    (lambda: latent.IID(name="x", sd=1.0, index=[0.5, 1.0]), BadInput, "whole numbers"),
    (lambda: latent.IID(name="x"), BadInput, "sd=... or precision="),
    (lambda: latent.IID(name="x", sd=1.0, precision=1.0), BadInput, "one of the two"),
    (lambda: latent.RW1(sd=-1.0, **WALK), BadInput, "above zero"),
    (lambda: latent.RW1(sd="wide", **WALK), BadType, "NumPyro distribution"),
    (lambda: latent.AR1(name="x", sd=1.0, coefficient=1.2), BadInput, "between -1 and 1"),
    (lambda: latent.Seasonal(name="x", sd=1.0, period=1, start=1.0), BadInput, "at least 2"),
    (
        lambda: latent.model(Y, [latent.Seasonal(name="x", sd=1.0, period=6, start=1.0)], latent.Poisson()),
        BadInput,
        "more than 6",
    ),
    (lambda: latent.Besag(name="x", sd=1.0, edges=[[0, 1, 2]], mixing=0.5), BadInput, "pairs"),
    (lambda: latent.Besag(name="x", sd=1.0, edges=[[0, 1]], mixing=1.0), BadInput, "between 0 and 1"),
    (lambda: latent.Intercept(name="", sd=1.0), BadInput, "give a name"),
]


@pytest.mark.parametrize(("make", "error", "says"), REFUSED, ids=[says for _, _, says in REFUSED])
def test_refused_with_a_sentence(make, error, says):
    with pytest.raises(error, match=says):
        make()
