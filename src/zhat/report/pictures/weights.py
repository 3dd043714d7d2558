"""Importance weights: their distribution, and the tail that decides whether their mean has a standard error."""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat.errors import BadType
from zhat.numerics.weights import Weights
from zhat.results.estimate import Evidence
from zhat.results.records import Draws, PathRun


def weights(result: Evidence, ax: Any) -> Any:
    """A histogram of the log weights relative to their mean; the five largest are marked, because the mean depends on them."""
    draws = weighted_draws(result, "weights")
    assert draws.log_weight is not None
    known = Weights.of(draws.log_weight, draws.n_drawn)
    relative = draws.log_weight[draws.log_weight > -np.inf] - known.log_mean
    low = max(relative.min(), np.quantile(relative, 0.001) - 1.0)
    ax.hist(relative[relative >= low], bins=60, color="#9ecae1", edgecolor="white", lw=0.3)
    top = np.sort(relative)[-5:]
    ax.plot(top, np.zeros_like(top), "|", color="#a50f15", ms=14, mew=1.5, clip_on=False, label="five largest")
    ax.axvline(0.0, color="#444444", lw=0.8, ls=":", label="their mean")
    ax.set_xlabel("log weight - log Z")
    ax.set_ylabel("draws")
    worth = f"ESS {known.ess:,.0f} of {known.n_drawn:,}"
    ax.set_title(f"log Z = {result.log_evidence:.3f}, Pareto k = {known.pareto_k:.2f}, {worth}", fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    return ax


def weighted_draws(result: Evidence, picture: str) -> Draws:
    """The weighted draws of a run; an error that says so where there are none."""
    record = result.record
    draws = record.final if isinstance(record, PathRun) else record
    if not isinstance(draws, Draws) or draws.log_weight is None:
        raise BadType(f"{picture} draws importance weights; the record of {result.method} has none.")
    return draws
