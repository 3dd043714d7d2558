"""Double precision inside, the user's own JAX settings untouched outside."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import Model
from zhat.errors import NonFiniteLikelihood


def user_settings():
    return jax.config.jax_enable_x64, jnp.ones(1).dtype, jax.config.jax_default_matmul_precision


USUAL = (False, np.dtype("float32"), None)


def test_importing_zhat_leaves_jax_in_single_precision():
    assert user_settings() == USUAL


def test_runs_checks_and_failures_leave_jax_as_it_was():
    seen = []

    def log_likelihood(params):
        seen.append(params["x"].dtype)
        return -(params["x"] ** 2)

    model = Model(log_likelihood, {"x": dist.Normal()})
    model.evaluate(x=1.0)
    zhat.evidence(model, zhat.PriorMean(n_draws=1000), seed=0)
    model.check(n_draws=20)
    assert user_settings() == USUAL
    broken = Model(lambda p: jnp.log(-(p["x"] ** 2)), {"x": dist.Normal()})
    with pytest.raises(NonFiniteLikelihood):
        zhat.evidence(broken, zhat.PriorMean(n_draws=1000), seed=0)
    assert user_settings() == USUAL
    assert set(seen) == {np.dtype("float64")}, "the likelihood itself must be given double precision"


def test_data_given_in_single_precision_are_computed_with_in_double():
    seen = []

    def log_likelihood(params, y):
        seen.append(y.dtype)
        return -jnp.sum((y - params["x"]) ** 2)

    y = np.array([0.1, 0.2], np.float32)
    value = Model(log_likelihood, {"x": dist.Normal()}, data=y).evaluate(x=0.0)[1]
    assert value == pytest.approx(-(y.astype(np.float64) ** 2).sum(), rel=1e-15)
    assert set(seen) == {np.dtype("float64")}


def test_a_user_who_works_in_double_precision_stays_there():
    with jax.enable_x64(True):
        zhat.evidence(Model(lambda p: -(p["x"] ** 2), {"x": dist.Normal()}), zhat.PriorMean(n_draws=1000), seed=0)
        assert jnp.ones(1).dtype == np.float64
    assert user_settings() == USUAL
