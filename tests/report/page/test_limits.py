"""The thresholds that the report quotes are those that decide the verdicts."""

from __future__ import annotations

import math

from zhat.methods import annealed, chib, chib_jeliazkov, harmonic, laplace_metropolis
from zhat.methods._base import registry
from zhat.report.page import limits
from zhat.verdicts import from_chains, tempered, weights


def test_limits_of_single_methods_are_those_of_their_files():
    assert {
        "bridge": from_chains.MAX_R_HAT,
        "chib": chib.MAX_R_HAT,
        "chib-jeliazkov": chib_jeliazkov.MAX_R_HAT,
        "harmonic-mean": harmonic.MAX_R_HAT,
        "laplace-metropolis": laplace_metropolis.MAX_R_HAT,
        "reciprocal": from_chains.MAX_R_HAT,
    } == limits.R_HAT
    assert (annealed.MAX_SD_LOG, annealed.RISE) == (limits.LOG_WEIGHT_SD, limits.RISE)
    assert laplace_metropolis.FAR_FROM_MODE == limits.FAR_FROM_MODE
    assert chib_jeliazkov.MIN_ACCEPTANCE == limits.ACCEPTANCE_AT_POINT
    assert harmonic.MAX_VARIANCE == limits.RELATIVE_VARIANCE


def test_methods_have_the_limits_that_apply_to_them():
    conditional = {"bridge", "inla"}  # judge the tail on a condition that a diagnostic alone does not show
    assert set(limits.PARETO_K) == set(registry()) - {"exact", "nested"} - conditional
    assert {k for k in limits.PARETO_K if limits.PARETO_K[k] == tempered.SPIKE} == {"power-posterior", "stepping-stone"}
    assert set(limits.ESS.values()) == {weights.MIN_ESS}


def test_few_chains_on_a_ladder_are_not_judged_by_small_correlations():
    assert limits.ladder_correlation(400) == tempered.UNSETTLED
    assert limits.ladder_correlation(50) == tempered.STUCK
    assert limits.ladder_correlation(5) == math.inf
