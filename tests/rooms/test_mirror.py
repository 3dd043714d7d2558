"""Tests mirror the modules: `src/zhat/a/b.py` is tested in `tests/a/test_b.py`, or stands below with the reason.

A new module needs one of the two. A module that has got its test leaves the list.
"""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
SOURCE = TESTS.parent / "src" / "zhat"

# Why a module has no test file of its own, and where its lines are tested.
WITHOUT = {
    "only data, names or types": """
        __main__ cli/__main__ cli/exits missed_mass/witnesses sampling/observer studies/friel_wyse/published
        studies/friel_wyse/settings sampling/tempering/ladder_settings
    """,
    "public names, each checked by tests/test_public_surface.py": """
        families kernels latent plots priors proposals schedules settings types
    """,
    "parsing that every command shares, tested with the commands: tests/cli/commands/test_estimate.py": """
        cli/finding
    """,
    "commands that print what a study returns: tests/studies/test_table_one.py, tests/studies/friel_wyse/test_study.py": """
        cli/commands/reproduce cli/commands/study
    """,
    "what `zhat demo` prints: tests/cli/commands/test_demo.py": """
        studies/demo
    """,
    "a method whose whole is tested by tests/contract/test_contract.py, and whose parts are tested in their rooms": """
        methods/_base methods/importance methods/laplace verdicts/learned_modes
    """,
    "tempering from a normal near the posterior: tests/sampling/importance/test_reference.py": """
        methods/_from_mode sampling/importance/quasi_newton
    """,
    "the two methods on a ladder share their tests: tests/methods/test_on_ladder.py": """
        methods/power_posterior methods/stepping_stone
    """,
    "the check for missed mass is tested as a whole, by what it says of answers: tests/missed_mass/test_look.py": """
        missed_mass/coverage_check missed_mass/mode_check missed_mass/other_peaks
    """,
    "the vocabulary of latent Gaussian models is tested by the models it builds: tests/model/fields/test_build.py": """
        model/fields/observations model/fields/terms
    """,
    "regressions as a whole, from formula to evidence: tests/adapters/formula/test_door.py": """
        model/closed_form model/described model/regression/build model/regression/design model/regression/families
        model/regression/priors model/regression/proper model/regression/reference
    """,
    "what formulas and tables are refused for: tests/adapters/formula/test_bad_input.py": """
        adapters/formula/design adapters/formula/table
    """,
    "subsets of the terms of a formula: tests/spaces/test_linear_subsets.py": """
        adapters/formula/subsets
    """,
    "the parts of PyMC's door are tested by the models that go through it: tests/adapters/test_pymc.py": """
        adapters/pymc_model/constants adapters/pymc_model/for_jax adapters/pymc_model/graphs adapters/pymc_model/reading adapters/pymc_model/refusals
        adapters/pymc_model/standard
    """,
    "classical tests as users call them: tests/classical/test_one_liners.py": """
        classical/correlations classical/result classical/t_tests classical/tables classical/variance
    """,
    "INLA as a whole: tests/methods/test_inla.py": """
        sampling/latent/correction sampling/latent/field sampling/latent/inner sampling/latent/outer sampling/latent/prior_view
        zoo/fields/latent_gaussian zoo/fields/series
    """,
    "variational bounds as a whole: tests/methods/test_variational.py": """
        sampling/variational/families sampling/variational/guide sampling/variational/maps sampling/variational/starts
    """,
    "part of Model, and tested through it: tests/model/test_model.py, tests/bad_input/test_prior_and_data.py": """
        model/data model/traced/check model/values
    """,
    "one page and its parts: tests/report/page/test_page.py": """
        report/files report/notebook report/page/drawing report/page/markup report/page/recipe report/page/sections
        report/page/words
    """,
    "plots are tested by the same questions: tests/report/pictures/test_pictures.py, tests/report/pictures/test_subset_pictures.py": """
        report/pictures/bayes_factor_matrix report/pictures/best_models report/pictures/evidence_intervals
        report/pictures/inclusion report/pictures/model_probabilities report/pictures/nested_trace report/pictures/pareto_tail
        report/pictures/power_curve report/pictures/repeats report/pictures/score_differences
        report/pictures/sensitivity_curve report/pictures/weights
    """,
    "what is saved is what is loaded: tests/results/test_storage.py": """
        results/codec results/records
    """,
    "work over processes is tested by its digits: tests/run/distribution/test_digits.py": """
        run/distribution/executors run/distribution/plans run/distribution/travel run/many_models run/repeats
    """,
    "the front door is what almost every test uses; its refusals: tests/bad_input/test_settings.py": """
        run/estimate
    """,
    "the machinery of reversible jump, tested by the odds it gives: tests/spaces/test_jump.py": """
        sampling/between_models/jumps sampling/between_models/maps sampling/between_models/model_sets
        sampling/between_models/proposals
        spaces/jump_result spaces/jump_verdict spaces/pilots
    """,
    "families of subsets, tested against exact answers: tests/spaces/test_subsets.py, tests/spaces/test_search.py": """
        sampling/importance/families spaces/one_peak spaces/subset_results spaces/walks
    """,
    "chains and ordinates, tested through the methods that read them: tests/methods/test_chib.py, tests/methods/test_chib_jeliazkov.py": """
        sampling/chains/conditionals sampling/chains/ordinates sampling/chains/posterior sampling/chains/transitions
        verdicts/conditionals verdicts/ordinates
    """,
    "draws that a user brings, tested from the container to the verdict: tests/run/test_from_draws.py": """
        sampling/chains/belonging sampling/chains/given verdicts/given_draws
    """,
    "estimates from chains, tested through the two methods: tests/methods/test_bridge.py, tests/methods/test_reciprocal.py": """
        missed_mass/beside_chains sampling/chains/bridging sampling/chains/halves sampling/chains/regions verdicts/from_chains
    """,
    "kernels are tested by the same questions, one after the other: tests/sampling/kernels/test_kernels.py": """
        sampling/kernels/_base sampling/kernels/_checks sampling/kernels/crank_nicolson sampling/kernels/defaults
        sampling/kernels/hmc sampling/kernels/independent sampling/kernels/random_walk sampling/kernels/slice
        sampling/kernels/sweep sampling/tuning
    """,
    "nested sampling as a whole: tests/methods/test_nested.py, tests/sampling/nested/test_replacement.py": """
        sampling/nested/stopping verdicts/nested
    """,
    "tempered runs, tested through the methods that read them: tests/methods/test_smc.py, tests/methods/test_on_ladder.py": """
        sampling/tempering/kernel_choice sampling/tempering/ladder sampling/tempering/path_sums sampling/tempering/population sampling/tempering/rung
        sampling/tempering/rung_moves verdicts/population verdicts/tempered verdicts/weights
    """,
    "tests/studies/friel_wyse/test_study.py runs them all; the samplers: tests/studies/friel_wyse/samplers/test_samplers.py": """
        studies/friel_wyse/costs studies/friel_wyse/page/figures studies/friel_wyse/page/layout studies/friel_wyse/page/notes
        studies/friel_wyse/page/output studies/friel_wyse/page/page studies/friel_wyse/page/prose studies/friel_wyse/parts
        studies/friel_wyse/samplers/component_ordinates studies/friel_wyse/samplers/component_walk
        studies/friel_wyse/samplers/long_chains studies/friel_wyse/samplers/parameter_laplace
        studies/friel_wyse/samplers/threshold_moves studies/friel_wyse/speed studies/friel_wyse/tables/cells
        studies/friel_wyse/tables/jumps studies/friel_wyse/tables/table_1 studies/friel_wyse/tables/table_2
        studies/friel_wyse/tables/tables_3_and_4
    """,
    "every model of the zoo is asked the same: tests/zoo/test_exact_values.py, tests/zoo/test_brute_force.py, tests/zoo/test_conditionals.py": """
        zoo/_example zoo/binary zoo/conjugate zoo/friel_wyse zoo/gaussian zoo/latent zoo/mixtures zoo/parts/densities
        zoo/parts/gibbs zoo/parts/normal_gamma zoo/parts/quadrature zoo/regression zoo/stress
    """,
}
MODULES = {p.relative_to(SOURCE).with_suffix("").as_posix() for p in SOURCE.rglob("*.py") if p.name != "__init__.py"}
LISTED = [module for modules in WITHOUT.values() for module in modules.split()]


def has_a_test(module: str) -> bool:
    folder, _, name = module.rpartition("/")
    return (TESTS / folder / f"test_{name.lstrip('_')}.py").is_file()


def test_every_module_has_a_test_or_a_reason():
    lacking = sorted(module for module in MODULES - set(LISTED) if not has_a_test(module))
    assert not lacking, f"give each a test file of its name, or a reason in {Path(__file__).name}:\n" + "\n".join(lacking)


def test_the_list_is_up_to_date():
    assert sorted(set(LISTED) - MODULES) == [], "there are no such modules"
    assert sorted(module for module in LISTED if has_a_test(module)) == [], "these have a test now: take them off the list"
    assert len(LISTED) == len(set(LISTED))


def test_the_tests_that_reasons_name_exist():
    named = {path for reason in WITHOUT for path in re.findall(r"tests/[\w/]+\.py", reason)}
    assert [path for path in sorted(named) if not (TESTS.parent / path).is_file()] == []
