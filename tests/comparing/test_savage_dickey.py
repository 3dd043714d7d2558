"""The density ratio against Bayes factors that are known, and its conditions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat.errors import BadInput

Y = np.array([1.2, -0.4, 0.7, 2.1, 0.3])


def normal_mean(prior=None):
    prior = prior or {"mu": dist.Normal(0.0, 2.0)}
    return zhat.Model(lambda p, y: jnp.sum(dist.Normal(p["mu"], 1.0).log_prob(y)), prior, data=Y, name="mean")


def exact_draws(rng, n_chains=4, n=1000):
    precision = len(Y) + 0.25
    return {"mu": Y.sum() / precision + rng.standard_normal((n_chains, n)) / np.sqrt(precision)}


def exact_log_bayes_factor(at):
    precision = len(Y) + 0.25
    posterior = dist.Normal(Y.sum() / precision, precision**-0.5).log_prob(at)
    return float(posterior - dist.Normal(0.0, 2.0).log_prob(at))


def test_a_normal_posterior_is_exact_within_its_error():
    model = normal_mean()
    z = []
    for seed in range(12):
        result = zhat.savage_dickey(model, exact_draws(np.random.default_rng(seed)), "mu", at=0.0, seed=1)
        assert result.status.is_ok and result.se < 0.02
        z.append((result.value - exact_log_bayes_factor(0.0)) / result.se)
    assert np.sqrt(np.mean(np.square(z))) < 1.8
    assert "log BF(mu = 0.0, free)" in str(result) and result.log_bayes_factor.se == result.se


def test_a_point_far_in_the_tail_is_right_or_flagged():
    result = zhat.savage_dickey(normal_mean(), exact_draws(np.random.default_rng(1)), "mu", at=-1.5, seed=1)
    assert not result.status.is_ok or abs(result.value - exact_log_bayes_factor(-1.5)) < 4.5 * result.se


def test_a_prior_that_depends_on_other_parameters_is_said():
    import numpyro

    def prior():
        scale = numpyro.sample("scale", dist.HalfNormal(1.0))
        numpyro.sample("mu", dist.Normal(0.0, scale))

    model = normal_mean(prior)
    first = zhat.evidence(model, zhat.Bridge(mode_check=False), seed=1, progress=False)
    result = zhat.savage_dickey(model, first, "mu", at=0.0, seed=1)
    assert "prior-depends" in str(result.status) and result.se is None and "prior-depends" in result.explain()


def test_what_cannot_be_tested_is_refused():
    model, draws = normal_mean(), exact_draws(np.random.default_rng(1))
    with pytest.raises(BadInput, match="no parameter 'delta'"):
        zhat.savage_dickey(model, draws, "delta", at=0.0)
    with pytest.raises(BadInput, match="the point has shape"):
        zhat.savage_dickey(model, draws, "mu", at=[0.0, 1.0])
    positive = normal_mean({"mu": dist.HalfNormal(2.0)})
    with pytest.raises(BadInput, match="edge of the support"):
        zhat.savage_dickey(positive, {"mu": np.abs(draws["mu"]) + 1e-3}, "mu", at=0.0)


def test_a_point_that_draws_do_not_reach_says_what_to_do_instead():
    prior = {"mu": dist.Normal(0.0, 2.0), "sigma": dist.HalfNormal(2.0)}
    model = zhat.Model(lambda p, y: jnp.sum(dist.Normal(p["mu"], p["sigma"]).log_prob(y)), prior, data=Y, name="both")
    fit = zhat.evidence(model, zhat.Bridge(mode_check=False), seed=1, progress=False)
    result = zhat.savage_dickey(model, fit, "mu", at=20.0, seed=1)
    assert result.se is None and "write the restricted model and use zhat.compare" in result.explain()
    assert "SMC" not in result.explain()


@pytest.mark.parametrize("at", ["0", float("nan"), None, [[1.0], [1.0, 2.0]], True])
def test_a_point_is_a_number(at):
    with pytest.raises(BadInput, match="give a finite number"):
        zhat.savage_dickey(normal_mean(), exact_draws(np.random.default_rng(1)), "mu", at=at)
