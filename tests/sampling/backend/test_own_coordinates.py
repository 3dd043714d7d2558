"""Draws of runs in standard coordinates, in the coordinates of the model."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

import zhat


def hierarchy(y=None):
    mu = numpyro.sample("mu", dist.Normal(0.0, 2.0))
    tau = numpyro.sample("tau", dist.HalfNormal(1.0))
    numpyro.sample("free", dist.Normal(jnp.zeros(2), 1.0))
    with numpyro.plate("g", 3):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        numpyro.sample("y", dist.Normal(theta, 0.7), obs=y)


def test_the_evidence_is_the_same_and_its_draws_are_in_the_coordinates_of_the_model():
    model = zhat.Model.from_numpyro(hierarchy, y=np.array([0.1, 0.5, -0.2]))
    results = [zhat.evidence(m, "importance", seed=3, progress=False) for m in (model, model.in_other_coordinates())]
    there = results[1]
    assert there.status.is_ok
    prior = zhat.evidence(model, zhat.PriorMean(n_draws=200_000), seed=1, progress=False)
    assert abs(there.log_evidence - prior.log_evidence) < 4.0 * np.hypot(there.error, prior.error)
    some = there.record.position[:50]
    with jax.enable_x64(True):
        params, log_prior = jax.jit(jax.vmap(lambda u: model.space.constrain(u, model.data, None)))(some)
    assert np.allclose(params["theta"], there.record.parameters["theta"][:50], atol=1e-8)
    assert np.allclose(log_prior, there.record.log_prior[:50], atol=1e-8)
