"""The largest importance weights and the generalised Pareto distribution fitted to them: is their variance finite?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from zhat.numerics.weights import Weights
from zhat.report.pictures.weights import weighted_draws
from zhat.results.estimate import Evidence


def pareto_tail(result: Evidence, ax: Any) -> Any:
    """Share of draws above a weight, for the largest weights; the fitted distribution, and the one with k = 0.5.

    Both axes are logarithmic: a straight line is a power law, and one as shallow as the dashed line has infinite variance.
    """
    draws = weighted_draws(result, "pareto_tail")
    assert draws.log_weight is not None
    known = Weights.of(draws.log_weight, draws.n_drawn)
    ascending = np.sort(draws.log_weight[draws.log_weight > -np.inf]) - known.log_mean
    n_tail = max(5, min(len(ascending) - 1, math.floor(min(draws.n_drawn / 5.0, 3.0 * math.sqrt(draws.n_drawn)))))
    weight = np.exp(ascending[-n_tail:])
    cut = math.exp(ascending[-n_tail - 1])
    share = np.arange(n_tail, 0, -1) / draws.n_drawn
    ax.plot(weight, share, "o", ms=3, color="#08519c", label="largest weights")
    laws = ((known.pareto_k, "-", f"fitted, k = {known.pareto_k:.2f}"), (0.5, "--", "k = 0.5: infinite variance"))
    for k, style, words in laws:
        if math.isfinite(k):
            x = np.geomspace(cut, max(weight[-1] * 2.0, cut * 1.5), 100)
            ax.plot(x, n_tail / draws.n_drawn * tail_law(x - cut, weight - cut, k), style, color="#a50f15", lw=1, label=words)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(0.5 / draws.n_drawn, 2.0 * n_tail / draws.n_drawn)
    ax.set_xlabel("weight / mean weight")
    ax.set_ylabel("share of draws above")
    ax.set_title(f"log Z = {result.log_evidence:.3f}: the largest {n_tail:,} of {draws.n_drawn:,} weights", fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    return ax


def tail_law(x: np.ndarray, excess: np.ndarray, k: float) -> np.ndarray:
    """Share of a generalised Pareto law of shape k above x, its scale such that its median is that of the excesses."""
    median = float(np.median(excess))
    scale = median * k / (2.0**k - 1.0) if abs(k) > 1e-6 else median / math.log(2.0)
    inside = np.maximum(1.0 + k * x / scale, 0.0)
    with np.errstate(divide="ignore"):
        law = inside ** (-1.0 / k) if abs(k) > 1e-6 else np.exp(-x / scale)
    return np.asarray(np.where(inside > 0.0, law, 0.0))
