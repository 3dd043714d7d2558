"""Posterior probabilities of models beside their prior ones."""

from __future__ import annotations

from typing import Any

from zhat.comparing.comparison import Comparison
from zhat.report.pictures.names import label


def model_probabilities(comparison: Comparison, ax: Any) -> Any:
    """A bar for each model, the most probable first, with the interval from the standard errors and a tick at the prior."""
    bounds = comparison.probability_intervals()
    for row, name in enumerate(comparison.ranking):
        i = comparison.names.index(name)
        ok = comparison.evidences[name].status.is_ok
        p = float(comparison.probabilities[i])
        ax.barh(row, p, color="#9ecae1" if ok else "none", edgecolor="#08519c" if ok else "#a04000", hatch=None if ok else "//")
        if bounds is not None:
            ax.plot(list(bounds[i]), [row, row], color="#08519c", lw=2)
        prior, words = comparison.prior[i], "prior" if row == 0 else None
        ax.plot([prior, prior], [row - 0.4, row + 0.4], color="#444444", lw=1, ls=":", label=words)
        inside = p > 0.8
        number = ax.text(p - 0.02 if inside else p + 0.02, row, f"{p:.3g}", va="center", fontsize=8)
        number.set_horizontalalignment("right" if inside else "left")
        if not inside:  # the prior's tick may stand there
            number.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    ax.set_xlim(0.0, 1.0)
    ax.set_yticks(range(len(comparison.ranking)), [label(name) for name in comparison.ranking])
    ax.set_ylim(len(comparison.ranking) - 0.5, -0.5)
    ax.set_xlabel("posterior probability")
    ax.set_title("model probabilities", fontsize=10)
    ax.legend(frameon=False, fontsize=8, loc="lower right")
    return ax
