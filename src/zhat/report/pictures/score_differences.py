"""Differences of predictive scores between one predictor and others, split by split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zhat.results.records import Array


def score_differences(differences: Mapping[str, Array], ax: Any) -> Any:
    """A column of dots for each other predictor, one dot a split, with their mean; above zero the first one is better."""
    ax.axhline(0.0, color="#444444", lw=0.8, ls=":")
    for j, values in enumerate(differences.values()):
        place = np.argsort(np.argsort(values)) / max(len(values) - 1, 1) - 0.5  # spread by rank: dots do not hide each other
        ax.plot(j + 0.3 * place, values, "o", color="#08519c", ms=4, alpha=0.7, label="a split" if j == 0 else None)
        ax.plot([j - 0.22, j + 0.22], [values.mean()] * 2, "-", color="#a50f15", lw=1.8, label="their mean" if j == 0 else None)
        ahead = int((values > 0).sum())
        ax.annotate(f"ahead in {ahead} of {len(values)}", (j, 1.0), xycoords=("data", "axes fraction"), xytext=(0, -12),
                    textcoords="offset points", ha="center", fontsize=8)  # fmt: skip
    low, high = ax.get_ylim()
    ax.set_ylim(low, high + 0.15 * (high - low))  # room for the words
    ax.set_xticks(range(len(differences)), list(differences))
    ax.set_xlim(-0.6, len(differences) - 0.4)
    ax.legend(frameon=False, fontsize=8, loc="lower left")
    return ax
