"""Proposals: densities that integrate to one, draws that follow them, and covariances that are none.

False-alarm budget: 16 two-sided z-tests at 5 standard errors (estimated from 40,000 draws), 6e-7 each.
"""

import numpy as np
import pytest
from scipy import integrate, stats

from zhat.errors import BadInput, ShapeError
from zhat.sampling.importance.modes import Mode
from zhat.sampling.importance.proposals import Gaussian, Mixture, StudentT, at_modes

MEAN = np.array([1.0, -2.0])
SHAPE = np.array([[2.0, 0.7], [0.7, 0.5]])
N = 40_000
POINTS = MEAN + np.random.default_rng(0).normal(0.0, 2.0, (50, 2))


def both(a, b):
    return Mixture((a, b), (0.3, 0.7))


PROPOSALS = {
    "gaussian": (Gaussian(MEAN, SHAPE), stats.multivariate_normal(MEAN, SHAPE)),
    "student": (StudentT(MEAN, SHAPE, 7.0), stats.multivariate_t(MEAN, SHAPE, 7.0)),
}
MIXTURE = both(Gaussian(MEAN, SHAPE), StudentT(-MEAN, 0.5 * np.eye(2), 9.0))


@pytest.mark.parametrize("name", PROPOSALS)
def test_densities_are_those_of_scipy(name):
    ours, reference = PROPOSALS[name]
    np.testing.assert_allclose(ours.log_density(POINTS), reference.logpdf(POINTS), rtol=1e-12, atol=1e-12)


def test_a_mixture_is_the_weighted_sum_of_its_parts():
    first = stats.multivariate_normal(MEAN, SHAPE).pdf(POINTS)
    second = stats.multivariate_t(-MEAN, 0.5 * np.eye(2), 9.0).pdf(POINTS)
    np.testing.assert_allclose(MIXTURE.log_density(POINTS), np.log(0.3 * first + 0.7 * second), rtol=1e-10)


@pytest.mark.parametrize(
    "proposal",
    [
        Gaussian(np.array([0.5]), np.array([[2.0]])),
        StudentT(np.array([0.5]), np.array([[2.0]]), 5.0),
        both(Gaussian(np.array([-3.0]), np.array([[0.1]])), StudentT(np.array([2.0]), np.array([[1.0]]), 3.0)),
    ],
    ids=["gaussian", "student", "mixture"],
)
def test_densities_integrate_to_one(proposal):
    def density(x):
        return float(np.exp(proposal.log_density(np.array([[x]]))[0]))

    total = sum(integrate.quad(density, a, b, epsabs=1e-11)[0] for a, b in ((-np.inf, -3), (-3, 2), (2, np.inf)))
    assert total == pytest.approx(1.0, abs=1e-8)


def check_z(label, values, exact):
    z = (values.mean() - exact) / (values.std() / np.sqrt(len(values)))
    print(f"{label}: {values.mean():.4f} exact {exact:.4f} z {z:+.2f}")
    assert abs(z) < 5.0, label


@pytest.mark.parametrize("name", [*PROPOSALS, "mixture"])
def test_draws_have_the_moments_of_the_density(name):
    proposal = MIXTURE if name == "mixture" else PROPOSALS[name][0]
    x = proposal.draw(np.random.default_rng(7), N)
    assert x.shape == (N, 2)
    if name == "mixture":
        # Stratified draws: the z below only errs toward caution.
        mean = 0.3 * MEAN - 0.7 * MEAN
        second = 0.3 * (SHAPE + np.outer(MEAN, MEAN)) + 0.7 * (9.0 / 7.0 * 0.5 * np.eye(2) + np.outer(MEAN, MEAN))
        covariance = second - np.outer(mean, mean)
    else:
        mean, covariance = MEAN, SHAPE * (7.0 / 5.0 if name == "student" else 1.0)
    for i in range(2):
        check_z(f"mean {i}", x[:, i], mean[i])
        for j in range(i + 1):
            check_z(f"covariance {i}{j}", (x[:, i] - mean[i]) * (x[:, j] - mean[j]), covariance[i, j])


def test_mixture_draws_come_in_their_shares():
    far = both(Gaussian(np.array([-100.0]), np.eye(1)), Gaussian(np.array([100.0]), np.eye(1)))
    for n in (1, 2, 10, 999):
        x = far.draw(np.random.default_rng(n), n)
        assert x.shape == (n, 1)
        assert abs((x < 0).sum() - 0.3 * n) < 1.0


def test_draws_are_what_the_generator_says():
    a, b = (MIXTURE.draw(np.random.default_rng(3), 100) for _ in range(2))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", [Gaussian, StudentT])
class TestRefused:
    def test_asymmetric(self, kind):
        with pytest.raises(BadInput, match="the proposal's covariance is not symmetric"):
            kind(MEAN, np.array([[1.0, 0.5], [0.4, 1.0]]))

    def test_singular(self, kind):
        with pytest.raises(BadInput, match=r"covariance is singular \(condition number .*\): drop a redundant parameter"):
            kind(MEAN, np.array([[1.0, 1.0], [1.0, 1.0]]))

    def test_indefinite(self, kind):
        with pytest.raises(BadInput, match="covariance is singular"):
            kind(MEAN, np.array([[1.0, 2.0], [2.0, 1.0]]))

    def test_no_variance(self, kind):
        with pytest.raises(BadInput, match="has a variance that is not above zero"):
            kind(MEAN, np.diag([1.0, 0.0]))

    def test_not_numbers(self, kind):
        with pytest.raises(BadInput):
            kind(MEAN, np.array([[1.0, np.nan], [np.nan, 1.0]]))

    def test_wrong_size(self, kind):
        with pytest.raises(ShapeError, match=r"a mean of length 2 needs a square covariance of that size, not \(3, 3\)"):
            kind(MEAN, np.eye(3))


def test_widely_different_scales_are_not_singular():
    scales = np.array([1e-12, 1e12])
    proposal = Gaussian(np.zeros(2), np.array([[1.0, 0.5], [0.5, 1.0]]) * np.outer(scales, scales))
    x = np.array([[1e-12, -1e12]])
    reference = stats.multivariate_normal(np.zeros(2), [[1.0, 0.5], [0.5, 1.0]]).logpdf([1.0, -1.0])
    assert proposal.log_density(x)[0] == pytest.approx(reference - np.log(scales).sum(), abs=1e-9)


def test_shares_must_be_shares():
    part = Gaussian(MEAN, SHAPE)
    with pytest.raises(BadInput, match="must be positive and sum to one"):
        Mixture((part, part), (0.5, 0.6))
    with pytest.raises(BadInput, match="must be positive and sum to one"):
        Mixture((part, part), (0.0, 1.0))
    with pytest.raises(BadInput, match="2 components and 1 shares"):
        Mixture((part, part), (1.0,))
    with pytest.raises(BadInput, match=r"StudentT\(degrees_of_freedom=0\)"):
        StudentT(MEAN, SHAPE, 0)


def test_modes_get_shares_of_their_masses_and_no_mode_is_forgotten():
    def mode(x, log_density):
        return Mode(np.array([x]), log_density, np.eye(1), 0.0, True)

    assert isinstance(at_modes((mode(0.0, 0.0),)), StudentT)
    mixture = at_modes((mode(0.0, np.log(3.0)), mode(9.0, 0.0)))
    assert mixture.shares == pytest.approx((0.75, 0.25))
    lopsided = at_modes((mode(0.0, 0.0), mode(9.0, -10.0)))
    assert lopsided.shares == pytest.approx((1.0 / 1.05, 0.05 / 1.05), rel=1e-4)
    assert isinstance(at_modes((mode(0.0, 0.0), mode(9.0, -50.0))), StudentT)  # a rough likelihood has hundreds of these
