"""Models of a log prior and a log likelihood: the evidence, the test of the prior's integral, and what is refused."""

import re

import numpy as np
import pytest
import scipy.stats as st
from scipy.special import gammaln

import zhat
from zhat import Model
from zhat.adapters.cube.log_prior import Reference
from zhat.errors import BadInput, BadType, ShapeError

pytestmark = pytest.mark.xdist_group("prior transform")

# One observation y of N(m, 1) with m ~ N(0, 2); s ~ Exponential(1) is not in the likelihood: Z = N(y | 0, 5).
Y = 1.3
TRUTH = float(st.norm(0.0, np.sqrt(5.0)).logpdf(Y))
OPEN = [(None, None), (0.0, None)]


def log_likelihood(theta):
    return -0.5 * (Y - theta[0]) ** 2 - 0.5 * np.log(2 * np.pi)


def log_prior(theta):
    m, s = theta
    return -0.5 * (m / 2.0) ** 2 - np.log(2.0 * np.sqrt(2 * np.pi)) - s if s > 0 else -np.inf


def sampler(rng, n):
    return np.stack([2.0 * rng.normal(size=n), rng.exponential(size=n)], axis=1)


def test_the_evidence_and_the_draws():
    model = Model.from_log_prior(log_likelihood, log_prior, OPEN, sampler, ["m", "s"])
    found = zhat.evidence(model, zhat.Importance(n_draws=4000), seed=2)
    assert found.status.is_ok
    assert abs(found.log_evidence - TRUTH) < 4.5 * found.log_evidence_se
    draws = found.record
    weight = np.exp(draws.log_weight - draws.log_weight.max())
    ess = weight.sum() ** 2 / (weight**2).sum()
    assert abs(np.average(draws.parameters["m"], weights=weight) - 0.8 * Y) < 4.5 * np.sqrt(0.8 / ess)
    assert abs(np.average(draws.parameters["s"], weights=weight) - 1.0) < 4.5 / np.sqrt(ess)


def test_a_box_needs_no_sampler():
    model = Model.from_log_prior(lambda t: log_likelihood([t[0], 0.0]), lambda t: -np.log(20.0), [(-10.0, 10.0)], names=["m"])
    found = zhat.evidence(model, zhat.Importance(n_draws=2000), seed=1)
    truth = np.log((st.norm.cdf(10.0 - Y) - st.norm.cdf(-10.0 - Y)) / 20.0)
    assert abs(found.log_evidence - truth) < 4.5 * found.log_evidence_se


def test_a_batch_at_a_time():
    def batch_prior(t):
        with np.errstate(invalid="ignore"):
            return np.where(t[:, 1] > 0, -0.125 * t[:, 0] ** 2 - np.log(2.0 * np.sqrt(2 * np.pi)) - t[:, 1], -np.inf)

    model = Model.from_log_prior(lambda t: log_likelihood(t.T), batch_prior, OPEN, sampler, batched=True)
    found = zhat.evidence(model, "nested", seed=1)
    assert abs(found.log_evidence - TRUTH) < 4.5 * found.log_evidence_se


@pytest.mark.parametrize("bounds", [(None, None), (0.0, None), (None, 3.0), (-1.0, 3.0)])
def test_the_reference_is_a_density_with_an_inverse(bounds):
    low, high = (-np.inf if bounds[0] is None else bounds[0]), (np.inf if bounds[1] is None else bounds[1])
    reference = Reference(np.array([low]), np.array([high]), np.array([0.3]), np.array([0.7]))
    u = np.linspace(0.01, 0.99, 99)[:, None]
    theta = reference.of_cube(u)
    np.testing.assert_allclose(reference.to_cube(theta), u, atol=1e-12)
    h = 1e-6  # the density is the inverse of the derivative of the quantile function
    slope = (reference.of_cube(u + h) - reference.of_cube(u - h))[:, 0] / (2 * h)
    np.testing.assert_allclose(reference.log_density(theta), -np.log(np.abs(slope)), atol=1e-5)


INTEGRAL = r"integrates to (\S+) \(± (\S+)\), not 1: a constant or a truncation is missing"


@pytest.mark.parametrize("factor", [0.5, 2.0, np.sqrt(2 * np.pi)], ids=["half", "twice", "no constant"])
def test_a_prior_that_does_not_integrate_to_one_is_refused(factor):
    with pytest.raises(BadInput, match=INTEGRAL) as caught:
        Model.from_log_prior(log_likelihood, lambda t: log_prior(t) + np.log(factor), OPEN, sampler)
    integral, se = (float(number) for number in re.search(INTEGRAL, str(caught.value)).groups())
    assert abs(integral - factor) < 4.5 * se < 0.1 * factor


def test_a_truncated_prior_without_its_constant_is_refused():
    def half_normal(rng, n):
        return np.abs(rng.normal(size=(n, 1)))

    with pytest.raises(BadInput, match=INTEGRAL) as caught:
        Model.from_log_prior(lambda t: 0.0, lambda t: -0.5 * (t[0] ** 2 + np.log(2 * np.pi)), [(0.0, None)], half_normal)
    integral, se = (float(number) for number in re.search(INTEGRAL, str(caught.value)).groups())
    assert abs(integral - 0.5) < 4.5 * se < 0.05


def test_heavy_tails_are_tested_too():
    def cauchy(t):
        return -np.log(np.pi * (1 + t[0] ** 2))

    Model.from_log_prior(lambda t: 0.0, cauchy, [(None, None)], lambda rng, n: rng.standard_cauchy(size=(n, 1)))

    def student(t):  # three degrees of freedom
        return gammaln(2.0) - gammaln(1.5) - 0.5 * np.log(3 * np.pi) - 2.0 * np.log1p(t[0] ** 2 / 3)

    Model.from_log_prior(lambda t: 0.0, student, [(None, None)], lambda rng, n: rng.standard_t(3, size=(n, 1)))


def test_an_integral_that_cannot_be_seen_is_said():
    d = 40
    with pytest.warns(UserWarning, match=r"the integral of log_prior could not be tested"):
        Model.from_log_prior(
            lambda t: 0.0,
            lambda t: -0.5 * (t @ t) - 0.5 * d * np.log(2 * np.pi),
            [(None, None)] * d,
            lambda rng, n: rng.normal(size=(n, d)),
        )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((3, log_prior, OPEN, sampler), "log_likelihood is a int, not a function"),
        ((log_likelihood, None, OPEN, sampler), "log_prior is a NoneType, not a function"),
        ((log_likelihood, log_prior, OPEN), r"bounds\[0\] = \(-inf, inf\) is not finite: give prior_sampler"),
        ((log_likelihood, log_prior, [], sampler), "bounds is empty"),
        ((log_likelihood, log_prior, 3, sampler), r"bounds=3: give one pair for each parameter"),
        ((log_likelihood, log_prior, [(1.0, 0.0)], sampler), r"bounds\[0\] = \(1\.0, 0\.0\): the first number must be below"),
        ((log_likelihood, log_prior, [(np.nan, 0.0)], sampler), r"bounds\[0\] = \(nan, 0\.0\)"),
        ((log_likelihood, log_prior, OPEN, sampler(np.random.default_rng(0), 5)), r"prior_sampler is a ndarray: give a function"),
        ((log_likelihood, log_prior, OPEN, lambda rng: 0), r"prior_sampler is called as prior_sampler\(rng, 2000\)"),
        ((log_likelihood, log_prior, OPEN, lambda rng, n: rng.normal(size=n)), r"returned shape \(2000,\)"),
        ((log_likelihood, log_prior, OPEN, lambda rng, n: rng.normal(size=(n, 2))), "lies outside of the bounds"),
        ((log_likelihood, lambda t: -np.inf, OPEN, sampler), "the two are not of one distribution"),
        ((log_likelihood, lambda t: np.inf, OPEN, sampler), r"log_prior is \+inf at"),
        ((log_likelihood, lambda t: None, OPEN, sampler), "returned None"),
    ],
)
def test_bad_arguments(arguments, sentence):
    with pytest.raises((BadInput, BadType, ShapeError), match=sentence):
        Model.from_log_prior(*arguments)
