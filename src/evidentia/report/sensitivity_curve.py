"""Log evidence against a hyperparameter, with its error and the values that were run."""

from __future__ import annotations

from typing import Any

import numpy as np

from evidentia.sensitivity import Sensitivity


def sensitivity_curve(result: Sensitivity, ax: Any) -> Any:
    """The curve with two errors on either side; dots where a run was made; a log axis where that helps."""
    ax.plot(result.values, result.log_evidence, "-", color="#08519c", lw=1.2)
    known = ~np.isnan(result.se)
    low, high = result.log_evidence - 2.0 * result.se, result.log_evidence + 2.0 * result.se
    ax.fill_between(result.values[known], low[known], high[known], color="#9ecae1", alpha=0.6, lw=0, label="± 2 errors")
    run = np.isin(result.values, list(result.runs))
    ax.plot(result.values[run], result.log_evidence[run], "o", color="#08519c", ms=5, label="run here")
    if result.values.min() > 0 and result.values.max() > 10 * result.values.min():
        ax.set_xscale("log")
    ax.set_xlabel(result.hyperparameter)
    ax.set_ylabel("log evidence")
    ax.set_title(f"{result.model}: {len(result.runs)} runs for {len(result.values)} values", fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    return ax
