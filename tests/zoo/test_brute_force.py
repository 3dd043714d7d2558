"""The model code against the exact evidence: deterministic integration up to three dimensions, identities beyond.

Beyond, the candidate's identity is used: log prior + log likelihood - log posterior density is the log evidence at
*every* point, and where the posterior (or all of it but one parameter) is normal, its density is SciPy's.
"""

from __future__ import annotations

import math

import jax
import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from zhat import zoo


def log_sum(model, axes):
    """log of the trapezoid sum of prior x likelihood over a grid of the unconstrained vector."""
    steps = [a[1] - a[0] for a in axes]
    grid = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)

    def value(u):
        log_prior, log_likelihood = model.core.log_densities(u, model.data, model.hyper)
        return log_prior + log_likelihood

    with jax.enable_x64(True):
        batch = jax.jit(jax.vmap(value))
        values = np.concatenate([np.asarray(batch(part)) for part in np.array_split(grid, max(1, len(grid) // 200_000))])
    assert not np.any(np.isnan(values))
    return float(logsumexp(values) + sum(math.log(s) for s in steps))


def gauss_legendre(edges, order=8):
    nodes, weights = np.polynomial.legendre.leggauss(order)
    half = 0.5 * np.diff(edges)[:, None]
    centres = 0.5 * (np.asarray(edges)[:-1] + np.asarray(edges)[1:])[:, None]
    return (centres + half * nodes).ravel(), (half * weights).ravel()


def log_box_integral(model, rule_0, rule_1):
    """log of the integral of prior x likelihood over a box of two dimensions, in the parameters themselves."""
    (x, wx), (y, wy) = rule_0, rule_1
    points = np.stack([g.ravel() for g in np.meshgrid(x, y, indexing="ij")], axis=1)

    def value(point):
        params = {"x": point}
        log_prior = model.space.log_prior(params, model.data, model.hyper)
        return log_prior + model.core.log_likelihood(params, model.data, model.hyper)

    with jax.enable_x64(True):
        values = np.asarray(jax.jit(jax.vmap(value))(points))
    return float(logsumexp(values, b=np.outer(wx, wy).ravel()))


def axis(low, high, n):
    return np.linspace(low, high, n)


GRIDS = {
    "E1": [axis(-20, 20, 2001)],
    "E2": [axis(-12, 6, 361), axis(-40, 40, 1601)],
    "E3a": [axis(-40, 40, 2001)],
    "E3b": [axis(-40, 40, 2001)],
    "E4": [axis(-30, 8, 2001)],
    "E5": [axis(-30, 8, 2001)],
    "E6": [axis(-40, 40, 801), axis(-40, 40, 801)],
    "E7": [axis(-40, 40, 2001)],
    "E8s-none": [axis(-8, 30, 2001)],
    "E8s-intercept": [axis(-8, 20, 561), axis(-60, 60, 1201)],
    "E8s-slope": [axis(-8, 20, 561), axis(-60, 60, 2401)],
    "E10": [axis(-12, 12, 2001)],
    "E10c": [axis(-12, 12, 2001)],
    "E11": [axis(-24, 24, 2001)],
    "E12": [axis(-24, 24, 481), axis(-24, 24, 481)],
    "E14b": [axis(-40, 40, 2001)],
    "E16a": [axis(-30, 30, 201), axis(-15, 15, 121), axis(-15, 15, 121)],
    "E16b": [axis(-17, 17, 341), axis(-17, 17, 341)],
    "S7": [axis(-60, 60, 12001)],
}


@pytest.mark.parametrize("id", GRIDS)
def test_the_model_integrates_to_its_evidence(id):
    example = zoo.example(id)
    assert log_sum(example.model, GRIDS[id]) == pytest.approx(example.log_evidence, rel=0, abs=2e-9)


def test_the_review_models_integrate_to_their_evidence():
    running = zoo.example("running-example")
    grid = [axis(-1.5, 1.7, 321), axis(-2, 2, 401)]
    assert log_sum(running.model, grid) == pytest.approx(running.log_evidence, rel=0, abs=1e-8)
    tractable = zoo.example("normal-gamma-0.01")
    assert log_sum(tractable.model, grid[::-1]) == pytest.approx(tractable.log_evidence, rel=0, abs=1e-8)


BOX_RULES = {
    "S2": (np.linspace(0, 10 * math.pi, 71), np.linspace(0, 10 * math.pi, 71)),
    "S3": (np.linspace(-6, 6, 101), np.linspace(-6, 6, 101)),
    "S5": (np.linspace(0, 1, 11), np.array([0.0, 1.0])),
    "S6": (np.concatenate([-np.logspace(0, -8, 33), np.logspace(-8, 0, 33)]), np.array([-1.0, 1.0])),
    "S10": (np.array([-1.0, 1.0]), np.array([-1.0, 1.0])),
}


@pytest.mark.parametrize("id", BOX_RULES)
def test_the_box_model_integrates_to_its_evidence(id):
    example = zoo.example(id)
    edges_0, edges_1 = BOX_RULES[id]
    value = log_box_integral(example.model, gauss_legendre(edges_0, 12), gauss_legendre(edges_1, 12))
    assert value == pytest.approx(example.log_evidence, rel=0, abs=2e-9)


@pytest.mark.parametrize("d", [2, 5])
def test_the_wedding_cake_has_its_plateaus(d):
    example = zoo.example(f"S4-d{d}")
    rng = np.random.default_rng(0)
    terms = []
    for i in range(150):
        # A point strictly inside ring i: its largest coordinate decides, the others are anywhere below.
        half = 0.5 * 0.7 ** ((i + 0.5) / d)
        x = 0.5 + half * rng.uniform(-1, 1, d)
        x[rng.integers(d)] = 0.5 + half * rng.choice([-1, 1])
        log_prior, log_likelihood = example.model.evaluate(x=x)
        assert log_prior == 0.0
        terms.append(math.log(0.3) + i * math.log(0.7) + log_likelihood)
    assert logsumexp(terms) == pytest.approx(example.log_evidence, rel=0, abs=2e-9)
    assert example.model.evaluate(x=np.full(d, 0.5))[1] == 0.0


def test_zero_likelihood_is_minus_infinity_and_no_nan():
    model = zoo.example("S5").model
    assert model.evaluate(x=[0.5, 0.5])[1] == -math.inf
    assert model.evaluate(x=[0.95, 0.5])[1] == pytest.approx(math.log(0.05))
    with jax.enable_x64(True):
        gradient = jax.grad(lambda x: model.core.log_likelihood({"x": x}, None, None))(np.array([0.5, 0.5]))
    assert np.all(np.isfinite(gradient))


@pytest.mark.parametrize("d", [5, 20])
def test_spike_and_slab_at_points(d):
    model = zoo.example(f"S1-d{d}").model
    rng = np.random.default_rng(1)
    for scale in (0.005, 0.03, 0.1):
        x = np.clip(scale * rng.normal(size=d), -0.5, 0.5)
        spike, slab = stats.norm.logpdf(x, 0, 0.01).sum() + math.log(100), stats.norm.logpdf(x, 0, 0.1).sum()
        log_prior, log_likelihood = model.evaluate(x=x)
        assert log_prior == 0.0
        assert log_likelihood == pytest.approx(np.logaddexp(spike, slab), rel=1e-12)


def joint(model, **params):
    return sum(model.evaluate(**params))


def normal_posterior(design, y, noise_covariance, prior_covariance):
    """Posterior of linear coefficients with a zero-mean normal prior."""
    precision = np.linalg.inv(prior_covariance) + design.T @ np.linalg.solve(noise_covariance, design)
    covariance = np.linalg.inv(precision)
    covariance = 0.5 * (covariance + covariance.T)
    return stats.multivariate_normal(covariance @ design.T @ np.linalg.solve(noise_covariance, y), covariance)


def linear_cases():
    for id, n, d in (("E9a", 40, 10), ("E9b", 60, 50)):
        x = np.cos(np.pi * np.arange(d) * (np.arange(n)[:, None] + 0.5) / n)
        yield id, "coefficients", x, np.sin(np.arange(n) + 1.0), 0.25 * np.eye(n), np.eye(d)
    t = np.arange(5) / 2
    kernel = np.exp(-0.5 * np.subtract.outer(t, t) ** 2)
    yield "E13", "f", np.eye(5), np.array([0.1, 0.5, 0.9, 0.8, 0.2]), 0.01 * np.eye(5), kernel
    y = np.array([0.3, 1.1, 0.4, -0.6, -1.4, -0.2, 0.9, 1.7])
    s = np.arange(8)
    yield "E14a", "x", np.eye(8), y, 0.25 * np.eye(8), 0.8 ** np.abs(np.subtract.outer(s, s)) / 0.36
    for d in (20, 100):
        covariance = np.full((d, d), 0.9) + 0.1 * np.eye(d)
        yield f"gaussian-{d}", "x", np.eye(d), np.sin(np.arange(d) + 1.0), covariance, 9 * np.eye(d)


@pytest.mark.parametrize("case", list(linear_cases()), ids=lambda case: case[0])
def test_candidates_identity_for_normal_posteriors(case):
    id, name, design, y, noise, prior = case
    example = zoo.example(id)
    posterior = normal_posterior(design, y, noise, prior)
    for seed in (0, 1):
        point = np.random.default_rng(seed).multivariate_normal(posterior.mean, posterior.cov)
        value = joint(example.model, **{name: point}) - posterior.logpdf(point)
        assert value == pytest.approx(example.log_evidence, rel=0, abs=1e-8)


def test_candidates_identity_for_the_straight_line():
    # Exact posterior: variance IG(a_n, b_n), coefficients given variance normal.
    example = zoo.example("E8")
    x = np.stack([np.ones(5), np.arange(-2.0, 3.0)], axis=1)
    y = np.array([-1.9, -1.1, 0.2, 0.8, 2.3])
    precision = x.T @ x + 0.1 * np.eye(2)
    mean = np.linalg.solve(precision, x.T @ y)
    b_n = 1 + 0.5 * (y @ y - mean @ precision @ mean)
    for variance, coefficients in ((0.3, [0.1, 0.9]), (1.4, [-0.5, 1.6])):
        log_posterior = stats.invgamma.logpdf(variance, 4.5, scale=b_n)
        log_posterior += stats.multivariate_normal(mean, variance * np.linalg.inv(precision)).logpdf(coefficients)
        value = joint(example.model, variance=variance, coefficients=coefficients) - log_posterior
        assert value == pytest.approx(example.log_evidence, rel=0, abs=1e-10)


def test_candidates_identity_for_the_correlated_gaussian_in_a_box():
    example = zoo.example("S9")
    target = stats.multivariate_normal(np.zeros(3), 0.95 + 0.05 * np.eye(3))
    for x in ([0.0, 0.0, 0.0], [1.0, 0.7, 1.3]):
        assert joint(example.model, x=x) - target.logpdf(x) == pytest.approx(example.log_evidence, rel=0, abs=1e-9)


def test_eight_schools_both_ways_leave_the_same_density_of_mu_and_tau():
    # With theta (or z) divided out at its exact normal conditional, what is left is p(mu) p(tau) p(y | mu, tau),
    # whose integral is the stored evidence (tested in test_zoo_exact_values).
    y = np.array([28, 8, -3, 7, -1, 1, 18, 12.0])
    s = np.array([15, 10, 16, 11, 9, 11, 10, 18.0])
    z = np.random.default_rng(2).normal(size=8)
    for mu, tau in ((3.0, 0.4), (7.0, 12.0)):
        left = stats.norm.logpdf(mu, 0, 5) + stats.halfcauchy.logpdf(tau, scale=5)
        left += stats.norm.logpdf(y, mu, np.sqrt(s**2 + tau**2)).sum()
        theta = mu + tau * z
        precision = 1 / tau**2 + 1 / s**2
        mean = (mu / tau**2 + y / s**2) / precision
        centred = joint(zoo.example("E15").model, mu=mu, tau=tau, theta=theta)
        assert centred - stats.norm.logpdf(theta, mean, precision**-0.5).sum() == pytest.approx(left, abs=1e-9)
        precision = 1 + tau**2 / s**2
        mean = tau * (y - mu) / s**2 / precision
        noncentred = joint(zoo.example("E15n").model, mu=mu, tau=tau, z=z)
        assert noncentred - stats.norm.logpdf(z, mean, precision**-0.5).sum() == pytest.approx(left, abs=1e-9)


def test_the_funnel_leaves_the_density_of_v():
    model = zoo.example("S8").model
    x = np.random.default_rng(3).normal(size=9)
    for v in (-4.0, 0.0, 3.0):
        left = stats.norm.logpdf(v, 0, 3) + 9 * stats.norm.logpdf(0, 0, math.sqrt(1 + math.exp(v)))
        sd = math.sqrt(math.exp(v) / (1 + math.exp(v)))
        assert joint(model, v=v, x=sd * x) - stats.norm.logpdf(sd * x, 0, sd).sum() == pytest.approx(left, abs=1e-9)
