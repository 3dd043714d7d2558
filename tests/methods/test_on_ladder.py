"""Power posteriors and stepping stones: one record, several readings; ladders, kernels, bad settings, traps of their own."""

from __future__ import annotations

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType
from zhat.methods.power_posterior import SecondOrder, Trapezoid
from zhat.methods.stepping_stone import Bridged, Forward, Reverse
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.sampling.kernels.random_walk import RandomWalk
from zhat.sampling.mixing import Moves
from zhat.sampling.tempering.ladder_settings import LadderChains
from zhat.sampling.tempering.schedules import AdaptiveESS, FixedLadder, PowerLadder

SMALL = LadderChains(n_chains=160, n_kept=10)


def z(result: zhat.Evidence, truth: float) -> float:
    assert result.status.is_ok, result.explain()
    assert result.log_evidence_se is not None
    return (result.log_evidence - truth) / result.log_evidence_se


@pytest.mark.parametrize("name", ["E2", "E8"])
def test_one_run_serves_every_reading(name, tmp_path):
    """Read by another method, from memory and from a file, and from a run of SMC: all near the truth, no sampling."""
    example = zoo.example(name)
    first = zhat.evidence(example.model, "power-posterior", seed=1, progress=False)
    stones = zhat.read(first, "stepping-stone")
    assert stones.cost.n_likelihood == 0
    assert stones.method == "stepping-stone"
    assert stones.diagnostics["bridged"] == pytest.approx(stones.log_evidence)
    first.save(tmp_path / "run.json")
    again = zhat.read(zhat.Evidence.load(tmp_path / "run.json"), zhat.SteppingStone())
    assert again.log_evidence == stones.log_evidence
    assert zhat.read(first, "power-posterior").log_evidence == first.log_evidence
    smc = zhat.evidence(example.model, "smc", seed=1, progress=False)
    for reading in (stones, zhat.read(smc, zhat.SteppingStone(direction=Forward())), zhat.read(smc, "stepping-stone")):
        assert abs(z(reading, example.log_evidence)) < 4.5
    assert zhat.read(smc, zhat.SteppingStone(direction=Forward())).log_evidence == pytest.approx(smc.log_evidence, abs=0.02)


def test_readings_agree_in_all_directions():
    example = zoo.example("E9a")
    result = zhat.evidence(example.model, zhat.SteppingStone(chains=SMALL), seed=2, progress=False)
    found = {type(d).__name__: zhat.read(result, zhat.SteppingStone(direction=d)) for d in (Forward(), Reverse(), Bridged())}
    for reading in found.values():
        assert reading.log_evidence == pytest.approx(example.log_evidence, abs=0.3)
    bridged = found["Bridged"].log_evidence_se
    assert bridged is not None and bridged > 0


def test_the_review_s_ladder_and_gibbs_on_the_running_example():
    """Tempered Gibbs conditionals, powers of the review, plain trapezoid and corrected rule on the same draws."""
    example = zoo.running_example()
    method = zhat.PowerPosterior(
        chains=LadderChains(n_chains=200, n_kept=20, burn_in=Moves(0.3, 5, 5), n_islands=20),
        schedule=PowerLadder(40, 5.0),
        kernels=(Gibbs(example.model.conditionals),),
    )
    result = zhat.evidence(example.model, method, seed=3, progress=False)
    assert abs(z(result, example.log_evidence)) < 4.5
    lower, upper = result.diagnostics["lower_bound"], result.diagnostics["upper_bound"]
    assert lower < example.log_evidence < upper
    assert lower < result.diagnostics["trapezoid"] < upper
    plain = zhat.read(result, zhat.PowerPosterior(rule=Trapezoid()))
    assert plain.log_evidence == pytest.approx(example.log_evidence, abs=0.1)


def test_a_coarse_ladder_is_flagged_and_the_stones_are_not_fooled():
    example = zoo.example("E9a")
    method = zhat.PowerPosterior(chains=SMALL, schedule=PowerLadder(8, 3.0), rule=Trapezoid())
    result = zhat.evidence(example.model, method, seed=4, progress=False)
    assert any(reason.code == "coarse-ladder" for reason in result.status.reasons)
    assert result.log_evidence_se is None
    assert result.diagnostics["discretisation_error"] > result.diagnostics["monte_carlo_error"]


def test_a_likelihood_that_is_zero_on_half_the_prior():
    import jax.numpy as jnp
    import numpyro.distributions as dist

    def log_likelihood(params):
        return jnp.where(params["x"] > 0.0, -0.5 * (params["x"] - 1.0) ** 2, -jnp.inf)

    model = zhat.Model(log_likelihood, {"x": dist.Normal(0.0, 2.0)}, name="half")
    grid = np.linspace(0.0, 30.0, 600_001)
    prior = np.exp(-0.5 * (grid / 2.0) ** 2) / np.sqrt(8.0 * np.pi)
    truth = np.log(np.trapezoid(prior * np.exp(-0.5 * (grid - 1.0) ** 2), grid))
    for method in (zhat.PowerPosterior(), zhat.SteppingStone()):
        assert abs(z(zhat.evidence(model, method, seed=5, progress=False), truth)) < 4.5


def test_a_black_box_climbs_too():
    example = zoo.example("E1")
    y = np.asarray(example.model.data if not isinstance(example.model.data, tuple) else example.model.data[0])

    def log_likelihood(params, data):
        return float(-0.5 * np.sum((data - params["mu"]) ** 2) - 0.5 * len(data) * np.log(2 * np.pi))

    import numpyro.distributions as dist

    model = zhat.Model.black_box(log_likelihood, {"mu": dist.Normal(0.0, 3.0)}, data=y)
    by_importance = zhat.evidence(model, "importance", seed=1, progress=False)
    result = zhat.evidence(model, zhat.SteppingStone(chains=LadderChains(n_chains=80, n_kept=4)), seed=6, progress=False)
    assert result.cost.n_gradient == 0
    joint = np.hypot(result.log_evidence_se, by_importance.log_evidence_se)
    assert abs(result.log_evidence - by_importance.log_evidence) < 4.5 * joint


def test_few_chains_have_an_error_from_their_autocorrelation():
    """The review's way: a handful of chains that never meet, long, fixed burn-in."""
    example = zoo.example("E8")
    chains = LadderChains(n_chains=4, n_kept=1000, burn_in=Moves(0.3, 50, 50), n_islands=4)
    result = zhat.evidence(
        example.model, zhat.PowerPosterior(chains=chains, schedule=PowerLadder(30, 4.0)), seed=7, progress=False
    )
    assert abs(z(result, example.log_evidence)) < 4.5


def test_a_slow_kernel_is_said_to_be_stuck():
    example = zoo.example("E9b")
    method = zhat.SteppingStone(chains=LadderChains(n_chains=200, n_kept=4, burn_in=Moves(0.3, 2, 2)), kernels=(RandomWalk(),))
    result = zhat.evidence(example.model, method, seed=8, progress=False)
    assert any(reason.code == "stuck" for reason in result.status.reasons)


def test_conditionals_that_underflow_are_noticed():
    """With the review's Ga(0.001, 0.001) prior sweeps near it draw precisions of zero: no mean of log L, no reverse weight."""
    model = zoo.example("normal-gamma-0.01").model
    method = zhat.PowerPosterior(
        chains=LadderChains(n_chains=40, n_kept=4),
        schedule=AdaptiveESS(0.5),
        kernels=(Gibbs(model.conditionals),),
        mode_check=False,
    )
    result = zhat.evidence(model, method, seed=1, progress=False)
    assert any(np.isneginf(rung).any() for rung in result.record.log_likelihood[1:])
    for reading in (result, zhat.read(result, "stepping-stone"), zhat.read(result, zhat.PowerPosterior(rule=Trapezoid()))):
        assert "underflow" in [reason.code for reason in reading.status.reasons]
        assert np.isfinite(reading.log_evidence) and reading.log_evidence_se is None


def test_a_stopped_run_keeps_its_rungs():
    model, budget = zoo.example("E9a").model, zhat.Budget(likelihoods=30_000)
    result = zhat.evidence(model, "power-posterior", seed=1, progress=False, budget=budget)
    assert result.status.level is zhat.Level.FAILED
    assert 0.0 < result.record.betas[-1] < 1.0
    with pytest.raises(BadInput, match="ended at inverse temperature"):
        zhat.read(result, "stepping-stone")


def test_what_cannot_be_read_is_refused_with_a_sentence():
    example = zoo.example("E1")
    by_importance = zhat.evidence(example.model, "importance", seed=1, progress=False)
    with pytest.raises(BadType, match="reads a PathRun, not a Draws"):
        zhat.read(by_importance, "power-posterior")
    with pytest.raises(BadInput, match="cannot read the record"):
        zhat.read(by_importance, "smc")
    with pytest.raises(BadType, match="takes an Evidence first"):
        zhat.read(example.model, "power-posterior")


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: LadderChains(n_chains=0), BadInput, "needs a chain"),
        (lambda: LadderChains(n_chains=30, n_islands=7), BadInput, "multiple"),
        (lambda: zhat.PowerPosterior(chains=5), BadType, "give zhat.settings.LadderChains"),
        (lambda: zhat.PowerPosterior(schedule=10), BadType, "give a schedule"),
        (lambda: zhat.PowerPosterior(rule="trapezoid"), BadType, "give zhat.settings.SecondOrder"),
        (lambda: zhat.PowerPosterior(kernels=()), BadInput, "at least one kernel"),
        (lambda: zhat.SteppingStone(direction="forward"), BadType, "give zhat.settings.Bridged"),
        (lambda: zhat.SteppingStone(kernels=(1,)), BadType, "is not a kernel"),
        (lambda: FixedLadder((0.0, 0.5)), BadInput, "1"),
    ],
)
def test_bad_settings_get_a_sentence(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_rules_are_objects_with_defaults_worth_having():
    assert zhat.PowerPosterior().rule == SecondOrder()
    assert zhat.SteppingStone().direction == Bridged()
