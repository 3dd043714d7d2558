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
        high = high_starts(model, draws, [broad], np.zeros(N_STARTS, np.int64))
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
        high = high_starts(model, draws, list(modes[:1]), np.zeros(512, np.int64))
    assert high.sum() == 512 * COMPARED
