"""Weighted posterior draws for anesthetic and GetDist, which draw them with their weights and need no resampling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zhat.comparing.averaging import posterior_draws
from zhat.errors import BadInput
from zhat.results.estimate import Evidence
from zhat.results.records import Array


def to_anesthetic(result: Evidence, labels: Mapping[str, str] | None = None) -> Any:
    """The posterior draws of a result as `anesthetic.MCMCSamples`, with their weights and log likelihoods.

    Parameters
    ----------
    labels : mapping of str to str, optional
        TeX labels by column name; columns are ``mu``, ``beta[0]``, ``beta[1]``. By default those of the model, with units.
    """
    try:
        from anesthetic import MCMCSamples
    except ImportError as error:
        raise BadInput("to_anesthetic needs anesthetic: pip install anesthetic.") from error
    names, values, weights, log_likelihood = _table(result)
    shown = [(labels or {}).get(name, result.label(name)) for name in names]
    return MCMCSamples(data=values, weights=weights, columns=names, labels=shown, logL=log_likelihood)


def to_getdist(result: Evidence, labels: Mapping[str, str] | None = None) -> Any:
    """The posterior draws of a result as `getdist.MCSamples`, with their weights and minus log likelihoods; `labels` as above."""
    try:
        from getdist import MCSamples
    except ImportError as error:
        raise BadInput("to_getdist needs getdist: pip install getdist.") from error
    names, values, weights, log_likelihood = _table(result)
    shown = [(labels or {}).get(name, result.label(name).replace("$", "")) for name in names]
    return MCSamples(
        samples=values, weights=weights, names=names, labels=shown, loglikes=-log_likelihood, settings={"ignore_rows": 0}
    )


def _table(result: Evidence) -> tuple[list[str], Array, Array, Array]:
    """Column names, one row a draw of weight above zero, the weights relative to the largest, and the log likelihoods."""
    draws = posterior_draws(result)
    log_weight = np.zeros(len(draws.position)) if draws.log_weight is None else draws.log_weight
    kept = np.isfinite(log_weight)
    names: list[str] = []
    columns = []
    for name, x in draws.parameters.items():
        indices = list(np.ndindex(*np.shape(x)[1:]))
        names += [name if index == () else f"{name}[{','.join(map(str, index))}]" for index in indices]
        columns.append(np.reshape(x, (len(x), -1)))
    values = np.concatenate(columns, axis=1)[kept]
    return names, values, np.exp(log_weight[kept] - log_weight[kept].max()), draws.log_likelihood[kept]
