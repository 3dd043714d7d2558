"""Annealed importance sampling: its plan, its record, its verdicts."""

from __future__ import annotations

import math
from dataclasses import replace

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
from zhat.results.storage import load_evidence
from zhat.sampling.backend.loop import Budget
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.tempering.lineages import path_log_weights
from zhat.sampling.tempering.schedules import AdaptiveESS, FixedLadder, PowerLadder

# -- arithmetic on arrays written by hand ---------------------------------------------------------------------------------------


def test_the_spread_of_the_upper_half_ignores_lost_lineages():
    good = np.linspace(-1.0, 1.0, 1001)
    lost = np.concatenate([good, np.full(100, -1e5)])
    assert upper_spread(good) == pytest.approx(2 * 0.3413447460685429, abs=1e-12)
    assert upper_spread(lost) < 0.8
    assert upper_spread(np.array([-np.inf, -np.inf, 1.0])) == math.inf


def test_ladders_given_beforehand_are_taken_as_they_are():
    assert given_rungs(PowerLadder(4, 2.0)) == pytest.approx([0.0, 1 / 16, 1 / 4, 9 / 16, 1.0])
    assert given_rungs(FixedLadder((0.0, 0.5, 1.0))).tolist() == [0.0, 0.5, 1.0]
    assert given_rungs(AdaptiveESS(0.5)) is None and given_rungs(None) is None
    assert every_other(np.array([0.0, 0.1, 0.2, 0.5, 1.0])).tolist() == [0.0, 0.2, 1.0]
    assert every_other(np.array([0.0, 0.1, 1.0])).tolist() == [0.0, 1.0]


# -- the walk --------------------------------------------------------------------------------------------------------------------


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
    alone = zhat.evidence(example.model, replace(method, mode_check=False), seed=1, progress=False)
    assert alone.cost.n_likelihood < 1.6 * 1000 * 99 * 5  # no pilot was needed


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
    assert math.isfinite(result.log_evidence) and result.log_evidence_se is None
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
