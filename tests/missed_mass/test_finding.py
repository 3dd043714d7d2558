"""The finding of a check for missed mass: decisions from numbers, and the way through a result's diagnostics."""

from dataclasses import replace

import pytest

from zhat.missed_mass.effort import EFFORT, SHARP
from zhat.missed_mass.finding import Answer, Coverage, Finding, Progress, SecondEstimate, Unseen

SECOND = SecondEstimate(-1.0, 0.02, 0.2)
ANSWER = Answer(-1.02, 0.02)
FULL = Finding(
    ANSWER,
    mode_check=Progress.DONE,
    coverage_check=Progress.DONE,
    at_modes=SECOND,
    from_prior_draws=SecondEstimate(-1.1, 0.3, 0.6),
    unvisited_share=0.01,
    coverage=Coverage(0.02, 0.01),
    n_learned=2,
    unseen=(Unseen.OUTLIERS,),
    from_population=SecondEstimate(-1.05, 0.05, 0.1),
    visited_by_population=0.98,
    basin_resolution=2e-4,
)


@pytest.mark.parametrize(
    ("log_evidence", "pareto_k", "exceeds"),
    [
        (-1.02, 0.2, False),
        (-1.7, 0.2, True),
        (-0.3, 0.2, False),  # an unbiased estimate may well be low: only one that lies above proves something
        (-1.7, 0.9, False),
        (-14.0, 0.9, True),  # Markov's inequality needs no variance
        (float("nan"), 0.2, False),
    ],
)
def test_the_one_test_of_a_second_estimate_against_an_answer(log_evidence, pareto_k, exceeds):
    second = replace(SECOND, pareto_k=pareto_k)
    assert second.exceeds(Answer(log_evidence, 0.02), EFFORT) == exceeds


def test_three_joint_standard_errors_and_a_little():
    joint = (0.02**2 + 0.02**2) ** 0.5
    limit = EFFORT.joint_errors * joint + EFFORT.slack
    assert not SECOND.exceeds(Answer(-1.0 - limit + 1e-6, 0.02), EFFORT)
    assert SECOND.exceeds(Answer(-1.0 - limit - 1e-6, 0.02), EFFORT)
    assert SECOND.joint_errors(Answer(-1.0 - 2 * joint, 0.02)) == pytest.approx(2.0)
    assert SecondEstimate(0.0, 0.0, 0.0).joint_errors(Answer(-1.0, 0.0)) == float("inf")


def test_each_comparison_decides_by_its_own_threshold():
    assert not FULL.is_missed
    assert replace(FULL, answer=Answer(-3.0, 0.02)).modes_exceed
    assert replace(FULL, from_prior_draws=SecondEstimate(5.0, 0.3, 0.6)).prior_draws_exceed
    assert replace(FULL, unvisited_share=0.05).is_unvisited  # two standard errors of the answer are 0.04
    assert replace(FULL, coverage=Coverage(0.05, 0.01)).is_uncovered
    assert not Finding(ANSWER).is_missed and Finding(ANSWER).resolution is None
    assert 0.05 < FULL.resolution < 0.15


def test_diagnostics_keep_their_keys_and_read_back():
    written = FULL.diagnostics
    assert written == {
        "particle_check": "done",
        "huge_share_particles": 0.02,
        "huge_share_draws": 0.01,
        "mode_check": "done",
        "from_mode_log_evidence": -1.0,
        "from_mode_se": 0.02,
        "from_mode_pareto_k": 0.2,
        "from_prior_log_evidence": -1.1,
        "from_prior_se": 0.3,
        "from_prior_pareto_k": 0.6,
        "unvisited_share": 0.01,
        "n_modes_missed_at_first": 2,
        "unseen": ["outliers"],
        "visited_by_population": 0.98,
        "from_population_log_evidence": -1.05,
        "from_population_se": 0.05,
        "from_population_pareto_k": 0.1,
        "basin_resolution": 2e-4,
    }
    assert Finding.read(written, ANSWER) == FULL
    assert Finding.read(written, ANSWER, SHARP) == replace(FULL, effort=SHARP)


def test_a_result_without_a_look_reads_as_an_empty_finding():
    assert Finding.read({"pareto_k": 0.1, "mode_check": 3, "unseen": "x"}, ANSWER) == Finding(ANSWER)
    assert Finding(ANSWER).diagnostics == {}


def test_second_estimates_stand_against_another_answer_and_nothing_else_does():
    other = Finding.read(replace(FULL, coverage=Coverage(0.9, 0.0)).diagnostics, Answer(-1.7, 0.02)).second_estimates
    assert other.modes_exceed and other.coverage is None and other.unvisited_share is None


def test_where_weights_have_a_variance_clear_standard_errors_need_no_nats_beside_chains():
    """Two precise estimates that are five joint standard errors apart differ by less than the nats."""
    second, answer = SecondEstimate(-1.0, 0.003, 0.2), Answer(-1.025, 0.004)
    beside_chains = replace(EFFORT, always_nats=False)
    assert second.exceeds(answer, beside_chains) and not second.exceeds(answer, EFFORT)
    assert not replace(second, pareto_k=0.6).exceeds(answer, beside_chains)
    rough = Answer(-1.3, 0.08)  # above a twentieth of a nat the rule is as it was
    assert second.exceeds(rough, beside_chains) == second.exceeds(rough, EFFORT)
