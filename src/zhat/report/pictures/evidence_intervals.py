"""Log evidences of models with their intervals, the most probable on top."""

from __future__ import annotations

from typing import Any

from zhat.comparing.comparison import Comparison
from zhat.comparing.scales import JEFFREYS
from zhat.report.pictures.names import label


def evidence_intervals(comparison: Comparison, ax: Any, level: float = 0.95) -> Any:
    """A row for each model: log evidence relative to the best, its interval, an open circle where the run is suspect.

    The shaded steps are those of Jeffreys' scale, relative to the best model.
    """
    best = comparison.evidences[comparison.best].log_evidence
    lowest = 0.0
    for row, name in enumerate(comparison.ranking):
        e = comparison.evidences[name]
        at = e.log_evidence - best
        bounds = e.interval(level) or (None if e.error is None else (e.log_evidence - 2 * e.error, e.log_evidence + 2 * e.error))
        if bounds is not None:
            ax.plot([bounds[0] - best, bounds[1] - best], [row, row], color="#08519c", lw=3, alpha=0.45, solid_capstyle="round")
            lowest = min(lowest, bounds[0] - best)
        fill, edge = ("#08519c", "#08519c") if e.status.is_ok else ("white", "#a04000")
        ax.plot([at], [row], "o", ms=6, mfc=fill, mec=edge)
        lowest = min(lowest, at)
    left = lowest - 0.08 * max(abs(lowest), 0.1)
    for step, limit in enumerate(JEFFREYS.limits):
        if -limit > left:
            ax.axvspan(left, -limit, color="#000000", alpha=0.04, lw=0, label=JEFFREYS.words[step + 1])
            ax.annotate(JEFFREYS.words[step + 1], (-limit, 1.0), xycoords=("data", "axes fraction"), xytext=(-3, -4),
                        textcoords="offset points", rotation=90, ha="right", va="top", fontsize=7, color="#4b5563")  # fmt: skip
    ax.set_xlim(left, max(0.05 * abs(left), 0.02))
    ax.set_yticks(range(len(comparison.ranking)), [label(name) for name in comparison.ranking])
    ax.set_ylim(len(comparison.ranking) - 0.5, -0.5)
    ax.set_xlabel("log evidence relative to the best model, nats")
    ax.set_title(f"log evidence, {level:.0%} intervals", fontsize=10)
    return ax
