"""The thresholds that the report quotes beside a diagnostic: the numbers of the verdicts, by the method that applies them.

A method that is not listed (a user's own) has its diagnostics printed without a threshold. Limits that stand in the file of a method,
which the report does not import, are repeated here; `tests/report/page/test_limits.py` holds each to the constant that decides.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from zhat.verdicts import from_chains, nested, population
from zhat.verdicts.tempered import FEW, SPIKE, STUCK, TELLING, UNSETTLED
from zhat.verdicts.weights import MAX_PARETO_K, MIN_ESS

# Pareto k of the weights from which on a result is flagged. Along a ladder a likelihood that is bounded has no tail at all. Bridge
# sampling and INLA are not here: they judge the tail only where terms are not bounded, or the latents not exactly Gaussian.
PARETO_K: Mapping[str, float] = {
    "ais": MAX_PARETO_K,
    "chib": MAX_PARETO_K,
    "chib-jeliazkov": MAX_PARETO_K,
    "harmonic-mean": MAX_PARETO_K,
    "importance": MAX_PARETO_K,
    "laplace": MAX_PARETO_K,
    "laplace-metropolis": MAX_PARETO_K,
    "power-posterior": SPIKE,
    "prior-mean": MAX_PARETO_K,
    "reciprocal": MAX_PARETO_K,
    "smc": MAX_PARETO_K,
    "stepping-stone": SPIKE,
    "variational": MAX_PARETO_K,
}

# Effective sample size below which a result is flagged. Nested sampling has no such limit: its ancestors are counted instead.
# INLA has it only where the latents are not exactly Gaussian.
ESS: Mapping[str, float] = {
    "ais": MIN_ESS,
    "bridge": MIN_ESS,
    "chib": MIN_ESS,
    "chib-jeliazkov": MIN_ESS,
    "harmonic-mean": MIN_ESS,
    "importance": MIN_ESS,
    "laplace": MIN_ESS,
    "laplace-metropolis": MIN_ESS,
    "prior-mean": MIN_ESS,
    "reciprocal": MIN_ESS,
    "variational": MIN_ESS,
}

# R-hat above which chains are flagged.
R_HAT: Mapping[str, float] = {
    "bridge": from_chains.MAX_R_HAT,
    "chib": 1.05,
    "chib-jeliazkov": 1.02,
    "harmonic-mean": 1.05,
    "laplace-metropolis": 1.05,
    "reciprocal": from_chains.MAX_R_HAT,
}

# First points with descendants at the end, below which a run is flagged.
ANCESTORS: Mapping[str, int] = {"nested": nested.MIN_ANCESTORS, "smc": population.MIN_ANCESTORS}

# Ratio of the genealogical standard error to the other one, above which they contradict each other.
UNEQUAL: Mapping[str, float] = {"nested": nested.UNEQUAL_RATIO, "smc": population.UNEQUAL_RATIO}

# Nested sampling: score of the insertion ranks, share of the evidence in the last live points, correlation of the ranks of new
# points with those of their starting points, live points left above a plateau.
INSERTION_RANK = nested.RANK_LIMIT
LIVE_SHARE = nested.EARLY
RANK_CORRELATION = nested.STUCK
SURVIVORS = nested.MIN_SURVIVORS

# AIS: standard deviation of the log weights; rise from half the rungs to all, in joint standard errors.
LOG_WEIGHT_SD = 2.0
RISE = 3.0

# Laplace-Metropolis: nats between the best draw and the mode. Chib & Jeliazkov: acceptance at the point.
FAR_FROM_MODE = 0.2
ACCEPTANCE_AT_POINT = 0.01

# Harmonic mean: relative variance of a weight, as prior draws predict it.
RELATIVE_VARIANCE = 1.0


def ladder_correlation(n_chains: int) -> float:
    """Correlation with the starting points above which chains on a ladder are flagged; few chains cannot show a small one."""
    return UNSETTLED if n_chains >= TELLING else STUCK if n_chains >= FEW else math.inf
