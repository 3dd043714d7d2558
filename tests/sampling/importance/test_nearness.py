"""Starts in the basin of an unknown mode are among the few that are compared, in whatever coordinates the known mode is elliptical."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Model
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.evaluation import draws_from_prior
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Search, find_modes
from zhat.sampling.importance.nearness import COMPARED, high_starts
from zhat.sampling.importance.starts import spread_positions
from zhat.seeding import Key

N_STARTS = 16_384
PRIORS = {"uniform": dist.Uniform(-5.0, 5.0), "normal": dist.Normal(0.0, 3.0), "logistic": dist.Logistic(0.0, 2.0)}


def log_densities_of(x):
    """The two modes, at -1 and 2.5 in every coordinate, of widths 0.5 and 0.1."""
    return [-0.5 * (((x - at) / width) ** 2).sum(-1) - 4 * np.log(width) for at, width in ((-1.0, 0.5), (2.5, 0.1))]


@pytest.mark.parametrize("prior", PRIORS)
def test_a_narrow_basin_is_compared(prior):
    model = Model(lambda p: jnp.logaddexp(*log_densities_of(p["x"])), {"x": PRIORS[prior].expand([4]).to_event(1)})
    loop = Loop(progress=False)
    with jax.enable_x64(True):
        draws = draws_from_prior(model, spread_positions(model, N_STARTS, Key(1)), loop)
        modes = find_modes(model, draws, Key(2), loop, Search(n_starts=64)).usable
        x, centres = (constrain_batch(model, u)[0]["x"] for u in (draws.position, np.stack([m.position for m in modes])))
        broad = modes[int(np.abs(centres + 1.0).max(axis=1).argmin())]
        high = high_starts(model, draws, [broad])
    wide, narrow = log_densities_of(x)
    basin = narrow > wide
    assert high.mean() == pytest.approx(COMPARED, rel=0.05)
    assert basin.sum() > 10 and high[basin].mean() > 0.9


def test_parameters_that_are_not_their_coordinates_are_compared_by_the_latter():
    model = Model(lambda p: jnp.sum(jnp.array([3.0, 1.0, 4.0]) * jnp.log(p["w"])), {"w": dist.Dirichlet(jnp.ones(3))})
    loop = Loop(progress=False)
    with jax.enable_x64(True):
        draws = draws_from_prior(model, spread_positions(model, 512, Key(1)), loop)
        modes = find_modes(model, draws, Key(2), loop, Search(n_starts=4)).usable
        high = high_starts(model, draws, list(modes[:1]))
    assert high.sum() == 512 * COMPARED


def test_starts_belong_to_the_mode_that_explains_them_where_many_are_known():
    """Six correlated normals in a box, in whose unconstrained coordinates far starts would go to the wrong ones, and a narrow seventh."""
    rng = np.random.default_rng(3)
    d, at = 6, rng.uniform(-6.0, 6.0, (7, 6))
    width = np.array([0.6, 0.8, 0.5, 0.7, 0.6, 0.9, 0.4])
    shape = rng.normal(size=(7, d, d)) * 0.5 + 1.5 * np.eye(d)
    precision = np.linalg.inv(shape @ shape.transpose(0, 2, 1)) / width[:, None, None] ** 2

    def terms(x, xp):
        r = x[..., None, :] - at
        return -0.5 * xp.einsum("...ki,kij,...kj->...k", r, precision, r) + 0.5 * np.linalg.slogdet(precision)[1]

    prior = {"x": dist.Uniform(-12.0, 12.0).expand([d]).to_event(1)}
    model = Model(lambda p: jax.scipy.special.logsumexp(terms(p["x"], jnp)), prior)
    loop = Loop(progress=False)
    with jax.enable_x64(True):
        draws = draws_from_prior(model, spread_positions(model, N_STARTS, Key(1)), loop)
        modes = find_modes(model, draws, Key(2), loop, Search(n_starts=256)).usable
        centres = constrain_batch(model, np.stack([mode.position for mode in modes]))[0]["x"]
        known = [mode for mode, k in zip(modes, terms(centres, np).argmax(axis=1), strict=True) if k < 6]
        high = high_starts(model, draws, known)
        basin = terms(constrain_batch(model, draws.position)[0]["x"], np).argmax(axis=1) == 6
    assert len(known) == 6
    assert basin.sum() > 10 and high[basin].mean() > 0.5
