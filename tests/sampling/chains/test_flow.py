"""The learnt harmonic mean: a flow that is trained on draws, normalised, narrower than the posterior, right where ellipsoids refuse."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import zhat
from zhat.errors import BadInput
from zhat.sampling.chains.flow import Flow

pytest.importorskip("flowjax")
pytestmark = pytest.mark.xdist_group("flow")
WIDTH = 0.5


def log_banana(theta):
    """x ~ N(0, 1), y given x ~ N(x^2, 0.5^2): of mass one."""
    return -0.5 * theta[0] ** 2 - 0.5 * ((theta[1] - theta[0] ** 2) / WIDTH) ** 2 - jnp.log(2.0 * jnp.pi * WIDTH)


def banana_draws(rng):
    x = rng.standard_normal((4, 1000))
    return np.stack([x, x**2 + WIDTH * rng.standard_normal(x.shape)], axis=-1)


def test_a_curved_posterior_is_right_where_the_ellipsoid_refuses():
    model = zhat.Model.from_log_density(log_banana, 2)
    draws = {"theta": banana_draws(np.random.default_rng(1))}
    ellipsoid = zhat.evidence(model, zhat.Reciprocal(mode_check=False), draws=draws, seed=1)
    flow = zhat.evidence(model, zhat.Reciprocal(density=Flow(), mode_check=False), draws=draws, seed=1)
    assert not ellipsoid.status.is_ok and flow.status.is_ok
    assert abs(flow.log_evidence) < 4.5 * flow.log_evidence_se and flow.log_evidence_se < 0.05
    gaps, errors = np.array(flow.diagnostics["smaller_regions"]), np.array(flow.diagnostics["smaller_regions_se"])
    assert len(gaps) == 4 and (np.abs(gaps) < 4.5 * errors).all()


def test_the_trained_density_integrates_to_one_in_double_precision():
    draws = banana_draws(np.random.default_rng(2)).reshape(-1, 2)[:1000]
    region = Flow(temperature=0.7).fitted(draws, np.zeros(len(draws)))[0]
    x, y = np.linspace(-5.0, 5.0, 201), np.linspace(-4.0, 14.0, 361)
    grid = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    log_density = region.log_density(grid)
    assert log_density.dtype == np.float64
    assert abs(np.exp(log_density).sum() * (x[1] - x[0]) * (y[1] - y[0]) - 1.0) < 0.02


def test_a_temperature_outside_of_zero_to_one_is_refused():
    with pytest.raises(BadInput, match="narrower than the posterior"):
        Flow(temperature=1.0)
