"""Every diagnostic has a sentence when it is within its limit and another when it is flagged; neither contradicts the verdict."""

from __future__ import annotations

import dataclasses
import math

import pytest

import zhat
from zhat import zoo
from zhat.report.page.diagnostics import _SENTENCES, sentences
from zhat.report.page.words import reasons, why_trust

# Method, a diagnostic within its limit, one beyond it, the code that its verdict raises, words of both sentences.
CASES = [
    ("smc", {"mode_check": "done", "from_mode_log_evidence": -1.0, "from_mode_se": 0.01, "from_mode_pareto_k": 0.1}, None, "missed-peak",
     "finds no mode that this run missed", "missed part of the posterior"),
    ("smc", {"mode_check": "no usable mode: no second view"}, {"mode_check": "not done"}, "unchecked", "Nothing was compared", "not finished"),
    ("importance", {"particle_check": "done", "huge_share_particles": 0.0, "huge_share_draws": 0.01},
     {"particle_check": "done", "huge_share_particles": 0.4, "huge_share_draws": 0.0}, "missed-mode",
     "found no region that the proposal misses (0 % of its weight at points with a huge importance weight; above 4 % would be flagged)",
     "has 40 % of its weight in regions that the proposal misses (flagged above 3 %)"),
    ("importance", {"particle_check": "done", "huge_share_particles": 0.0, "huge_share_draws": 0.0}, {"particle_check": "not done"}, "unchecked", "no region", "not finished"),
    ("chib-jeliazkov", {"unvisited_share": 0.0}, {"unvisited_share": 0.02}, "missed-peak", "visited every mode", "2 % of the posterior mass"),
    ("chib", {"from_prior_log_evidence": -1.0, "from_prior_se": 0.1, "from_prior_pareto_k": 0.1},
     {"from_prior_log_evidence": 2.0, "from_prior_se": 0.1, "from_prior_pareto_k": 0.1}, "missed-mass",
     "shows no mass that the chains missed", "they missed part of the posterior"),
    ("importance", {"views": ["importance", "smc"], "view_log_evidences": [-1.0, -1.01], "view_ses": [0.01, 0.02], "view_statuses": ["ok", "ok"]},
     {"views": ["importance", "smc"], "view_log_evidences": [-1.0, -3.0], "view_ses": [0.01, math.nan], "view_statuses": ["ok", "suspect"]}, "no-agreement",
     "Families of methods: importance -1 ± 0.01; smc -1.01 ± 0.02.", "smc -3 (suspect)."),
    ("laplace", {"n_modes": 2}, None, "modes-left", "The optimiser found 2 modes.", "there may be more"),
    ("importance", {"pareto_k": -0.38}, {"pareto_k": 0.62}, "pareto-k",
     "Pareto k = -0.38 (flagged from 0.5, where the variance of the weights may be infinite).", "Pareto k = 0.62, not below 0.5"),
    ("power-posterior", {"largest_pareto_k": 0.1}, {"largest_pareto_k": 0.3}, "spike", "flagged from 0.25", "not below 0.25"),
    ("stepping-stone", {"largest_forward_pareto_k": 0.1}, {"largest_forward_pareto_k": 0.3}, "spike", "flagged from 0.25", "not below 0.25"),
    ("smc", {"largest_rung_pareto_k": 0.1}, {"largest_rung_pareto_k": 0.6}, "pareto-k", "flagged from 0.5", "not below 0.5"),
    ("harmonic-mean", {"prior_pareto_k": 0.1}, {"prior_pareto_k": 0.6}, "pareto-k", "over prior draws = 0.10 (", "not below 0.5"),
    ("importance", {"ess": 37_255.0, "n_draws": 50_000}, {"ess": 12.0, "n_draws": 50_000}, "low-ess",
     "Effective sample size 37,255 of 50,000 draws (below 100 would be flagged).", "Effective sample size 12 of 50,000 draws, below 100"),
    ("harmonic-mean", {"ess_of_weights": 500.0}, {"ess_of_weights": 12.0}, "low-ess", "(below 100 would be flagged)", "below 100:"),
    ("ais", {"sd_log_weight": 0.7}, {"sd_log_weight": 3.1}, "uneven-weights", "(above 2 would be flagged)", "3.10, above 2"),
    ("ais", {"half_log_evidence": -1.0, "half_se": 0.1}, None, "not-converged", "would be flagged", "has not converged"),
    ("laplace", {"importance_corrected": -1.01}, {"importance_corrected": -2.0}, "large-correction", "above 0.5 would be flagged", "by 1.00, above 0.5"),
    ("smc", {"island_log_evidences": [-1.0, -1.1]}, {"island_log_evidences": [-1.0, -9.0]}, "island-scatter", "they agree", "they differ"),
    ("smc", {"n_ancestors": 300}, {"n_ancestors": 7}, "few-ancestors", "fewer than 20 would be flagged", "7 of the first points"),
    ("nested", {"n_ancestors": 300}, {"n_ancestors": 7}, "few-ancestors", "fewer than 20 would be flagged", "fewer than 20:"),
    ("smc", {"genealogical_se": 0.1, "rung_by_rung_se": 0.1}, {"genealogical_se": 0.5, "rung_by_rung_se": 0.1}, "unequal-descent",
     "1 times the rung-by-rung one (above 2", "5 times the rung-by-rung one, above 2"),
    ("nested", {"genealogical_se": 0.1, "shrinkage_se": 0.1}, {"genealogical_se": 0.5, "shrinkage_se": 0.1}, "unequal-descent",
     "the shrinkage one (above 2", "the shrinkage one, above 2"),
    ("smc", {"largest_correlation_left": 0.2}, None, "stuck", "at most 0.20.", "hardly moved"),
    ("nested", {"largest_memory_left": 0.2}, {"largest_memory_left": 0.7}, "stuck", "(above 0.5 would be flagged)", "0.70, above 0.5"),
    ("power-posterior", {"largest_memory": 0.2, "n_chains": 400}, {"largest_memory": 0.7, "n_chains": 400}, "stuck", "(above 0.4", "above 0.4:"),
    ("nested", {"insertion_rank_z": 0.4, "insertion_rank_z_late": -0.1}, {"insertion_rank_z": 6.2, "insertion_rank_z_late": 1.0}, "insertion-ranks",
     "Insertion ranks are uniform (z = 0.4; beyond 4 would be flagged).", "Insertion ranks are not uniform (z = 6.2, beyond 4)"),
    ("nested", {"insertion_rank_z": 0.4}, {"insertion_rank_z": 0.4, "insertion_rank_z_late": -5.0}, "insertion-ranks", "z = 0.4;",
     "z = -5.0 in the last third of the run, beyond 4"),
    ("nested", {"live_share": 0.01}, {"live_share": 0.5}, "stopped-early", "hold 1 % of the evidence (above 20 %", "stopped too early"),
    ("nested", None, {"fewest_survivors": 3}, "few-survivors", "", "only 3 live points were left"),
    ("chib", {"r_hat": 1.03}, {"r_hat": 1.06}, "chains-disagree", "(above 1.05 would be flagged)", "above 1.05:"),
    ("chib-jeliazkov", {"r_hat": 1.01}, {"r_hat": 1.03}, "chains-disagree", "(above 1.02 would be flagged)", "above 1.02:"),
    ("chib", {"log_evidence_at_points": [-1.0, -1.1]}, None, "points-disagree", "-1.1000 to -1.0000.", "than their standard errors allow"),
    ("chib-jeliazkov", {"acceptance_at_point": 0.5}, {"acceptance_at_point": 0.001}, "low-acceptance", "50 % (below 1 %", "0.1 %, below 1 %"),
    ("laplace-metropolis", {"short_of_top": 0.01}, {"short_of_top": 0.9}, "far-from-mode", "(more than 0.2 would", "more than 0.2:"),
    ("power-posterior", {"discretisation_error": 0.001, "monte_carlo_error": 0.01}, {"discretisation_error": 0.1, "monte_carlo_error": 0.01},
     "coarse-ladder", "flagged where the first is the larger", "too far apart"),
    ("power-posterior", {"against_bridged_z": 0.3}, {"against_bridged_z": 9.0}, "readings-differ", "0.3 standard errors", "more than 5"),
    ("stepping-stone", {"reverse_minus_forward_z": 0.3}, {"reverse_minus_forward_z": 9.0}, "readings-differ", "within the tolerance", "more than 5"),
    ("power-posterior", {"identity_z": [0.3, -2.0]}, {"identity_z": [0.3, -8.0]}, "thermodynamic-identity", "at most 2.0", "more than 5: some rung"),
    ("harmonic-mean", {"relative_variance": 0.1, "relative_variance_from_prior": 0.1}, {"relative_variance": 0.1, "relative_variance_from_prior": 9.0},
     "infinite-variance", "(above 1 would be flagged)", "the estimate is too high"),
    ("harmonic-mean", None, {"prior_share_of_zero_likelihood": 0.25}, "zero-likelihood", "", "25 % of prior draws have zero likelihood"),
]  # fmt: skip


@pytest.fixture(scope="module")
def run():
    result = zhat.evidence(zoo.example("E1").model, "importance", seed=1, progress=False)
    return dataclasses.replace(result, log_evidence=-1.0)


@pytest.mark.parametrize(
    ("method", "good", "bad", "code", "when_good", "when_bad"), CASES, ids=lambda v: v if isinstance(v, str) else ""
)
def test_a_sentence_for_each_outcome(run, method, good, bad, code, when_good, when_bad):
    if good is not None:
        fine = dataclasses.replace(run, method=method, diagnostics=good)
        (sentence,) = sentences(fine)
        assert when_good in sentence.text and not sentence.flagged and sentence.text.endswith(".")
    doubt = zhat.Status.suspect(code, "the verdict's own sentence.")
    poor = dataclasses.replace(run, method=method, diagnostics=bad or good, status=doubt, log_evidence_se=None, no_se_because="x")
    (sentence,) = sentences(poor)
    assert when_bad in sentence.text and sentence.flagged and sentence.text.endswith(".")
    if good is not None:
        assert when_good not in sentence.text


def test_every_sentence_has_a_case(run):
    unheard = []
    for say in _SENTENCES:
        spoken = [
            say(dataclasses.replace(run, method=method, diagnostics=found))
            for method, good, bad, *_ in CASES
            for found in (good, bad)
            if found is not None
        ]
        never_flagged = ("_one_draw", "_unseen", "_population", "_resolution")
        if not any(spoken) and say.__name__ not in never_flagged:
            unheard.append(say.__name__)
    assert unheard == []


def test_the_diagnostics_of_a_users_own_method_are_stated_without_a_limit(run):
    own = dataclasses.replace(run, method="own", diagnostics={"pareto_k": 3.0, "ess": 2.0, "r_hat": 9.0, "n_ancestors": 1})
    assert why_trust(own) == [
        "Pareto k = 3.00.",
        "Effective sample size 2.",
        "1 of the first points have descendants at the end.",
        "R-hat of the chains is 9.0000.",
    ]


def test_what_the_look_for_missed_mass_left_out_is_stated(run):
    partial = dataclasses.replace(run, diagnostics={"unseen": ["outliers"]})
    (sentence,) = sentences(partial)
    assert "left out outlying points" in sentence.text and not sentence.flagged


def test_an_exact_result_needs_no_diagnostics(run):
    exact = dataclasses.replace(run, log_evidence_se=0.0, diagnostics={"pareto_k": 0.9})
    (sentence,) = sentences(exact)
    assert "exact" in sentence.text and not sentence.flagged


def test_repeats_say_whether_they_scatter(run):
    many = dataclasses.replace(run, repeats=run.repeats * 3, diagnostics={"between_run_sd": 0.1})
    assert "3 independent runs give" in why_trust(many)[0] and not reasons(many)[0].flagged
    wide = dataclasses.replace(many, status=zhat.Status.suspect("scatter", "x"), log_evidence_se=None, no_se_because="x")
    assert reasons(wide)[0].flagged and "more than their standard errors allow" in why_trust(wide)[0]


@pytest.mark.parametrize("method", ["importance", "smc", "nested", "power-posterior", "stepping-stone", "ais", "laplace", "prior-mean",
                                    "chib-jeliazkov", "laplace-metropolis"])  # fmt: skip
def test_a_run_that_is_ok_has_no_flagged_sentence(method):
    result = zhat.evidence(zoo.example("E2").model, method, seed=1, progress=False)
    assert result.status.is_ok
    assert reasons(result) and [s.text for s in reasons(result) if s.flagged] == []


def test_a_suspect_run_has_a_flagged_sentence():
    result = zhat.evidence(zoo.example("E2").model, "harmonic-mean", seed=1, progress=False)
    assert not result.status.is_ok
    assert [s.text for s in reasons(result) if s.flagged]
