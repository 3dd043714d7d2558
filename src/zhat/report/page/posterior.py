"""The section on parameters: posterior mean, standard deviation and interval of each, by its label and unit, under the best models."""

from __future__ import annotations

import numpy as np

from zhat.comparing.comparison import Comparison
from zhat.errors import BadInput
from zhat.report.page.markup import Child, table, tag
from zhat.results.estimate import Evidence
from zhat.results.marginals import marginals

# The models of the largest evidence that are shown, and rows of each: latent values of a long series would fill the page.
MOST_MODELS, MOST_ROWS = 3, 40
HEADER = ("parameter", "mean", "sd", "2.5 %", "97.5 %")


def posteriors(comparison: Comparison) -> list[Child]:
    """A table for each of the best models that kept draws and passed its checks; empty where there is none."""
    parts: list[Child] = []
    for name in comparison.ranking[:MOST_MODELS]:
        result = comparison.evidences[name]
        rows = parameter_rows(result) if result.status.is_ok else []
        if not rows:
            continue
        words = f"Parameters under {name}: posterior mean, standard deviation and central 95 % interval."
        if len(rows) > MOST_ROWS:
            words += f" The first {MOST_ROWS} of {len(rows)}."
        parts.append(table(list(HEADER), [list(row) for row in rows[:MOST_ROWS]], words, numeric=frozenset({1, 2, 3, 4})))
    if parts:
        parts.append(tag("p", "Posterior of one model each; zhat.average gives quantities averaged over the models."))
    return parts


def parameter_rows(result: Evidence) -> list[tuple[str, ...]]:
    """Label, mean, standard deviation and ends of the central 95 % interval of every parameter; none without draws."""
    try:
        found = marginals(result)
    except BadInput:
        return []
    rows = []
    for name, of in found.items():
        for index in np.ndindex(*np.shape(of.mean)):
            column = name if index == () else f"{name}[{','.join(map(str, index))}]"
            values = (of.mean[index], of.sd[index], of.low[index], of.high[index])
            rows.append((plain_label(result, column), *(f"{float(value):.4g}" for value in values)))
    return rows


def plain_label(result: Evidence, column: str) -> str:
    """The label with its unit; the name instead where the label is written in TeX, which a page without scripts cannot show."""
    text = result.label(column)
    if "\\" not in text:
        return text.replace("$", "")
    unit = result.units.get(column) or result.units.get(column.partition("[")[0])
    return f"{column} [{unit}]" if unit else column
