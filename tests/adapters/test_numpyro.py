"""The NumPyro adapter: its own door, fixed arguments, and a fingerprint of one's own. (Densities: tests/model.)"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

import zhat
from zhat import Model
from zhat.adapters import numpyro as adapter

Y = np.array([0.3, -0.2, 0.9])


def program(y, effects=True):
    mu = numpyro.sample("mu", dist.Normal(0.0, 1.0))
    numpyro.sample("y", dist.Normal(mu if effects else 0.0, 1.0), obs=y)


def test_both_doors_lead_to_the_same_model():
    a, b = adapter.model(program, Y, effects=False), Model.from_numpyro(program, Y, effects=False)
    assert a.name == b.name == "program" and a.data_id == b.data_id
    assert a.evaluate(mu=0.4) == b.evaluate(mu=0.4)


def test_a_fingerprint_can_be_given():
    assert Model.from_numpyro(program, Y, data_id="pines").data_id == "pines"
    assert Model.from_numpyro(program, Y).data_id not in (None, "pines")
    assert Model.from_numpyro(program, Y, data_id="pines").with_data(((Y + 1.0,), {})).data_id != "pines"


def random_walk(y):
    from numpyro.contrib.control_flow import scan

    scale = numpyro.sample("scale", dist.LogNormal(-0.5, 0.3))

    def step(level, seen):
        level = numpyro.sample("level", dist.Normal(level, scale))
        numpyro.sample("y", dist.Normal(level, 0.5), obs=seen)
        return level, None

    scan(step, jnp.float64(0.0), y)


def test_a_scan_of_numpyro_is_read_like_any_other_model():
    from scipy import stats

    y = np.array([0.3, 0.8, 0.5, 1.4])
    model = Model.from_numpyro(random_walk, y)
    assert model.n_dimensions == 5 and model.space.names == ("scale", "level")
    level = np.array([0.2, 0.6, 0.7, 1.1])
    log_prior, log_likelihood = model.evaluate(scale=0.8, level=level)
    steps = np.diff(np.concatenate([[0.0], level]))
    np.testing.assert_allclose(
        log_prior, stats.lognorm.logpdf(0.8, 0.3, scale=np.exp(-0.5)) + stats.norm.logpdf(steps, 0, 0.8).sum(), rtol=1e-12
    )
    np.testing.assert_allclose(log_likelihood, stats.norm.logpdf(y, level, 0.5).sum(), rtol=1e-12)

    from scipy import integrate

    def marginal(scale):  # given the scale, y is normal
        i = np.arange(1, 5)
        covariance = scale**2 * np.minimum(i[:, None], i) + 0.25 * np.eye(4)
        return np.exp(
            stats.multivariate_normal(np.zeros(4), covariance).logpdf(y) + stats.lognorm.logpdf(scale, 0.3, scale=np.exp(-0.5))
        )

    result = zhat.evidence(model, "importance", seed=1, progress=False)
    truth = np.log(integrate.quad(marginal, 0, 20)[0])
    assert result.status.is_ok and abs(result.log_evidence - truth) < 4 * result.log_evidence_se
