"""Proposals in the parameters: normalised densities of the coordinates, which fit a thin normal in a box and weigh draws outside as zero."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import zhat
from zhat import Model
from zhat.sampling.backend.evaluation import draws_from_prior
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.in_parameters import InParameters, modes_in_parameters
from zhat.sampling.importance.modes import Search, find_modes
from zhat.sampling.importance.proposals import Gaussian
from zhat.sampling.importance.starts import spread_positions
from zhat.seeding import Key

WIDTH = np.array([0.01, 0.5, 0.8, 1.5])
TURN = stats.ortho_group(4, seed=3).rvs()
THIN = TURN @ np.diag(WIDTH**2) @ TURN.T


def thin_in_a_box(at):
    precision = np.linalg.inv(THIN)
    prior = {"x": dist.Uniform(-12.0, 12.0).expand([4]).to_event(1)}
    return Model(lambda p: -0.5 * (p["x"] - at) @ precision @ (p["x"] - at), prior)


def modes_of(model):
    loop = Loop(progress=False)
    draws = draws_from_prior(model, spread_positions(model, 64, Key(1)), loop)
    return find_modes(model, draws, Key(2), loop, Search(n_starts=64, max_iterations=40)).usable[:1]


def test_the_mode_of_the_parameters_is_that_of_the_normal():
    at = np.array([3.0, -9.0, 0.0, 5.0])
    model = thin_in_a_box(at)
    with jax.enable_x64(True):
        (mode,) = modes_in_parameters(model, modes_of(model))
    assert mode.position == pytest.approx(at, abs=0.02)
    assert mode.covariance == pytest.approx(THIN, abs=2e-3)


def test_its_density_is_that_of_the_coordinates():
    model = thin_in_a_box(np.zeros(4))
    proposal = InParameters(Gaussian(np.zeros(4), np.eye(4)), model)
    u = np.random.default_rng(1).normal(size=(6, 4))
    x = 24.0 / (1.0 + np.exp(-u)) - 12.0
    log_jacobian = np.log((12.0 + x) * (12.0 - x) / 24.0).sum(axis=1)
    assert proposal.log_density(u) == pytest.approx(stats.norm.logpdf(x).sum(axis=1) + log_jacobian, rel=1e-10)


def test_a_thin_normal_in_a_box_is_fitted():
    model = thin_in_a_box(np.array([3.0, -6.0, 0.0, 5.0]))
    truth = 0.5 * np.linalg.slogdet(2.0 * np.pi * THIN)[1] - 4 * np.log(24.0)
    found = zhat.evidence(model, zhat.Importance(), seed=1, progress=False)
    assert found.status.is_ok and found.diagnostics["pilot_efficiency"] > 0.6
    assert abs(found.log_evidence - truth) < 4.0 * found.error


def test_draws_outside_of_the_box_have_no_weight():
    """A quarter of the normal is inside; its draws outside are at minus infinity, and summaries of the posterior are numbers."""
    prior = {"x": dist.Uniform(-1.0, 1.0).expand([2]).to_event(1)}
    at = jnp.array([0.9, -0.9])
    model = Model(lambda p: dist.Normal(at, 0.05).log_prob(p["x"]).sum(), prior)
    proposal = InParameters(Gaussian(np.array([0.9, -0.9]), 0.0064 * np.eye(2)), model)
    drawn = proposal.draw(np.random.default_rng(1), 1000)
    assert 0.02 < np.isneginf(drawn).any(axis=1).mean() < 0.4
    found = zhat.evidence(model, zhat.Importance(proposal=proposal), seed=1, progress=False)
    truth = 2 * np.log(0.5 * (stats.norm.cdf(2.0) - stats.norm.cdf(-38.0)))
    assert found.status.is_ok and abs(found.log_evidence - truth) < 4.0 * found.error
    assert np.isfinite(found.to_arviz().posterior["x"].values).all()
