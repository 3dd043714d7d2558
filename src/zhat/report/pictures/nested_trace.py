"""A run of nested sampling: likelihood against prior mass, and the share of the evidence at each mass."""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat.errors import BadType
from zhat.numerics.nested import log_volumes, nested_log_weights
from zhat.results.estimate import Evidence
from zhat.results.records import NestedRun


def nested_trace(result: Evidence, ax: Any) -> Any:
    """Log likelihood of the dead points against log prior mass, and each point's share of the evidence below it."""
    run = result.record
    if not isinstance(run, NestedRun):
        raise BadType(f"nested_trace draws a run of nested sampling; the record of {result.method} is a {type(run).__name__}.")
    log_mass = log_volumes(run.n_alive)
    possible = run.log_likelihood > -np.inf
    x, y = log_mass[possible], run.log_likelihood[possible]
    late = y > y.max() - 6.0 * max(y.max() - np.quantile(y, 0.5), 1.0)  # without the first points, which lie far below the others
    ax.plot(x[late], y[late], color="#08519c", lw=1.2, label="log likelihood")
    ax.set_xlabel("log prior mass")
    ax.set_ylabel("log likelihood")
    ax.invert_xaxis()
    weight = nested_log_weights(log_mass)[possible] + y
    share = np.exp(weight - weight.max())
    edges = np.linspace(x.min(), x.max(), 60)
    mass, _ = np.histogram(x, bins=edges, weights=share)
    below = ax.twinx()
    below.fill_between(0.5 * (edges[1:] + edges[:-1]), mass / max(mass.max(), 1e-300), color="#fdae6b", alpha=0.6, lw=0)
    below.set_ylim(0, 3)
    below.set_yticks([])
    ax.set_title(f"log Z = {result.log_evidence:.3f}, {run.n_live} live points (orange: share of the evidence)", fontsize=10)
    return ax
