"""A space that is no NumPyro program carries a model through sampling: the protocol is all that is needed."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import jax.scipy.stats as jstats
import numpy as np
import pytest

import zhat
from zhat.errors import BadInput
from zhat.model.core import Core
from zhat.model.space import Site, Space

Y = np.array([0.4, 1.9, 1.1, 0.7, 1.6])


@dataclass(frozen=True)
class NormalAndExponential(Space):
    """mu ~ N(0, 2) and rate ~ Exponential(1), on (mu, log rate), written down by hand."""

    sites: tuple[Site, ...] = (Site("mu", (), (), "Real"), Site("rate", (), (), "Positive"))

    def constrain(self, u, data, hyper):
        params = {"mu": u[0], "rate": jnp.exp(u[1])}
        log_prior = jnp.sum(self.log_priors(u, data, hyper))
        return params, jnp.where(jnp.isfinite(params["rate"]), log_prior, -jnp.inf)

    def log_priors(self, u, data, hyper):
        return jnp.stack([jstats.norm.logpdf(u[0], 0.0, 2.0), u[1] - jnp.exp(u[1])])

    def log_prior(self, params, data, hyper):
        return jstats.norm.logpdf(params["mu"], 0.0, 2.0) - params["rate"]

    def coordinates(self, params, data, hyper):
        return [jnp.ravel(params["mu"]), jnp.ravel(jnp.log(params["rate"]))]

    def sample_prior(self, key, data, hyper):
        first, second = jax.random.split(key)
        return jnp.stack([2.0 * jax.random.normal(first), jnp.log(jax.random.exponential(second))])


def log_likelihood(params, data, hyper):
    return jnp.sum(jstats.norm.logpdf(data, params["mu"], 1.0 / jnp.sqrt(params["rate"])))


def model():
    core = Core(log_likelihood, NormalAndExponential(), black_box=False, batched=False)
    return zhat.Model(log_likelihood, None, data=Y, core=core)


def truth():
    from scipy import integrate, stats

    def joint(mu, rate):
        likelihood = np.exp(stats.norm.logpdf(Y, mu, 1 / np.sqrt(rate)).sum())
        return stats.norm.pdf(mu, 0, 2) * np.exp(-rate) * likelihood

    return np.log(integrate.dblquad(joint, 0, np.inf, -np.inf, np.inf)[0])


def test_what_follows_from_the_maps():
    space = NormalAndExponential()
    assert space.names == space.coordinate_names() == ("mu", "rate")
    assert space.n_dimensions == 2
    with jax.enable_x64(True):
        u = jnp.array([0.3, -0.7])
        np.testing.assert_allclose(space.unconstrain(space.constrain(u, None, None)[0], None, None), u, rtol=1e-14)


@pytest.mark.parametrize("method", ["nested"])  # in the cube, with moves and a check from the prior
def test_methods_of_every_family_take_it(method):
    result = zhat.evidence(model(), method, seed=1, progress=False)
    assert result.status.is_ok, result.status
    assert abs(result.log_evidence - truth()) < 4 * result.log_evidence_se


def test_the_cube_of_such_a_space_has_the_density_of_its_prior():
    from zhat.sampling.nested.cube import cube_of

    cube = cube_of(model())
    assert not cube.is_uniform
    c = np.random.default_rng(0).uniform(0.1, 0.9, (20, 2))
    u, log_q = cube.positions(c)
    back, same = cube.of(u)
    np.testing.assert_allclose(back, c, atol=1e-12)
    np.testing.assert_allclose(same, log_q, rtol=1e-10)
    # The density in the cube is that of u divided by the derivative of each coordinate.
    h = 1e-6
    slope = np.stack([(cube.of(u + h * e)[0] - cube.of(u - h * e)[0])[:, i] / (2 * h) for i, e in enumerate(np.eye(2))], axis=1)
    log_prior = np.array([zhat.Model.evaluate(model(), mu=a, rate=np.exp(b))[0] + b for a, b in u[:3]])
    np.testing.assert_allclose(log_q[:3], log_prior - np.log(slope[:3]).sum(axis=1), rtol=1e-6)


def test_data_of_other_shapes_are_refused_unless_the_space_says_otherwise():
    assert model().with_data(Y + 1.0).core is not None
    with pytest.raises(BadInput, match="build a new model"):
        model().with_data(Y[:3])
