"""Draws from regions around the survivors: cover, masses, and evidences against exact answers over independent runs."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.methods.nested import NestedSampling
from zhat.sampling.backend.loop import Loop
from zhat.sampling.nested.cube import cube_of
from zhat.sampling.nested.ellipsoids import enclosing
from zhat.sampling.nested.region import Drawn, Region, RegionReplacement, _smallest, drawn_again
from zhat.sampling.nested.replacement import MarkovReplacement, Vacancies
from zhat.sampling.state import State
from zhat.seeding import Key


def gaussian_box(d, width=0.5, black_box=True):
    """A normalised Gaussian in [-5, 5]^d, as a black box: log Z = -d log 10."""

    def log_likelihood(params):
        x = params["x"]
        return -0.5 * (x**2).sum(axis=-1) / width**2 - d * math.log(width * math.sqrt(2 * math.pi))

    prior = {"x": dist.Uniform(-5.0, 5.0).expand([d]).to_event(1)}
    if black_box:
        return zhat.Model.black_box(log_likelihood, prior, batched=True, name=f"gaussian-{d}")
    return zhat.Model(lambda params: jnp.asarray(log_likelihood(params)), prior, name=f"gaussian-{d}")


def vacancies_in_disc(m=200, radius=1.0):
    """Survivors that are uniform in a disc of the box, above log L = -radius^2 / (2 width^2) of `gaussian_box(2)`."""
    rng = np.random.default_rng(0)
    angle, distance = 2 * np.pi * rng.random(m), radius * np.sqrt(rng.random(m))
    x = np.stack([distance * np.cos(angle), distance * np.sin(angle)], axis=1)
    cube = 0.1 * (x + 5.0)
    u = np.log(cube) - np.log1p(-cube)
    survivors = State(position=u, log_prior=np.zeros(m), log_likelihood=-2.0 * distance**2)
    mass = math.log(math.pi * radius**2 / 100.0)
    threshold = -2.0 * radius**2 - 2 * math.log(0.5 * math.sqrt(2 * math.pi))
    return Vacancies(survivors, threshold, m, m, mass, u[:0], np.arange(m))


def test_the_mass_of_a_region_is_its_area_and_draws_are_uniform_in_it():
    model = gaussian_box(2)
    vacancies = vacancies_in_disc()
    source = _smallest(cube_of(model), vacancies, 25, np.random.default_rng(1))
    truth = np.pi / 100
    assert 1.0 < math.exp(source.region.log_mass) / truth < 1.6
    at, log_q = source.take(4000)
    assert (log_q == 0.0).all()
    inside = source.region.log_density(at, log_q, np.full(len(at), -1))
    np.testing.assert_allclose(inside, -source.region.log_mass)
    # The share of draws in the disc is the ratio of the areas.
    share = (np.linalg.norm(10 * at - 5, axis=1) < 1.0).mean()
    expected = truth / math.exp(source.region.log_mass)
    assert abs(share - expected) < 4.5 * math.sqrt(expected * (1 - expected) / 4000) + 4.5 * source.region.mass_se


def test_new_points_are_above_the_threshold_and_no_evaluation_is_left_over():
    model, vacancies = gaussian_box(2), vacancies_in_disc()
    loop = Loop(progress=False)
    new = RegionReplacement().replace(model, vacancies, 1.0, Key(1), loop)
    assert (new.points.log_likelihood > vacancies.threshold).all()
    assert len(new.points.log_likelihood) == vacancies.n_new
    assert (new.parent == -1).all()
    assert loop.n_likelihood == len(new.drawn.log_q)
    np.testing.assert_array_equal(new.drawn.points.take(new.drawn.above(vacancies.threshold)).position, new.points.position)


def test_the_whole_prior_is_a_region_of_mass_one():
    density = Region(None, 0.0, 0.0, np.inf).log_density(np.full((3, 2), 0.5), np.array([0.0, 3.0, -2.0]), np.arange(3))
    np.testing.assert_array_equal(density, 0.0)


def test_a_point_that_shaped_the_region_counts_only_if_it_is_inside_without_itself():
    rng = np.random.default_rng(3)
    model, vacancies = gaussian_box(2), vacancies_in_disc(m=40)
    source = _smallest(cube_of(model), vacancies, 25, rng)
    at, log_q = cube_of(model).of(vacancies.survivors.position)
    as_new = np.isfinite(source.region.log_density(at, log_q, np.full(40, -1)))
    as_given = np.isfinite(source.region.log_density(at, log_q, np.arange(40)))
    assert as_new.all()
    assert 0 < (~as_given).sum() <= 4


@pytest.mark.parametrize("id", ["E1", "S5", *(pytest.param(id, marks=pytest.mark.slow) for id in ("E2", "E8", "E16a", "S4-d2"))])
def test_regions_find_the_evidence_of_any_prior(id):
    example = zoo.example(id)
    method = NestedSampling(n_live=300, replacement=RegionReplacement(), mode_check=False)
    result = zhat.evidence(example.model, method, seed=4, progress=False)
    assert result.status.is_ok
    assert result.record.measured is not None
    assert abs(result.log_evidence - example.log_evidence) < 4.5 * result.log_evidence_se
    by_shrinkage, se = result.diagnostics["log_evidence_by_shrinkage"], result.diagnostics["shrinkage_se"]
    assert abs(by_shrinkage - example.log_evidence) < 4.5 * se
    assert result.log_evidence_se < 0.5 * se


def test_a_simplex_has_no_quantiles_and_is_drawn_by_its_density():
    example = zoo.example("E6")
    assert not cube_of(example.model).is_uniform
    method = NestedSampling(n_live=300, replacement=RegionReplacement(), mode_check=False)
    result = zhat.evidence(example.model, method, seed=4, progress=False)
    assert result.record.measured is not None
    assert abs(result.log_evidence - example.log_evidence) < 4.5 * result.log_evidence_se


def test_a_compiled_model_answers_from_draws_made_again():
    model, method = gaussian_box(3, black_box=False), NestedSampling(n_live=500)
    result = zhat.evidence(model, method, seed=1, progress=False)
    run = result.record
    assert result.status.is_ok and abs(result.log_evidence + 3 * math.log(10.0)) < 4.5 * result.log_evidence_se
    assert len(run.measured.stratum) > 2 * run.n_live
    region = Drawn(
        Region(enclosing(np.random.default_rng(1).random((50, 3)), np.empty((0, 3)), 0.0, np.random.default_rng(2)), 0.0, 0.0),
        np.empty((40, 3)),
        np.empty(40),
        None,
    )
    again = drawn_again(model, region, Key(3), Loop(progress=False))
    assert len(again.log_q) == 40 and (again.region.ellipsoids.number_around(again.coordinates) > 0).all()
    np.testing.assert_allclose(cube_of(model).positions(again.coordinates)[0], again.points.position)


def test_answers_over_runs_are_unbiased_and_their_errors_true():
    model, truth = gaussian_box(3), -3 * math.log(10.0)
    z, by_shrinkage, ranks = [], [], []
    for seed in range(20):
        result = zhat.evidence(model, NestedSampling(n_live=120, mode_check=False), seed=seed, progress=False)
        z.append((result.log_evidence - truth) / result.log_evidence_se)
        by_shrinkage.append((result.diagnostics["log_evidence_by_shrinkage"] - truth) / result.diagnostics["shrinkage_se"])
        ranks.append(result.diagnostics["insertion_rank_z"])
    for scores in (z, by_shrinkage, ranks):
        assert abs(np.mean(scores)) < 4.5 / math.sqrt(20)
        assert np.mean(np.square(scores)) < 2.7  # a mean of 20 squares of standard normals exceeds it once in 10^4


def test_a_black_box_is_drawn_from_regions_by_default_with_few_calls():
    result = zhat.evidence(gaussian_box(6), NestedSampling(), seed=1, progress=False)
    assert result.status.is_ok
    assert result.cost.n_likelihood < 15_000
    assert result.log_evidence_se < 0.05
    assert abs(result.log_evidence + 6 * math.log(10.0)) < 4.5 * result.log_evidence_se
    # Posterior draws: all evaluated points with their weights.
    draws = result.record.final
    weight = np.exp(draws.log_weight - draws.log_weight.max())
    spread = np.sqrt((weight @ draws.parameters["x"] ** 2) / weight.sum())
    np.testing.assert_allclose(spread, 0.5, rtol=0.1)
    np.testing.assert_allclose(np.log(np.exp(draws.log_weight).sum() / draws.n_drawn), result.log_evidence, atol=1e-9)


def test_what_is_chosen_for_a_model():
    few, many = NestedSampling().settings_for(gaussian_box(2)), NestedSampling().settings_for(gaussian_box(20))
    assert isinstance(few.replacement, RegionReplacement) and few.n_live == 500
    assert isinstance(many.replacement, MarkovReplacement) and many.n_live == 2000
    compiled = zoo.example("E1").model
    by_default, small = (NestedSampling(n_live=n).settings_for(compiled) for n in (None, 400))
    assert isinstance(by_default.replacement, RegionReplacement) and by_default.n_live == 2000
    assert isinstance(small.replacement, MarkovReplacement), "too few live points for regions"


def test_where_regions_do_not_pay_markov_moves_take_over(monkeypatch):
    monkeypatch.setattr("zhat.sampling.nested.region.HOPELESS", 0.0)
    method = NestedSampling(n_live=100, replacement=RegionReplacement(), mode_check=False)
    result = zhat.evidence(gaussian_box(3), method, seed=2, progress=False)
    assert result.record.measured is None
    assert (result.record.n_moves > 0).all()
    assert (result.record.ancestors >= 0).all()
    assert isinstance(result.diagnostics["genealogical_se"], float)
    assert abs(result.log_evidence + 3 * math.log(10.0)) < 4.5 * result.log_evidence_se


@pytest.mark.parametrize("first", [True, False], ids=["moves then regions", "regions then moves"])
def test_moves_and_regions_in_one_run(monkeypatch, first):
    def sometimes(cube, vacancies, calls_at_most, rng):
        early = vacancies.log_mass > -1.5
        return None if early == first else _smallest(cube, vacancies, calls_at_most, rng)

    monkeypatch.setattr("zhat.sampling.nested.region._smallest", sometimes)
    method = NestedSampling(n_live=200, replacement=RegionReplacement(), mode_check=False)
    result = zhat.evidence(gaussian_box(3), method, seed=2, progress=False)
    moved = result.record.n_moves > 0
    assert moved.any() and not moved.all()
    assert moved[0] == first
    assert (result.record.measured is not None) == first
    assert isinstance(result.diagnostics["genealogical_se"], str if first else float)
    assert abs(result.log_evidence + 3 * math.log(10.0)) < 4.5 * result.log_evidence_se


def test_a_saved_run_is_read_again(tmp_path):
    result = zhat.evidence(gaussian_box(2), NestedSampling(n_live=100, mode_check=False), seed=1, progress=False)
    path = tmp_path / "run.json"
    result.save(path)
    again = zhat.read(zhat.Evidence.load(path), "nested")
    assert again.log_evidence == result.log_evidence
    assert again.log_evidence_se == result.log_evidence_se


def test_bad_settings_are_refused():
    with pytest.raises(BadInput):
        RegionReplacement(calls_at_most=1)
    with pytest.raises(BadType):
        RegionReplacement(otherwise=3)
