"""Log evidence, or the log Bayes factor of two models, against a hyperparameter, with standard errors and the values that were run."""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat.comparing.sensitivity import Sensitivity
from zhat.report.pictures.names import label
from zhat.results.records import Array


def sensitivity_curve(result: Sensitivity, ax: Any) -> Any:
    """The curve with two standard errors on either side; dots where a run was made; a log axis for values over decades."""
    _draw(result.values, result.log_evidence, result.se, np.isin(result.values, list(result.runs)), ax)
    ax.set_xlabel(label(result.hyperparameter))
    ax.set_ylabel("log evidence")
    ax.set_title(f"{label(result.model)}: {result.effort}", fontsize=10)
    return ax


def bayes_factor_curve(first: Sensitivity, second: Sensitivity, ax: Any) -> Any:
    """The log Bayes factor of the first model against the second, where both priors have the same value."""
    value, error = first.against(second)
    _draw(first.values, value, error, np.isin(first.values, [*first.runs, *second.runs]), ax)
    ax.axhline(0.0, color="#444444", lw=0.8, ls=":")
    ax.set_xlabel(label(first.hyperparameter))
    ax.set_ylabel("log Bayes factor")
    ax.set_title(f"above zero: {label(first.model)}\nbelow zero: {label(second.model)}", fontsize=10)
    return ax


def _draw(x: Array, y: Array, se: Array, run: Any, ax: Any) -> None:
    ax.plot(x, y, "-", color="#08519c", lw=1.2)
    known = ~np.isnan(se)
    low, high = y - 2.0 * se, y + 2.0 * se
    ax.fill_between(x[known], low[known], high[known], color="#9ecae1", alpha=0.6, lw=0, label="± 2 s.e.")
    ax.plot(x[run], y[run], "o", color="#08519c", ms=5, label="run at this value")
    if x.min() > 0 and x.max() > 10 * x.min():
        ax.set_xscale("log")
    ax.legend(frameon=False, fontsize=8)
