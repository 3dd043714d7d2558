"""Posterior draws for ArviZ, with its tables, plots and diagnostics.

Draws of chains keep their chains. Weighted draws are resampled in proportion to their weights into one chain of equally weighted
draws, which is what ArviZ's functions expect; the effective sample size does not grow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zhat.comparing.averaging import posterior_draws
from zhat.errors import BadInput
from zhat.numerics.resampling import systematic
from zhat.results.estimate import Evidence
from zhat.results.records import Draws
from zhat.seeding import Key

RESAMPLED = 4000


def to_arviz(
    result: Evidence,
    n_draws: int | None = None,
    coords: Mapping[str, Any] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    """A DataTree with the groups posterior and sample_stats; the evidence and its error are attributes.

    Parameters
    ----------
    n_draws : int, optional
        Number of draws to resample from weighted ones; by default 4000, or as many as there are. Chains are taken whole.
    coords, dims : mapping, optional
        Values of named dimensions, and the dimensions of each parameter, as ArviZ takes them; of a PyMC model they are ``model.coords`` and
        ``model.named_vars_to_dims``.
    """
    try:
        from arviz_base import from_dict
    except ImportError as error:
        raise BadInput("to_arviz needs arviz-base: pip install 'zhat[arviz]'.") from error
    draws = posterior_draws(result)
    rows = rows_of(draws, result.seed, n_draws)
    posterior = {name: np.asarray(values)[rows] for name, values in draws.parameters.items()}
    # `lp` as ArviZ means it, of the unconstrained vector. Its groups log_likelihood and log_prior hold one value for each datum and
    # each parameter, which a record of totals does not have: these totals have names of their own.
    log_prior, log_likelihood = draws.log_prior[rows], draws.log_likelihood[rows]
    stats = {
        "lp": log_prior + log_likelihood,
        "total_log_likelihood": log_likelihood,
        "log_prior_unconstrained": log_prior,
    }
    attributes = {
        "inference_library": "zhat",
        "inference_library_version": result.versions.get("zhat", ""),
        "model": result.model,
        "method": result.method,
        "seed": str(result.seed),
        "log_evidence": result.log_evidence,
        "log_evidence_se": np.nan if result.log_evidence_se is None else result.log_evidence_se,
        "status": str(result.status),
    }
    tree = from_dict(
        {"posterior": posterior, "sample_stats": stats},
        coords={name: list(values) for name, values in (coords or {}).items() if values is not None},
        dims={name: list(of) for name, of in (dims or {}).items() if name in posterior},
        attrs={"/": attributes, "posterior": attributes},
    )
    for name in posterior:  # the names that xarray's plots look for
        if name in result.labels:
            tree["posterior"][name].attrs["long_name"] = result.labels[name]
        if name in result.units:
            tree["posterior"][name].attrs["units"] = result.units[name]
    return tree


def rows_of(draws: Draws, seed: int, n_draws: int | None) -> np.ndarray:
    """Indices of the draws, (chain, draw)."""
    n = len(draws.position)
    if draws.log_weight is None and draws.chain is not None:
        names, counts = np.unique(draws.chain, return_counts=True)
        shortest = int(counts.min())
        return np.stack([np.flatnonzero(draws.chain == name)[:shortest] for name in names])
    if draws.log_weight is None:
        return np.arange(n)[None, :]
    rng = Key(seed).child("arviz").generator()
    wanted = min(n, RESAMPLED) if n_draws is None else n_draws
    if wanted < 1:
        raise BadInput(f"to_arviz(n_draws={n_draws}): give at least one.")
    chosen = systematic(draws.log_weight, float(rng.random()), wanted)
    # Systematic resampling puts repeats next to each other, which would look like autocorrelation.
    return rng.permutation(chosen)[None, :]
