"""Annealed importance sampling: its arithmetic to the last digits, its plan, its verdicts, and the sandwich."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.methods import annealed
from zhat.methods.annealed import AIS, every_other, given_rungs, kernels_for, upper_spread
from zhat.numerics.weights import Weights
from zhat.results.estimate import Kind
from zhat.results.records import Draws
from zhat.results.storage import load_evidence
from zhat.run.sandwich import gap_status, upper_from
from zhat.sampling.backend.evaluation import prior_draws
from zhat.sampling.backend.loop import Budget, Loop
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.tempering.lineages import Walk, path_log_weights, walk
from zhat.sampling.tempering.path_survey import PathSurvey, Station, measured, untuned_plan
from zhat.sampling.tempering.schedules import ON_SUPPORT, AdaptiveESS, FixedLadder, PowerLadder
from zhat.seeding import Key


def quiet() -> Loop:
    return Loop(progress=False)


# -- arithmetic on arrays written by hand ---------------------------------------------------------------------------------------


def test_a_lineage_weighs_the_sum_of_its_steps():
    betas = np.array([0.0, 0.25, 1.0])
    values = np.array([[-2.0, 4.0], [-8.0, 1.0]])
    assert path_log_weights(betas, values) == pytest.approx([0.25 * -2 + 0.75 * -8, 0.25 * 4 + 0.75], abs=1e-14)
    assert path_log_weights(betas[::-1], values[::-1]) == pytest.approx([-0.75 * -8 + 0.25 * 2, -0.75 - 0.25 * 4], abs=1e-14)


def test_a_lineage_that_was_ever_impossible_weighs_nothing():
    values = np.array([[-np.inf, 1.0], [3.0, 2.0]])
    assert path_log_weights(np.array([0.0, 0.5, 1.0]), values).tolist() == [-np.inf, 1.5]


def test_the_spread_of_the_upper_half_ignores_lost_lineages():
    good = np.linspace(-1.0, 1.0, 1001)
    lost = np.concatenate([good, np.full(100, -1e5)])
    assert upper_spread(good) == pytest.approx(2 * 0.3413447460685429, abs=1e-12)
    assert upper_spread(lost) < 0.8
    assert upper_spread(np.array([-np.inf, -np.inf, 1.0])) == math.inf


def test_the_length_of_a_path_between_two_gaussians_is_the_textbooks():
    """Log likelihood -x^2/2 under N(0, 1/(1 + beta)): the variance of log L is 1 / (2 (1 + beta)^2)."""
    rng = np.random.default_rng(0)
    betas = np.array([0.0, 0.3, 1.0])
    rungs = tuple(-0.5 * (rng.standard_normal((1, 200_000)) / np.sqrt(1 + b)) ** 2 for b in betas[:-1])
    at, distance = measured(betas, rungs)
    assert at[-1] == 1.0
    assert np.all(np.diff(distance) >= 0)
    assert distance[-1] == pytest.approx(math.log(2.0) / math.sqrt(2.0), rel=0.02)


def test_the_step_onto_the_support_is_a_rung_of_its_own_and_has_no_length():
    rng = np.random.default_rng(1)
    alive = rng.standard_normal((1, 500))
    first = np.where(np.arange(500) < 400, -np.inf, alive)
    at, distance = measured(np.array([0.0, ON_SUPPORT, 1.0]), (first, alive))
    assert distance[1] == 0.0
    station = Station(1.0, np.zeros(1), np.eye(1), CrankNicolson(), 1.0)
    record = Walk(np.array([0.0, ON_SUPPORT, 1.0]), np.zeros((2, 5)), np.zeros((5, 1)), np.zeros(5), np.ones(1), 1).record()
    rungs = PathSurvey(record, (station,), at, distance).rungs(8)
    assert len(rungs) == 10
    assert rungs[1] == ON_SUPPORT
    assert np.all(np.diff(rungs) > 0)


def test_rungs_of_a_map_are_at_equal_distances_and_tuned_between_its_stations():
    record = Walk(np.array([0.0, 1.0]), np.zeros((1, 5)), np.zeros((5, 1)), np.zeros(5), np.empty(0), 1).record()
    seen = ((0.5, 4.0, 0.9), (1.0, 1.0, 0.5))
    stations = tuple(Station(b, np.array([b]), np.array([[v]]), CrankNicolson(), scale) for b, v, scale in seen)
    path = PathSurvey(record, stations, np.array([0.0, 0.5, 1.0]), np.array([0.0, 3.0, 4.0]))
    assert path.rungs(3) == pytest.approx([0.0, 1 / 6, 1 / 3, 0.5, 1.0])
    plan = path.plan(np.array([0.0, 0.25, 0.75, 1.0]), 1)
    assert plan.tuning.mean[:, 0, 0] == pytest.approx([0.5, 0.75])
    assert plan.tuning.factor[:, 0, 0, 0] ** 2 == pytest.approx([4.0, 2.5])
    back = plan.backwards()
    assert back.betas.tolist() == [1.0, 0.75, 0.25, 0.0]
    assert back.tuning.mean[:, 0, 0] == pytest.approx([0.75, 0.5])


def test_ladders_given_beforehand_are_taken_as_they_are():
    assert given_rungs(PowerLadder(4, 2.0)) == pytest.approx([0.0, 1 / 16, 1 / 4, 9 / 16, 1.0])
    assert given_rungs(FixedLadder((0.0, 0.5, 1.0))).tolist() == [0.0, 0.5, 1.0]
    assert given_rungs(AdaptiveESS(0.5)) is None and given_rungs(None) is None
    assert every_other(np.array([0.0, 0.1, 0.2, 0.5, 1.0])).tolist() == [0.0, 0.2, 1.0]
    assert every_other(np.array([0.0, 0.1, 1.0])).tolist() == [0.0, 1.0]


# -- the walk --------------------------------------------------------------------------------------------------------------------


def test_the_walk_up_and_the_walk_down_average_to_z_and_to_one_over_z():
    """Coarse ladder, many lineages: the weights are uneven, and their means right all the same."""
    example = zoo.example("E2")
    model = example.model
    plan = untuned_plan(np.array([0.0, 0.05, 0.3, 1.0]), Gibbs(model.conditionals), 2)
    with jax.enable_x64(True):
        up = Weights.of(walk(model, plan, prior_draws(model, 20_000, Key(1), quiet()), 5000, Key(2), quiet()).log_weights)
        long = untuned_plan(np.array([0.0, 1.0, 1.0 + 1e-12, 1.0]), Gibbs(model.conditionals), 50)  # many sweeps at the posterior
        settled = walk(model, long, prior_draws(model, 20_000, Key(3), quiet()), 5000, Key(4), quiet())
        start = Draws(
            position=settled.position, log_prior=settled.log_prior, log_likelihood=settled.log_likelihood[-1], n_drawn=20_000
        )
        down = Weights.of(walk(model, plan.backwards(), start, 5000, Key(5), quiet()).log_weights)
    assert abs(up.log_mean - example.log_evidence) < 4 * up.log_mean_se
    assert abs(-down.log_mean - example.log_evidence) < 4 * down.log_mean_se + 0.01


def test_the_record_is_a_path_run_that_was_not_resampled_and_survives_storage(tmp_path):
    result = zhat.evidence(zoo.example("E1").model, AIS(n_particles=200), seed=1, progress=False)
    record = result.record
    assert not record.resampled and not record.settled and record.complete
    values = np.concatenate(record.log_likelihood)
    assert Weights.of(path_log_weights(record.betas, values)).log_mean == pytest.approx(result.log_evidence, abs=1e-12)
    again = load_evidence(result.save(tmp_path / "ais.json"))
    assert again.log_evidence == result.log_evidence
    assert again.record.betas.tolist() == record.betas.tolist()
    assert again.kind is Kind.LOWER_BOUND


def test_nothing_is_compiled_twice_for_other_seeds():
    model = zoo.example("E12").model
    zhat.evidence(model, "ais", seed=1, progress=False)
    before = dict(model.core.traces)
    zhat.evidence(model, "ais", seed=2, progress=False)
    after = dict(model.core.traces)
    assert {k: v for k, v in after.items() if k[0] == "anneal"} == {k: v for k, v in before.items() if k[0] == "anneal"}


# -- the method ------------------------------------------------------------------------------------------------------------------


def test_gibbs_sweeps_move_a_model_with_conditionals():
    assert isinstance(kernels_for(zoo.example("E2").model)[0], Gibbs)
    assert isinstance(kernels_for(zoo.example("E12").model)[0], CrankNicolson)


@pytest.mark.parametrize("id", ["running-example", "pine-density-friel_wyse-review"])
def test_the_reviews_ladder_with_gibbs_sweeps_on_the_reviews_models(id):
    example = zoo.example(id)
    method = AIS(schedule=PowerLadder(100, 5.0), n_sweeps=5)
    result = zhat.evidence(example.model, method, seed=1, progress=False)
    assert result.status.is_ok, result.explain()
    assert result.diagnostics["n_rungs"] == 100
    assert abs(result.log_evidence - example.log_evidence) < 4 * result.log_evidence_se
    assert result.cost.n_likelihood < 1.6 * 1000 * 99 * 5  # no pilot was needed


def test_it_says_that_it_is_a_lower_bound():
    result = zhat.evidence(zoo.example("E1").model, "ais", seed=1, progress=False)
    assert result.kind is Kind.LOWER_BOUND
    assert result.diagnostics["bound"] == "lower, in expectation"
    assert "lower bound" in result.explain()
    both = zhat.evidence(zoo.example("E1").model, "ais", seed=1, repeats=2, progress=False)
    assert both.kind is Kind.LOWER_BOUND and both.log_evidence_se is not None


def test_a_schedule_that_asks_the_draws_is_walked_by_the_pilot():
    example = zoo.example("E3a")
    result = zhat.evidence(example.model, AIS(schedule=AdaptiveESS(0.98)), seed=2, progress=False)
    assert abs(result.log_evidence - example.log_evidence) < 4 * result.log_evidence_se


def test_black_boxes_work():
    y = np.array([1.2, -0.4, 0.7, 2.1, 0.3])

    def log_likelihood(params):
        return -0.5 * np.sum((y[None] - params["theta"][:, None]) ** 2, axis=1) - 2.5 * np.log(2 * np.pi)

    model = zhat.Model.black_box(log_likelihood, {"theta": dist.Normal(0.0, 2.0)}, batched=True, name="black")
    result = zhat.evidence(model, AIS(n_particles=400), seed=1, progress=False)
    assert abs(result.log_evidence - zoo.example("E1").log_evidence) < 4 * result.log_evidence_se
    with pytest.raises(BadInput, match="black box"):
        from zhat.sampling.kernels.hmc import HMC

        zhat.evidence(model, AIS(kernels=(HMC(),)), seed=1, progress=False)


def test_a_rise_over_half_the_rungs_is_not_convergence():
    rng = np.random.default_rng(0)
    high, low = (Weights.of(0.1 * rng.standard_normal(1000) + shift) for shift in (0.2, 0.0))
    assert annealed._rise(high, low, 8, 16).reasons[0].code == "not-converged"
    assert annealed._rise(low, high, 8, 16).is_ok


def test_too_few_rungs_are_noticed():
    """One step from a wide prior to a sharp posterior: no number of lineages makes up for it."""
    result = zhat.evidence(zoo.example("E9a").model, AIS(schedule=FixedLadder((0.0, 0.5, 1.0))), seed=1, progress=False)
    assert not result.status.is_ok
    assert result.log_evidence_se is None


def test_a_narrow_spike_is_seen_from_the_mode():
    result = zhat.evidence(zoo.example("S1-d5").model, "ais", seed=1, progress=False)
    if result.status.is_ok:
        assert abs(result.log_evidence - zoo.example("S1-d5").log_evidence) < 4 * result.log_evidence_se


def test_a_budget_that_is_spent_hands_over_what_is_complete():
    result = zhat.evidence(zoo.example("E12").model, "ais", seed=1, progress=False, budget=Budget(likelihoods=25_000))
    assert str(result.status) == "failed (budget)"
    assert math.isnan(result.log_evidence)
    assert result.record is not None and result.record.complete


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({"n_particles": 10}, BadInput, "n_particles=10"),
        ({"n_particles": 201}, BadInput, "even"),
        ({"n_sweeps": 0}, BadInput, "n_sweeps=0"),
        ({"n_pilot": 42}, BadInput, "multiple of 4"),
        ({"log_weight_variance": 0.0}, BadInput, "log_weight_variance=0.0"),
        ({"schedule": "fast"}, BadType, "ladder"),
        ({"kernels": ()}, BadInput, "at least one kernel"),
        ({"kernels": ("gibbs",)}, BadType, "not a kernel"),
        ({"pilot_moves": 3}, BadType, "Moves"),
    ],
)
def test_bad_settings_are_refused_with_a_sentence(settings, error, words):
    with pytest.raises(error, match=words):
        AIS(**settings)


# -- the sandwich ----------------------------------------------------------------------------------------------------------------


def test_the_upper_number_by_hand():
    upper, se, weights = upper_from(np.log([0.5, 1.5]), None, 0.5, 100)
    assert upper == pytest.approx(-math.log(1.0) + math.log(0.5), abs=1e-14)
    assert se == pytest.approx(math.sqrt(0.5**2 + 0.5 / (0.5 * 100)), abs=1e-14)
    assert weights.n_drawn == 2


def test_gaps_and_crossings():
    assert gap_status(0.05, 0.01, True).is_ok
    assert gap_status(0.5, 0.01, True).reasons[0].code == "gap"
    assert gap_status(-0.5, 0.01, False).reasons[0].code == "crossed"
    assert gap_status(0.5, 1.0, True).is_ok


def test_real_data_give_a_heuristic_sandwich_around_the_truth():
    example = zoo.example("E2")
    result = zhat.sandwich(example.model, seed=1, progress=False)
    assert result.status.is_ok and not result.rigorous
    assert "heuristic" in result.explain()
    assert result.lower - 4 * result.lower_se < example.log_evidence < result.upper + 4 * result.upper_se
    assert result.gap == pytest.approx(result.upper - result.lower)
    assert zhat.sandwich(example.model, seed=1, progress=False).gap == result.gap


def test_simulated_data_give_rigorous_bounds_over_many_data_sets():
    """On average over data sets the truth lies between; each truth is the closed form for its own data."""
    model = zoo.example("E1").model
    below, above = [], []
    for seed in range(6):
        kept = []

        def simulate(params, rng, kept=kept):
            kept.append(params["theta"] + rng.standard_normal(5))
            return kept[-1]

        result = zhat.sandwich(model, AIS(n_particles=200), simulate=simulate, seed=seed, progress=False)
        assert result.rigorous and result.simulated
        y = kept[0]
        covariance = np.eye(5) + 4.0
        truth = -0.5 * (5 * math.log(2 * math.pi) + np.linalg.slogdet(covariance)[1] + y @ np.linalg.solve(covariance, y))
        below.append((result.lower - truth) / result.lower_se)
        above.append((result.upper - truth) / result.upper_se)
    assert abs(np.mean(below)) < 4 / math.sqrt(6)
    assert abs(np.mean(above)) < 4 / math.sqrt(6)


def test_exact_draws_can_be_given():
    example = zoo.example("E1")
    y = np.asarray(example.model.data)
    draws = y.sum() / 5.25 + np.random.default_rng(0).standard_normal(1000) / math.sqrt(5.25)
    result = zhat.sandwich(example.model, exact_draws={"theta": draws}, seed=1, progress=False)
    assert result.rigorous and not result.simulated
    assert abs(result.upper - example.log_evidence) < 4 * result.upper_se


def test_a_sandwich_of_the_wrong_things_is_refused():
    model = zoo.example("E1").model
    flat = zhat.Model(lambda p: jnp.sum(0.0 * p["x"]), {"x": dist.Normal(0.0, 1.0)}, name="flat")
    for call, error, words in (
        (lambda: zhat.sandwich("E1"), BadType, "takes a Model"),
        (lambda: zhat.sandwich(model, "smc"), BadType, "AIS"),
        (lambda: zhat.sandwich(model, simulate=3), BadType, "function"),
        (lambda: zhat.sandwich(flat, simulate=lambda p, rng: 0), BadInput, "takes no data"),
        (lambda: zhat.sandwich(model, simulate=lambda p, rng: 0, exact_draws={}), BadInput, "give one of them"),
        (lambda: zhat.sandwich(model, exact_draws={"mu": [1.0]}, seed=1, progress=False), BadInput, "parameters of"),
    ):
        with pytest.raises(error, match=words):
            call()
