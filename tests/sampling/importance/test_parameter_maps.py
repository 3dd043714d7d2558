"""Newton steps in the parameters: derivatives are those of the density there, and searches in a box end where they should."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Model
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.evaluation import draws_from_prior
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.curvature import curvature
from zhat.sampling.importance.modes import Search, find_modes
from zhat.sampling.importance.parameter_maps import are_coordinates, in_parameters, positions_at
from zhat.sampling.importance.starts import spread_positions
from zhat.seeding import Key

BOX = dist.Uniform(-12.0, 12.0)


def thin(d):
    """A normal with correlations of 0.98 and widths from 0.03 to 0.6, inside the box, at `at`."""
    width = np.geomspace(0.03, 0.6, d)
    covariance = (0.98 + 0.02 * np.eye(d)) * np.outer(width, width)
    return np.linspace(-3.0, 4.0, d), np.linalg.inv(covariance)


def model_of(d, prior=BOX):
    at, precision = thin(d)
    return Model(lambda p: -0.5 * (p["x"] - at) @ precision @ (p["x"] - at), {"x": prior.expand([d]).to_event(1)})


def test_derivatives_are_those_of_the_density_in_the_parameters():
    d = 3
    model, (at, precision), loop = model_of(d), thin(3), Loop(progress=False)
    u = np.random.default_rng(1).normal(size=(5, d))
    with jax.enable_x64(True):
        _, gradient, curved = curvature(model, u, np.ones_like(u), 8, loop)
        x, slope, bent = in_parameters(model, u, gradient, curved)
        assert positions_at(model, x) == pytest.approx(u, rel=1e-10)
    assert x == pytest.approx(24.0 / (1.0 + np.exp(-u)) - 12.0)
    # The density of the coordinates has a Jacobian (12 + x)(12 - x) / 24 each.
    assert slope == pytest.approx((at - x) @ precision + 1 / (12 + x) - 1 / (12 - x), rel=1e-8)
    of_jacobian = np.einsum("ki,ij->kij", (12 + x) ** -2 + (12 - x) ** -2, np.eye(d))
    assert bent == pytest.approx(precision + of_jacobian, rel=1e-8)


def test_outside_of_the_support_there_are_no_coordinates():
    inside = np.isfinite(positions_at(model_of(2), np.array([[0.0, 13.0], [-1.0, 2.0]]))).all(axis=1)
    assert inside.tolist() == [False, True]


@pytest.mark.parametrize("d", [4, 8])
def test_most_searches_from_all_over_a_box_end_in_fifteen_steps(d):
    model, loop = model_of(d), Loop(progress=False)
    with jax.enable_x64(True):
        draws = draws_from_prior(model, spread_positions(model, 64, Key(1)), loop)
        found = find_modes(model, draws, Key(2), loop, Search(n_starts=64, max_iterations=15))
        at = constrain_batch(model, found.usable[0].position[None])[0]["x"][0]
    assert found.usable[0].hits > 48  # by steps in the coordinates alone 6 and 2 of 64
    assert at == pytest.approx(thin(d)[0], abs=0.05)


def test_which_models_have_them():
    def one(prior):
        return are_coordinates(Model(lambda p: -jnp.sum(p["x"] ** 2), {"x": prior}))

    assert one(BOX) and one(dist.Beta(2.0, 2.0))
    assert not one(dist.Normal(0.0, 1.0)) and not one(dist.HalfNormal(1.0))
    assert not one(dist.Dirichlet(jnp.ones(3)))
