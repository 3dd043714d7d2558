"""Inclusion probabilities of covariates, with their standard errors."""

from __future__ import annotations

from typing import Any

from zhat.errors import BadInput
from zhat.report.pictures.names import label
from zhat.spaces.jump_result import Jump
from zhat.spaces.search import SubsetSearch
from zhat.spaces.subset_results import SubsetEvidences


def inclusion(result: SubsetEvidences | SubsetSearch | Jump, ax: Any) -> Any:
    """Inclusion probabilities, the largest first, with two standard errors on either side and a line at one half."""
    if not result.covariates:
        raise BadInput("inclusion draws covariates of a family of subsets; this run was over a list of models.")
    values, errors = result.inclusion, result.inclusion_se
    ranked = sorted(values, key=lambda name: -values[name])
    ok = result.status.is_ok
    for row, name in enumerate(ranked):
        p, se = values[name], errors[name]
        ax.barh(row, p, color="#9ecae1" if ok else "none", edgecolor="#08519c" if ok else "#a04000", hatch=None if ok else "//")
        ax.plot([max(p - 2.0 * se, 0.0), min(p + 2.0 * se, 1.0)], [row, row], color="#08519c", lw=2)
        inside = p > 0.8
        ax.text(p - 0.02 if inside else p + 0.02, row, f"{p:.3f}", va="center", ha="right" if inside else "left", fontsize=8)
    ax.axvline(0.5, color="#444444", lw=0.8, ls=":")
    ax.set_xlim(0.0, 1.0)
    ax.set_yticks(range(len(ranked)), [label(name) for name in ranked])
    ax.set_ylim(len(ranked) - 0.5, -0.5)
    ax.tick_params(labelsize=8)
    ax.set_xlabel("posterior probability of inclusion, ± 2 s.e.")
    ax.set_ylabel("covariate")
    ax.set_title("inclusion probabilities" + ("" if ok else "  (suspect)"), fontsize=10)
    return ax
