"""Modes that are easily lost, and what the check for missed mass finds of them."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest

from zhat import Budget, Laplace, Model, evidence, zoo
from zhat.missed_mass.effort import EFFORT, SHARP
from zhat.missed_mass.finding import Answer, Finding, Progress
from zhat.missed_mass.look import look_for_missed_mass
from zhat.missed_mass.mode_check import unvisited_share
from zhat.missed_mass.witnesses import Proposed
from zhat.numerics.weights import Weights
from zhat.results.estimate import Level
from zhat.results.records import Draws
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Mode, different
from zhat.sampling.importance.proposals import Mixture, StudentT
from zhat.sampling.importance.weighted_draws import weighted_draws
from zhat.seeding import Key
from zhat.verdicts.missed_mass import missed_mass_status


@pytest.mark.slow
def test_a_mode_with_few_particles_on_the_way_is_not_lost_in_silence():
    """Half of the posterior is in a mode that a hundredth of the particles see half way; without short moves all runs lose it."""
    example = zoo.example("unequal-modes-10")
    wrong = []
    for seed in range(6):
        found = evidence(example.model, "smc", seed=seed, progress=False)
        if found.status.is_ok:
            wrong.append(abs(found.log_evidence - example.log_evidence) > 4.0 * found.error)
    assert sum(wrong) <= 1  # none of twenty was; if one in twenty is, two or more of six are in 3 of 100


# A budget ends a run before a block of likelihoods; the last one of the check of nested sampling from regions has 20,000.
@pytest.mark.parametrize(
    ("method", "short"), [("importance", 1), ("laplace", 1), ("stepping-stone", 1), ("nested", 20_001), (None, 1)]
)
def test_a_budget_that_ends_in_the_last_check_leaves_no_unchecked_number_ok(method, short):
    """Without the check for missed mass, stepping stones on unequal-modes-10 are 0.7 nats low, ± 0.05, and know nothing of it."""
    model = zoo.example("E8").model
    whole = evidence(model, method, seed=1, progress=False)
    assert whole.status.is_ok
    cut = evidence(model, method, seed=1, progress=False, budget=Budget(likelihoods=whole.cost.n_likelihood - short))
    assert cut.log_evidence == whole.log_evidence
    assert [reason.code for reason in cut.status.reasons] == ["unchecked"] and cut.log_evidence_se is None


def test_laplace_learns_a_mode_that_its_search_missed():
    """From eight starts one of three modes is missed now and then; a population from the prior shows it, and it is added."""
    example = zoo.example("three-modes-3")
    for seed in range(12):
        alone = evidence(example.model, Laplace(n_starts=1, coverage_check=False), seed=seed, progress=False)
        assert alone.log_evidence - example.log_evidence < -0.3, "the trap is one"
        found = evidence(example.model, Laplace(n_starts=1), seed=seed, progress=False)
        if "n_modes_missed_at_first" in found.diagnostics and found.status.is_ok:
            break
    assert found.diagnostics["n_modes_missed_at_first"] >= 1
    assert abs(found.log_evidence - example.log_evidence) < 0.05  # the modes are Gaussian


def test_importance_sampling_learns_a_mode_that_is_too_small_to_doubt_its_answer():
    """Two hundredths of the posterior: without what its scouts find most runs are 0.02 low, six of their errors, and ok."""
    example = zoo.example("small-mode-10")
    found = [evidence(example.model, "importance", seed=seed, progress=False) for seed in range(4)]
    assert all(result.status.is_ok and result.diagnostics["n_modes"] == 2 for result in found)
    assert max(abs(result.log_evidence - example.log_evidence) / result.error for result in found) < 4.0
    assert any("n_modes_missed_at_first" in result.diagnostics for result in found), "the trap is one"


def test_chains_that_never_stand_at_a_mode_are_told_so():
    example = zoo.example("small-mode-10")
    found = evidence(example.model, "chib-jeliazkov", seed=0, progress=False)
    assert abs(found.log_evidence - example.log_evidence) > 0.01, "the trap is one"
    assert [reason.code for reason in found.status.reasons] == ["missed-peak"] and found.error is None
    assert found.diagnostics["unvisited_share"] == pytest.approx(0.02, abs=0.01)


@pytest.mark.parametrize(("n_there", "is_ok"), [(0, False), (3, False), (12, True), (20, True)])
def test_draws_are_held_against_the_modes_where_they_should_stand(n_there, is_ok):
    """Two separate normals, shares 0.98 and 0.02, known exactly; of a thousand draws twenty should stand at the small one."""
    rng = np.random.default_rng(1)
    modes = tuple(Mode(np.array([at, 0.0]), 0.0, np.eye(2), 0.0, True) for at in (0.0, 20.0))
    position = rng.standard_normal((2000, 2))
    position[1000:, 0] += 20.0
    zero, log_weight = np.zeros(2000), np.log(np.repeat([0.98, 0.02], 1000))
    exact = Draws(position=position, log_prior=zero, log_likelihood=zero, n_drawn=2000, log_weight=log_weight)
    visitors = rng.standard_normal((1000, 2))
    visitors[:n_there, 0] += 20.0
    share = unvisited_share(modes, exact, visitors, EFFORT)
    assert share == pytest.approx(0.0 if is_ok else 0.02 - n_there / 1000, abs=0.003)
    assert Finding(Answer(0.0, 0.002), unvisited_share=share).is_unvisited != is_ok
    assert not Finding(Answer(0.0, 0.02), unvisited_share=share).is_unvisited, "it does not matter for a larger standard error"


def test_laplace_asks_no_particles_where_that_would_be_dear():
    model = Model.black_box(lambda p: -0.5 * p["x"] ** 2, {"x": dist.Normal(0.0, 1.0)})
    assert "particle_check" not in evidence(model, "laplace", seed=0, progress=False).diagnostics
    wide = Model(lambda p: -0.5 * jnp.sum(p["x"] ** 2), {"x": dist.Normal(0.0, 1.0).expand([31]).to_event(1)})
    assert "particle_check" not in evidence(wide, "laplace", seed=0, progress=False).diagnostics


def _shared(covered):
    modes = ((-8.0, 0.3), (0.0, 1.0), (7.0, 0.3))
    parts = tuple(StudentT(np.full(3, modes[i][0]), modes[i][1] ** 2 * np.eye(3), 5.0) for i in covered)
    return Mixture(parts, (1.0 / len(parts),) * len(parts))


@pytest.mark.parametrize(("covered", "level"), [((0, 1, 2), Level.OK), ((0, 1), Level.SUSPECT), ((1,), Level.SUSPECT)])
def test_particles_from_the_prior_say_which_modes_a_proposal_misses(covered, level):
    model = zoo.example("three-modes-3").model
    loop, proposal = Loop(progress=False), _shared(covered)
    draws = weighted_draws(model, proposal, 4000, Key(1), loop, 0.0)
    weights = Weights.of(draws.log_weight)
    answer, witnesses = Answer(float(weights.log_mean), float(weights.log_mean_se)), Proposed(proposal, draws, weights, 0.0)
    finding = look_for_missed_mass(model, answer, witnesses, SHARP, Key(2), loop)
    status = missed_mass_status(finding)
    print(status, finding.diagnostics)
    assert status.level is level and finding.coverage_check is Progress.DONE
    assert finding.new_modes or level is Level.OK
    if level is Level.SUSPECT:
        assert status.reasons[0].code == "missed-mode" and finding.coverage.population > SHARP.margin


def test_modes_found_from_several_starts_are_counted_once():
    def mode(at, log_density):
        return Mode(np.array([at]), log_density, np.eye(1), 0.0, True)

    low, again, high = mode(0.0, -1.0), mode(0.05, -1.1), mode(4.0, 0.0)
    assert different((low, again, high)) == (high, low)
