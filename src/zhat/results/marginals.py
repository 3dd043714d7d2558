"""Posterior marginals from the weighted draws of a result: mean, standard deviation and quantiles of every parameter.

Quantiles come from the cumulated weights at the middle of each draw's share, interpolated: draws that share a value, as parameters
on the nodes of a quadrature do, count once, at that value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.results.estimate import Evidence
from zhat.results.records import Array, Draws, NestedRun, OrdinateRun, PathRun

# The central interval that is given.
LEVEL = 0.95


@dataclass(frozen=True)
class Marginals:
    """Of one parameter, in its own shape: mean, standard deviation, median and the ends of the central 95 % interval."""

    mean: Array
    sd: Array
    median: Array
    low: Array
    high: Array


def marginals(result: Evidence) -> dict[str, Marginals]:
    """Posterior marginals of every parameter of a result that kept its draws."""
    if not isinstance(result, Evidence):
        raise BadType(f"marginals() takes an Evidence, not a {type(result).__name__}: the result of zhat.evidence(...).")
    record = result.record
    draws = record.final if isinstance(record, PathRun | NestedRun | OrdinateRun) else record
    if not isinstance(draws, Draws) or not draws.parameters:
        raise BadInput(
            f"this result of {result.method!r} has no draws with parameters: use zhat.INLA(), zhat.Importance() or zhat.SMC()."
        )
    n = len(draws.position)
    log_weight = np.zeros(n) if draws.log_weight is None else draws.log_weight
    share = np.exp(log_weight - log_weight.max())
    share /= share.sum()
    return {name: _of(np.asarray(values, np.float64), share) for name, values in draws.parameters.items()}


def _of(values: Array, share: Array) -> Marginals:
    flat = values.reshape(len(values), -1)
    mean = share @ flat
    sd = np.sqrt(np.maximum(share @ (flat - mean) ** 2, 0.0))
    ends = [0.5, 0.5 * (1.0 - LEVEL), 0.5 * (1.0 + LEVEL)]
    quantiles = np.array([weighted_quantiles(column, share, ends) for column in flat.T]).T.reshape(3, *values.shape[1:])
    shape = values.shape[1:]
    return Marginals(mean.reshape(shape), sd.reshape(shape), *quantiles)


def weighted_quantiles(values: Array, share: Array, levels: list[float]) -> Array:
    """Quantiles of weighted values; equal values count once."""
    order = np.argsort(values, kind="stable")
    values, share = values[order], share[order]
    new = np.concatenate([[True], values[1:] > values[:-1]])
    values, share = values[new], np.add.reduceat(share, np.flatnonzero(new))
    middle = np.cumsum(share) - 0.5 * share
    return np.interp(levels, middle / share.sum(), values)
