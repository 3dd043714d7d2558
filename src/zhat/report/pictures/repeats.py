"""Independent runs with their standard errors: if these are right, about two thirds of the bars contain the common value."""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat.errors import BadInput
from zhat.results.estimate import Evidence


def repeats(result: Evidence, ax: Any) -> Any:
    """Each run and the combined value with their standard errors, and the ratio of the scatter to these."""
    runs = result.repeats
    if len(runs) < 2:
        raise BadInput("repeats draws several runs; this result has one: give evidence(..., repeats=10).")
    values = np.array([run.log_evidence for run in runs])
    errors = np.array([np.nan if run.log_evidence_se is None else run.log_evidence_se for run in runs])
    x = np.arange(1, len(runs) + 1)
    if result.log_evidence_se is not None:
        low, high = result.log_evidence - result.log_evidence_se, result.log_evidence + result.log_evidence_se
        ax.axhspan(low, high, color="#9ecae1", alpha=0.6, lw=0, label="combined ± s.e.")
    ax.axhline(result.log_evidence, color="#08519c", lw=0.8)
    known = np.isfinite(errors)
    ax.errorbar(x[known], values[known], errors[known], fmt="o", color="#08519c", ms=4, lw=1, label="a run ± s.e.")
    if not known.all():
        ax.plot(x[~known], values[~known], "o", mfc="white", mec="#a04000", ms=5, label="a run without s.e.")
    ratio = scatter_ratio(values, errors)
    said = "s.e. unknown" if np.isnan(ratio) else f"scatter / s.e. = {ratio:.2f}"
    ax.set_xticks(x)
    ax.set_xlabel("run")
    ax.set_ylabel("log evidence")
    ax.set_title(f"{result.method}: {len(runs)} runs, {said}", fontsize=10)
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.25 * (high - low))  # room for the legend
    ax.legend(frameon=False, fontsize=8, loc="upper right")
    return ax


def scatter_ratio(values: np.ndarray, errors: np.ndarray) -> float:
    """Standard deviation between runs over the root mean square of their standard errors; NaN where one is unknown."""
    if np.isnan(errors).any() or not (errors > 0).any():
        return float("nan")
    return float(values.std(ddof=1) / np.sqrt(np.mean(errors**2)))
