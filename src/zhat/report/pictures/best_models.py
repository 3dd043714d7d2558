"""The most probable subsets of covariates as a map: a row a model, a column a covariate."""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat.errors import BadInput
from zhat.report.pictures.names import label
from zhat.spaces.jump_result import Jump
from zhat.spaces.search import SubsetSearch
from zhat.spaces.subset_results import SubsetEvidences

SHOWN = 20


def best_models(result: SubsetEvidences | SubsetSearch | Jump, ax: Any, n: int = SHOWN) -> Any:
    """The n most probable models, each a row that is filled where it has a covariate, the darker the more probable.

    Covariates stand in the order of their inclusion probability, so that what the models agree on is a block at the left.
    """
    if not result.covariates:
        raise BadInput("best_models draws subsets of covariates; this run was over a list of models.")
    p = np.asarray(result.probabilities)
    rows = np.argsort(-p, kind="stable")[:n]
    rows = rows[p[rows] > 0.0]
    columns = sorted(range(len(result.covariates)), key=lambda j: -result.inclusion[result.covariates[j]])
    inside = result.masks[rows][:, columns]
    # On a logarithmic scale, from the least probable row shown: in proportion, all but the first few would look empty.
    depth = 0.3 + 0.7 * _between(np.log(p[rows]))
    shade = np.where(inside > 0.5, depth[:, None], np.nan)
    ax.imshow(shade, aspect="auto", cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest")
    ax.set_xticks(range(len(columns)), [label(result.covariates[j]) for j in columns], rotation=90 if len(columns) > 8 else 0)
    ax.set_yticks(range(len(rows)), [f"{p[i]:.3f}" if p[i] >= 0.001 else f"{p[i]:.0e}" for i in rows])
    ax.set_xticks(np.arange(-0.5, len(columns)), minor=True)
    ax.set_yticks(np.arange(-0.5, len(rows)), minor=True)
    ax.grid(which="minor", color="#dddddd", lw=0.6)
    ax.tick_params(which="minor", length=0)
    ax.tick_params(labelsize=8)
    ax.set_xlabel("covariate, the most probable at the left")
    ax.set_ylabel("probability of the model")
    doubt = "" if result.status.is_ok else "  (suspect)"
    ax.set_title(f"the {len(rows)} most probable models: {p[rows].sum():.0%} of the mass{doubt}", fontsize=10)
    return ax


def _between(x: np.ndarray) -> np.ndarray:
    """From 0 at the smallest to 1 at the largest."""
    span = float(x.max() - x.min()) if x.size else 0.0
    return np.asarray((x - x.min()) / span if span > 0.0 else np.ones_like(x))
