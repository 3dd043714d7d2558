"""Chib & Jeliazkov's method: any proposal density, any blocks, black boxes; and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import zhat
from zhat import ChibJeliazkov, zoo
from zhat.errors import BadInput, BadType
from zhat.methods.chib_jeliazkov import _log_acceptance
from zhat.results.estimate import Level
from zhat.results.records import OrdinateRun
from zhat.sampling.chains.transitions import Independent, Walk, conditional_moments, moments

TWO_BLOCKS = (("intercept",), ("slope",))


def run(model, method=None, seed=1, **more):
    return zhat.evidence(model, method or ChibJeliazkov(), seed=seed, progress=False, **more)


def right(result, truth):
    assert result.status.is_ok, result.explain()
    print("z", (result.log_evidence - truth) / result.log_evidence_se, "error", result.log_evidence_se)
    return abs(result.log_evidence - truth) < 4.5 * result.log_evidence_se


# -- proposal densities ------------------------------------------------------------------------------------------------


def correlated_draws(n=4000):
    rng = np.random.default_rng(5)
    factor = np.array([[1.0, 0.0, 0.0], [0.8, 0.5, 0.0], [-0.3, 0.4, 2.0]])
    return rng.standard_normal((n, 3)) @ factor.T + np.array([1.0, -2.0, 0.5])


def test_conditional_moments_are_those_of_a_normal():
    covariance = np.array([[2.0, 0.6, -0.2], [0.6, 1.0, 0.3], [-0.2, 0.3, 1.5]])
    regression, rest = conditional_moments(covariance, np.array([2, 0]))
    cross, other = covariance[np.ix_([2, 0], [1])], covariance[1, 1]
    np.testing.assert_allclose(regression, [[0.0, 0.3, 0.0], [0.0, 0.6, 0.0]], atol=1e-12)
    np.testing.assert_allclose(rest, covariance[np.ix_([2, 0], [2, 0])] - cross @ cross.T / other, atol=1e-12)


def test_an_independent_block_is_a_t_that_follows_the_others():
    draws, columns = correlated_draws(), np.array([1, 2])
    step = Independent(degrees_of_freedom=7.0).fitted(draws, columns, np.random.default_rng(1))
    assert not step.is_independent
    mean, covariance = moments(draws)
    origin, target = draws[:5], draws[5:10].copy()
    target[:, 0] = origin[:, 0]
    slope = covariance[1:, 0] / covariance[0, 0]
    left = covariance[1:, 1:] - np.outer(slope, slope) * covariance[0, 0]
    for a, b, log in zip(origin, target, step.log_density(origin, target), strict=True):
        centre = mean[1:] + slope * (a[0] - mean[0])
        assert log == pytest.approx(stats.multivariate_t(centre, left, df=7.0).logpdf(b[1:]), abs=1e-9)
    # Where the block is now does not matter.
    other = origin.copy()
    other[:, 1:] += 3.0
    np.testing.assert_allclose(step.log_density(other, target), step.log_density(origin, target), atol=1e-12)


def test_a_walk_is_a_normal_about_where_it_is():
    draws = correlated_draws()
    step = Walk(scale=0.5).fitted(draws, np.arange(3), np.random.default_rng(1))
    _, covariance = moments(draws)
    origin, target = draws[:5], draws[5:10]
    expected = [stats.multivariate_normal(a, 0.25 * covariance).logpdf(b) for a, b in zip(origin, target, strict=True)]
    np.testing.assert_allclose(step.log_density(origin, target), expected, atol=1e-9)
    np.testing.assert_allclose(step.log_density(target, origin), expected, atol=1e-9)


@pytest.mark.parametrize("family", [Independent(), Walk(scale=0.7)])
@pytest.mark.parametrize("columns", [[0, 1, 2], [0, 2], [1]])
def test_draws_follow_the_density(family, columns):
    """Averages of a test density over a proposal's: E_q[f / q] = 1 for a normalised f, to four errors."""
    draws, columns = correlated_draws(), np.array(columns)
    rng = np.random.default_rng(6)
    step = family.fitted(draws, columns, rng)
    origin = np.tile(draws[:1], (40_000, 1))
    target = step.draw(rng, origin)
    others = np.setdiff1d(np.arange(3), columns)
    np.testing.assert_array_equal(target[:, others], origin[:, others])
    block = target[:, columns]
    narrow = stats.multivariate_normal(block.mean(axis=0), 0.5 * np.atleast_2d(np.cov(block.T)))
    ratio = np.exp(narrow.logpdf(block) - step.log_density(origin, target))
    assert abs(ratio.mean() - 1.0) < 4.0 * ratio.std() / math.sqrt(len(ratio))


def test_acceptance_by_hand():
    log_target = np.array([0.0, -2.0, 3.0, -np.inf])
    found = _log_acceptance(np.array([1.0, -1.0, 0.0, 0.0]), log_target, np.array([0.5, 0.0, 0.0, 0.0]), np.zeros(4))
    np.testing.assert_allclose(found, [-1.5, -1.0, 0.0, -np.inf], atol=1e-12)


# -- the method ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        ChibJeliazkov(),
        ChibJeliazkov(blocks=TWO_BLOCKS),
        ChibJeliazkov(blocks=TWO_BLOCKS[::-1], proposal=Walk()),
        ChibJeliazkov(proposal=Walk()),
        ChibJeliazkov(proposal=Independent(degrees_of_freedom=30.0), point={"intercept": 0.0, "slope": 1.0}),
    ],
    ids=["one-block", "two-blocks", "two-blocks-walk", "walk", "given-point"],
)
def test_blocks_proposals_and_points_agree(method):
    example = zoo.example("E12")
    assert right(run(example.model, method), example.log_evidence)


def test_a_given_point_stays_the_point():
    result = run(zoo.example("E12").model, ChibJeliazkov(point={"intercept": 0.25, "slope": 1.0}))
    np.testing.assert_allclose(result.record.points[0], [0.25, 1.0])


# On the exact models of the zoo, E9b in fifty dimensions and the two modes of E16a among them, the contract runs the same.
@pytest.mark.parametrize("id", ["running-example", "pine-density-friel_wyse-review"])
def test_one_block_elsewhere(id):
    example = zoo.example(id)
    assert right(run(example.model), example.log_evidence)


def test_three_blocks():
    example = zoo.example("pine-density-friel_wyse-review")
    result = run(example.model, ChibJeliazkov(blocks=(("tau",), ("intercept",), ("slope",))))
    assert isinstance(result.record, OrdinateRun)
    assert len(result.record.log_up) == len(result.record.log_down) == 3
    assert right(result, example.log_evidence)


@pytest.mark.parametrize("blocks", [None, TWO_BLOCKS])
def test_black_boxes(blocks):
    example = zoo.example("E12")

    def log_likelihood(params, data):
        x, y = data
        e = params["intercept"][:, None] + params["slope"][:, None] * x
        return (y * e - np.logaddexp(0.0, e)).sum(axis=1)

    prior = {"intercept": dist.Normal(0.0, 2.0), "slope": dist.Normal(0.0, 2.0)}
    data = tuple(np.asarray(a) for a in example.model.data)
    model = zhat.Model.black_box(log_likelihood, prior, batched=True, data=data)
    assert right(run(model, ChibJeliazkov(blocks=blocks)), example.log_evidence)


def test_the_record_survives_storage(tmp_path):
    result = run(zoo.example("E12").model, ChibJeliazkov(n_draws=100))
    kept = zhat.Evidence.load(result.save(tmp_path / "cj.json")).record
    for name in ("points", "log_likelihood", "log_prior", "log_exact"):
        np.testing.assert_array_equal(getattr(kept, name), getattr(result.record, name))
    for name in ("log_up", "log_down"):
        for mine, yours in zip(getattr(kept, name), getattr(result.record, name), strict=True):
            np.testing.assert_array_equal(mine, yours)


# -- what it refuses ----------------------------------------------------------------------------------------------------


def test_a_walk_in_fifty_dimensions_says_that_it_cannot():
    result = run(zoo.example("E9b").model, ChibJeliazkov(proposal=Walk()))
    assert not result.status.is_ok
    assert result.log_evidence_se is None


@pytest.mark.parametrize("id", ["S1-d5", "S1-d20", "S2", "S3", "S7"])
def test_modes_that_chains_do_not_cross_are_noticed(id):
    for seed in (1, 2):
        result = run(zoo.example(id).model, seed=seed)
        assert not result.status.is_ok
        assert all(reason.sentence for reason in result.status.reasons)


def test_a_spent_budget_is_said():
    result = run(zoo.example("E12").model, budget=zhat.Budget(likelihoods=5000))
    assert result.status.level is Level.FAILED and "budget" in str(result.status)


def test_settings_that_make_no_sense():
    for settings in ({"n_chains": 3}, {"n_warmup": -1}, {"n_pilot": 5}, {"n_draws": 10}):
        with pytest.raises(BadInput, match=next(iter(settings))):
            ChibJeliazkov(**settings)
    for settings in ({"proposal": "walk"}, {"blocks": ("intercept", "slope")}, {"blocks": "ab"}, {"point": 3.0}):
        with pytest.raises(BadType, match=next(iter(settings))):
            ChibJeliazkov(**settings)
    for blocks in ((("intercept",),), (("intercept", "slope"), ("slope",)), (("intercept", "gradient"),)):
        with pytest.raises(BadInput, match="exactly one block"):
            run(zoo.example("E12").model, ChibJeliazkov(blocks=blocks))
    with pytest.raises(BadInput, match="scale"):
        Walk(scale=0.0)
    with pytest.raises(BadInput, match="more than 2"):
        Independent(degrees_of_freedom=2.0)
    with pytest.raises(BadInput, match="zero there"):
        run(zoo.example("E4").model, ChibJeliazkov(point={"rate": -1.0}))
