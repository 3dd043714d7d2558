"""A result with few posterior draws instead of its whole record: what a survey of many evidences keeps of each.

The draws are resampled to equal weight. The number, its standard error, verdict and diagnostics stay as they are; the evidence cannot be
estimated anew from so few draws (`zhat.read`), and the draws of chains are no longer in their order.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.numerics.resampling import systematic
from zhat.results.estimate import Evidence, Level
from zhat.results.records import Draws


def thinned(result: Evidence, n_draws: int) -> Evidence:
    """The result with so many posterior draws of equal weight as its record, or without a record where it has no posterior draws."""
    if isinstance(n_draws, bool) or not isinstance(n_draws, int | np.integer):
        raise BadType(f"thinned(n_draws={n_draws!r}): give a whole number.")
    if n_draws < 1:
        raise BadInput(f"thinned(n_draws={n_draws}): give at least 1.")
    record = result.record
    draws = record if isinstance(record, Draws) else getattr(record, "final", None)
    # The draws of a run that failed need not be of the posterior: one that ended early has those of the prior.
    if not isinstance(draws, Draws) or not len(draws.position) or result.status.level is Level.FAILED:
        return replace(result, record=None)
    weights = np.zeros(len(draws.position)) if draws.log_weight is None else draws.log_weight
    if not weights.max() > -np.inf:
        return replace(result, record=None)
    rows = systematic(weights, 0.5, int(n_draws))
    few = Draws(
        position=draws.position[rows],
        log_prior=draws.log_prior[rows],
        log_likelihood=draws.log_likelihood[rows],
        n_drawn=len(rows),
        log_weight=np.zeros(len(rows)),
        parameters={name: values[rows] for name, values in draws.parameters.items()},
    )
    return replace(result, record=few)
