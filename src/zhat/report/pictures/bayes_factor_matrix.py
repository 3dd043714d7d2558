"""Log Bayes factors of all pairs of models, as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat.comparing.comparison import Comparison
from zhat.formatting import with_error
from zhat.report.pictures.names import label

# Beyond this many nats the colour no longer changes: the evidence is decisive on every scale.
DEEPEST = 10.0


def bayes_factor_matrix(comparison: Comparison, ax: Any) -> Any:
    """The log Bayes factor of the row's model against the column's, with its standard error; grey where it is undecided."""
    names = comparison.ranking
    n = len(names)
    values = np.zeros((n, n))
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i == j:
                continue
            factor = comparison.log_bayes_factor(first, second)
            values[i, j] = factor.value
            on_dark = factor.decided and abs(factor.value) > 0.6 * DEEPEST
            words = with_error(factor.value, factor.se).replace(" ± ", "\n± ") + ("" if factor.decided else "\nundecided")
            ax.text(j, i, words, ha="center", va="center", fontsize=8, color="#ffffff" if on_dark else "#111111")
            if not factor.decided:
                values[i, j] = 0.0
    ax.imshow(np.clip(values, -DEEPEST, DEEPEST), cmap="PuOr_r", vmin=-DEEPEST, vmax=DEEPEST)
    ax.set_xticks(range(n), [label(name) for name in names], rotation=30, ha="right")
    ax.set_yticks(range(n), [label(name) for name in names])
    ax.set_title("log Bayes factor of row against column, ± s.e.", fontsize=10)
    return ax
