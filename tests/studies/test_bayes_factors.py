"""The Bayes factors of Friel & Wyse (2012): pine within one per cent by four methods, Pima with an error of at most 0.02."""

from __future__ import annotations

import math

import pytest

from zhat.studies.bayes_factors import HEADER, cases, run_case

CASES = cases()
PUBLISHED = {
    "pine, friel_wyse, review prior": 4553.65,
    "pine, williams1959, review prior": 7024.1,
    "pine, williams1959, green_ohagan prior": 4862.1,
    "pima, tau = 0.01": 13.82,
    "pima, tau = 1": 1.296,
}


def test_what_is_known_is_what_was_published():
    assert set(CASES) == set(PUBLISHED)
    for name, case in CASES.items():
        assert math.exp(case.known) == pytest.approx(PUBLISHED[name], rel=3e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PUBLISHED if name.startswith("pine")])
def test_pine_within_one_per_cent_by_four_methods(name):
    rows = run_case(name, CASES[name], seed=1)
    assert len({row.method for row in rows}) >= 4
    for row in rows:
        assert not row.suspects, row.cells()
        assert abs(math.expm1(row.off)) < 0.01, row.cells()
        assert abs(row.z) < 4.5, row.cells()
        assert len(row.cells()) == len(HEADER)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PUBLISHED if name.startswith("pima")])
def test_pima_with_small_errors(name):
    for row in run_case(name, CASES[name], seed=1):
        assert not row.suspects, row.cells()
        assert row.factor.se <= 0.02, row.cells()
        assert abs(row.z) < 4.5, row.cells()
