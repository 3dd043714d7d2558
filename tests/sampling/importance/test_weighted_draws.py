"""Weighted draws and their defensive share, prior draws, tuning."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

from zhat import Model
from zhat.numerics.weights import Weights
from zhat.sampling.backend.evaluation import log_densities, prior_positions
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.proposals import Gaussian
from zhat.sampling.importance.weighted_draws import weighted_draws
from zhat.sampling.tuning import fit_tuning, tuning_in_blocks
from zhat.seeding import Key

EXACT = stats.norm(0.0, np.sqrt(1.25)).logpdf(0.6)  # x ~ N(0, 1), seen once as 0.6 with sd 0.5


@cache
def model():
    return Model(lambda p: dist.Normal(p["x"][0], 0.5).log_prob(0.6), {"x": dist.Normal().expand([1]).to_event(1)})


def drawn(proposal, defensive, n=4000):
    loop = Loop(progress=False)
    return weighted_draws(model(), proposal, n, Key(3), loop, defensive), loop


PROPOSAL = Gaussian(np.array([0.4]), np.array([[0.3]]))
FAR = Gaussian(np.array([40.0]), np.array([[0.01]]))


def test_weights_are_prior_times_likelihood_over_proposal():
    draws, loop = drawn(PROPOSAL, 0.0)
    x = draws.position[:, 0]
    expected = stats.norm.logpdf(x) + stats.norm(x, 0.5).logpdf(0.6) - stats.norm(0.4, np.sqrt(0.3)).logpdf(x)
    np.testing.assert_allclose(draws.log_weight, expected, rtol=1e-10)
    assert loop.n_likelihood == draws.n_drawn == 4000


def test_a_defended_proposal_counts_the_prior_in_its_density():
    draws, _ = drawn(PROPOSAL, 0.1)
    x = draws.position[:, 0]
    density = 0.9 * stats.norm(0.4, np.sqrt(0.3)).pdf(x) + 0.1 * stats.norm.pdf(x)
    expected = stats.norm.logpdf(x) + stats.norm(x, 0.5).logpdf(0.6) - np.log(density)
    np.testing.assert_allclose(draws.log_weight, expected, rtol=1e-10)


@pytest.mark.parametrize("defensive", [0.0, 0.1, 0.5])
def test_the_mean_weight_is_the_evidence_with_and_without_defence(defensive):
    weights = Weights.of(drawn(PROPOSAL, defensive)[0].log_weight)
    z = (weights.log_mean - EXACT) / weights.log_mean_se
    print(f"{weights.log_mean:.4f} exact {EXACT:.4f} z {z:+.2f}")
    assert abs(z) < 4.5  # 7e-6 each


def test_no_weight_exceeds_the_likelihood_over_the_defensive_share():
    draws, _ = drawn(FAR, 0.1)
    assert (draws.log_weight <= draws.log_likelihood - np.log(0.1) + 1e-9).all()
    n_prior = int((draws.position[:, 0] < 10.0).sum())
    assert n_prior == 400
    # The far proposal contributes nothing; the prior's share alone gives the evidence.
    weights = Weights.of(draws.log_weight)
    z = (weights.log_mean - EXACT) / weights.log_mean_se
    assert abs(z) < 4.5


def test_without_defence_a_far_proposal_is_confidently_wrong():
    # The reason for the share: the weights look well behaved and are nowhere near.
    weights = Weights.of(drawn(FAR, 0.0)[0].log_weight)
    assert weights.log_mean < EXACT - 100.0


def test_prior_positions_do_not_depend_on_how_many_are_asked_for():
    many = prior_positions(model(), 3000, Key(5))
    few = prior_positions(model(), 1500, Key(5))
    np.testing.assert_array_equal(many[:1500], few)
    z = many.mean() * np.sqrt(3000)
    print("z", z)
    assert abs(z) < 4.5


@pytest.mark.parametrize("n", [1, 7, 512, 2048, 2049])
def test_any_number_of_points_goes_through_one_compiled_function(n):
    log_densities(model(), np.zeros((1, 1)), Loop(progress=False))
    before = dict(model().core.traces)
    loop = Loop(progress=False)
    x = np.linspace(-1.0, 1.0, n)[:, None]
    log_prior, log_likelihood = log_densities(model(), x, loop)
    np.testing.assert_allclose(log_prior, stats.norm.logpdf(x[:, 0]), rtol=1e-12)
    np.testing.assert_allclose(log_likelihood, stats.norm(x[:, 0], 0.5).logpdf(0.6), rtol=1e-12)
    assert loop.n_likelihood == n
    assert model().core.traces == before


def test_blocks_shrink_when_the_data_are_large():
    y = np.linspace(-1.0, 1.0, 10_000)
    large = Model(lambda p, y: -0.5 * jnp.sum((y - p["x"]) ** 2), {"x": dist.Normal()}, data=y)
    x = np.linspace(-1.0, 1.0, 1300)
    _, log_likelihood = log_densities(large, x[:, None], Loop(progress=False))
    expected = -0.5 * ((y**2).sum() - 2 * x * y.sum() + 10_000 * x**2)
    np.testing.assert_allclose(log_likelihood, expected, rtol=1e-9)


# -- tuning ---------------------------------------------------------------------------------------------------------


def test_tuning_is_the_weighted_mean_and_covariance():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(500, 3)) @ np.diag([1.0, 5.0, 0.1]), rng.random(500)
    tuning = fit_tuning(x, w, 1.7)
    share = w / w.sum()
    mean = share @ x
    covariance = (x - mean).T @ ((x - mean) * share[:, None])
    keep = 1.0 - 3.0 / (3.0 + 1.0 / (share @ share))
    expected = covariance * keep
    np.fill_diagonal(expected, np.diag(covariance))
    assert tuning.mean.shape == (1, 3) and tuning.factor.shape == (1, 3, 3)
    np.testing.assert_allclose(tuning.mean[0], mean, rtol=1e-12)
    np.testing.assert_allclose(tuning.factor[0] @ tuning.factor[0].T, expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(tuning.inverse[0] @ tuning.factor[0], np.eye(3), atol=1e-10)
    assert tuning.scale == 1.7


@pytest.mark.parametrize("case", ["fewer draws than dimensions", "a constant coordinate", "copies of one point", "collinear"])
def test_tuning_is_definite_whatever_the_draws(case):
    rng = np.random.default_rng(1)
    x = {
        "fewer draws than dimensions": rng.normal(size=(5, 20)),
        "a constant coordinate": np.column_stack([rng.normal(size=100), np.full(100, 3.0)]),
        "copies of one point": np.tile(rng.normal(size=(1, 3)), (50, 1)),
        "collinear": np.outer(rng.normal(size=100), [1.0, -2.0, 1e6]),
    }[case]
    tuning = fit_tuning(x, np.ones(len(x)), 1.0)
    assert np.isfinite(tuning.factor).all() and np.isfinite(tuning.inverse).all()
    assert (np.diag(tuning.factor[0]) > 0).all()


def test_blocks_of_points_keep_tunings_of_their_own():
    rng = np.random.default_rng(2)
    means = rng.normal(size=(2, 3))
    factors = [np.tril(rng.normal(size=(3, 3)), -1) + np.diag(rng.uniform(0.5, 2.0, 3)) for _ in range(2)]
    tuning = tuning_in_blocks(means, np.stack([f @ f.T for f in factors]), 1.0)
    z = rng.normal(size=(10, 3))
    placed = np.concatenate([means[i] + z[5 * i : 5 * i + 5] @ factors[i].T for i in range(2)])
    pulled = np.concatenate([z[5 * i : 5 * i + 5] @ factors[i] for i in range(2)])
    np.testing.assert_allclose(tuning.place(z), placed, atol=1e-12)
    np.testing.assert_allclose(tuning.whiten(placed), z, atol=1e-12)
    np.testing.assert_allclose(tuning.shape(z), placed - np.repeat(means, 5, axis=0), atol=1e-12)
    np.testing.assert_allclose(tuning.pull(z), pulled, atol=1e-12)
