"""Standard coordinates of hierarchical priors: which sites have them, densities against Jacobians, the same evidence."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

import zhat
from zhat.model.coordinates.standard import FAMILIES, depend_on_first


def hierarchy(y=None):
    mu = numpyro.sample("mu", dist.Normal(0.0, 2.0))
    tau = numpyro.sample("tau", dist.HalfNormal(1.0))
    numpyro.sample("free", dist.Normal(jnp.zeros(2), 1.0))
    with numpyro.plate("g", 3):
        theta = numpyro.sample("theta", dist.Normal(mu, tau))
        numpyro.sample("y", dist.Normal(theta, 0.7), obs=y)


def every_family():
    """One site of every family, each with arguments that depend on another site."""
    a = numpyro.sample("a", dist.Normal(0.3, 0.2))
    s = numpyro.sample("s", dist.LogNormal(0.1, 0.3))
    for family in (dist.Cauchy, dist.Gumbel, dist.Laplace, dist.Logistic, dist.Normal):
        numpyro.sample(family.__name__, family(a, s))
    numpyro.sample("StudentT", dist.StudentT(4.0, a, s).expand([2]).to_event(1))
    numpyro.sample("LogNormal", dist.LogNormal(a, s))
    numpyro.sample("HalfCauchy", dist.HalfCauchy(s))
    numpyro.sample("HalfNormal", dist.HalfNormal(s).expand([2]))
    numpyro.sample("Exponential", dist.Exponential(s))
    numpyro.sample("Gamma", dist.Gamma(2.0, s))
    numpyro.sample("InverseGamma", dist.InverseGamma(3.0, s))
    numpyro.sample("MultivariateNormal", dist.MultivariateNormal(a, scale_tril=s * jnp.array([[1.0, 0.0], [0.4, 0.8]])))
    numpyro.sample("GaussianRandomWalk", dist.GaussianRandomWalk(s, num_steps=4))


def test_a_site_depends_where_its_location_or_scale_does():
    model = zhat.Model.from_numpyro(hierarchy, y=np.array([0.1, 0.5, -0.2]))
    assert {site.name for site in model.space.sites if site.depends} == {"theta"}
    assert zhat.zoo.example("E1").model.in_other_coordinates() is None
    assert depend_on_first(lambda a, b: [a * 2.0, b + 1.0, jnp.ones(3)], 1.0, 2.0) == [True, False, False]


def test_every_family_goes_there_and_back_and_its_density_has_its_jacobian():
    model = zhat.Model(lambda params: 0.0, every_family)
    assert {site.name for site in model.space.sites if site.depends} == {family.__name__ for family in FAMILIES}
    other = model.in_other_coordinates()
    own, standard = model.space, other.space
    assert standard.other_coordinates == own and other.in_other_coordinates().space == own

    def compared(u):
        params, log_prior = standard.constrain(u, None, None)
        position = own.unconstrain(params, None, None)
        slope = jax.jacfwd(lambda v: own.unconstrain(standard.constrain(v, None, None)[0], None, None))(u)
        expected = own.constrain(position, None, None)[1] + jnp.linalg.slogdet(slope)[1]
        return standard.unconstrain(params, None, None), log_prior, expected

    with jax.enable_x64(True):
        u = np.random.default_rng(1).normal(size=(5, model.n_dimensions))
        back, log_prior, expected = map(np.asarray, jax.jit(jax.vmap(compared))(u))
    assert np.allclose(back, u, atol=1e-9)
    assert np.allclose(log_prior, expected, atol=1e-9)


@pytest.mark.slow
def test_the_default_answers_a_centred_hierarchy_of_thirty_groups():
    rng = np.random.default_rng(1)
    y = rng.normal(1.0, 0.6, 30) + rng.normal(size=30)

    def centred(y=None):
        mu, tau = numpyro.sample("mu", dist.Normal(0.0, 5.0)), numpyro.sample("tau", dist.HalfCauchy(2.0))
        with numpyro.plate("g", 30):
            numpyro.sample("y", dist.Normal(numpyro.sample("theta", dist.Normal(mu, tau)), 1.0), obs=y)

    result = zhat.evidence(zhat.Model.from_numpyro(centred, y=y), seed=0, progress=False)
    assert result.status.is_ok and result.error < 0.05
