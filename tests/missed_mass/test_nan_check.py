"""The share of NaN near a posterior: the formula of the docstring on a cut normal, weights, and draws that cannot be used."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy.stats import norm

import zhat
from zhat.missed_mass.effort import EFFORT
from zhat.missed_mass.nan_check import NanFound, nan_near
from zhat.results.records import Draws
from zhat.sampling.backend.loop import Loop
from zhat.seeding import Key

MET = NanFound(1, 100, 0.5)
CUT = 2.0


def cut(params):
    return jnp.where(params["x"] > CUT, jnp.nan, 0.0)


def draws_of(position, log_weight=None):
    n = len(position)
    position = np.asarray(position, dtype=float)[:, None]
    return Draws(position=position, log_prior=np.zeros(n), log_likelihood=np.zeros(n), n_drawn=n, log_weight=log_weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_share_is_that_of_the_smoothed_posterior(weighted):
    model = zhat.Model(cut, {"x": dist.Normal(0.0, 10.0)})
    rng = np.random.default_rng(1)
    if weighted:  # a normal by weights, from a flat proposal
        position = rng.uniform(-8.0, 8.0, 40_000)
        found = nan_near(model, draws_of(position, -0.5 * position**2), MET, Key(1), Loop(progress=False))
    else:
        found = nan_near(model, draws_of(rng.standard_normal(40_000)), MET, Key(1), Loop(progress=False))
    expected = norm.sf(CUT / np.sqrt(1.0 + EFFORT.moved_by**2))
    z = (found.near_share - expected) / np.sqrt(expected / EFFORT.n_moved)
    print(found, expected, "z", z)
    assert abs(z) < 4.5
    assert found.n_near == EFFORT.n_moved and found.example.startswith("x=") and float(found.example[2:]) > CUT


def test_without_usable_draws_nothing_is_said():
    model = zhat.Model(cut, {"x": dist.Normal(0.0, 10.0)})
    assert nan_near(model, None, MET, Key(1), Loop(progress=False)) == MET
    assert nan_near(model, draws_of([0.0, 1.0], np.full(2, -np.inf)), MET, Key(1), Loop(progress=False)) == MET
