"""Real likelihoods that are NaN, or parameters that are infinite, where proposals go: the default answers."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.loop import Loop

# Pelts of the Hudson's Bay Company, in thousands, 1900 to 1920.
HARE = [
    30.0,
    47.2,
    70.2,
    77.4,
    36.3,
    20.6,
    18.1,
    21.4,
    22.0,
    25.4,
    27.1,
    40.3,
    57.0,
    76.6,
    52.3,
    19.5,
    11.2,
    7.6,
    14.6,
    16.2,
    24.7,
]
LYNX = [4.0, 6.1, 9.8, 35.2, 59.4, 41.7, 19.0, 13.0, 8.3, 9.1, 7.4, 8.0, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6]
STEPS_A_YEAR = 10


def lotka_volterra():
    """The model hudson_lynx_hare of posteriordb, integrated by Runge-Kutta steps of fixed size, which overflow at large rates."""

    def log_likelihood(params, y):
        growth, eaten, death, gain = params["theta"]

        def rate(z):
            return jnp.stack([(growth - eaten * z[1]) * z[0], (gain * z[0] - death) * z[1]])

        def step(z, _):
            h = 1.0 / STEPS_A_YEAR
            first = rate(z)
            second = rate(z + 0.5 * h * first)
            third = rate(z + 0.5 * h * second)
            return z + h / 6.0 * (first + 2.0 * second + 2.0 * third + rate(z + h * third)), z

        _, path = jax.lax.scan(step, params["z0"], None, length=(len(HARE) - 1) * STEPS_A_YEAR + 1)
        return dist.LogNormal(jnp.log(path[::STEPS_A_YEAR]), params["sigma"]).log_prob(y).sum()

    def prior():
        means, sds = jnp.array([1.0, 0.05, 1.0, 0.05]), jnp.array([0.5, 0.05, 0.5, 0.05])
        return {
            "theta": dist.TruncatedNormal(means, sds, low=0.0).to_event(1),
            "z0": dist.LogNormal(jnp.log(10.0), 1.0).expand([2]).to_event(1),
            "sigma": dist.LogNormal(-1.0, 1.0).expand([2]).to_event(1),
        }

    return zhat.Model(log_likelihood, prior, data=np.stack([HARE, LYNX], axis=1), name="lynx and hare")


def gaussian_process():
    """A Gaussian process of length scale under LogNormal(0, 2): its covariance has no Cholesky factor at many prior draws."""
    x = np.linspace(-3.0, 3.0, 8)
    y = np.sin(x) + 0.2 * np.array([0.3, -1.1, 0.8, 0.1, -0.4, 1.3, -0.9, 0.2])

    def log_likelihood(params, data):
        x, y = data
        gap = (x[:, None] - x[None, :]) / params["length"]
        covariance = params["scale"] ** 2 * jnp.exp(-0.5 * gap**2) + params["noise"] ** 2 * jnp.eye(len(x))
        factor = jnp.linalg.cholesky(covariance)
        z = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return -0.5 * z @ z - jnp.log(jnp.diagonal(factor)).sum() - 0.5 * len(x) * jnp.log(2.0 * jnp.pi)

    prior = {"scale": dist.LogNormal(0.0, 2.0), "length": dist.LogNormal(0.0, 2.0), "noise": dist.LogNormal(-2.0, 3.0)}
    return zhat.Model(log_likelihood, prior, data=(x, y), name="gp")


def test_a_parameter_that_is_infinite_is_outside_the_support():
    model = zhat.Model(lambda p: -p["s"] + 0.0 * p["s"] ** 2, {"s": dist.LogNormal(0.0, 300.0)})
    black_box = zhat.Model.black_box(lambda p: -float(p["s"]), {"s": dist.LogNormal(0.0, 300.0)})
    for one in (model, black_box):
        log_prior, log_likelihood = log_densities(
            one, np.array([[800.0], [0.0], [np.inf], [np.nan], [-np.inf]]), Loop(progress=False)
        )
        assert log_prior.tolist()[0] == log_prior.tolist()[2] == log_prior.tolist()[3] == -np.inf
        assert log_likelihood[0] == log_likelihood[2] == log_likelihood[3] == -np.inf
        assert np.isfinite([log_prior[1], log_likelihood[1]]).all()


def test_plus_infinity_is_found_among_nan():
    model = zhat.Model(lambda p: jnp.where(p["x"] > 1.0, jnp.nan, jnp.where(p["x"] > 0.5, jnp.inf, 0.0)), {"x": dist.Normal()})
    for method in (zhat.PriorMean(n_draws=1000), zhat.SMC(n_particles=40)):
        with pytest.raises(zhat.errors.NonFiniteLikelihood, match=r"is \+inf at x=0\.[5-9]|is \+inf at x=1\.? "):
            zhat.evidence(model, method, seed=1)


@pytest.mark.slow
def test_lotka_volterra_on_the_lynx_and_hare_answers():
    first, second = (zhat.evidence(lotka_volterra(), method, seed=1) for method in (None, zhat.SMC(n_particles=2000)))
    print(first.explain(), second.explain(), sep="\n")
    assert first.status.is_ok and second.status.is_ok
    z = (first.log_evidence - second.log_evidence) / np.hypot(first.log_evidence_se, second.log_evidence_se)
    assert abs(z) < 4.5


@pytest.mark.slow
def test_a_gaussian_process_whose_factor_fails_answers():
    first, second = (zhat.evidence(gaussian_process(), method, seed=1) for method in (None, "nested"))
    print(first.explain(), second.explain(), sep="\n")
    assert first.status.is_ok and second.status.is_ok
    assert "nan-far" in str(first.status)
    z = (first.log_evidence - second.log_evidence) / np.hypot(first.log_evidence_se, second.log_evidence_se)
    assert abs(z) < 4.5
