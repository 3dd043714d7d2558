"""Change points with dependence inside segments, after Wyse, Friel & Rue (2011): how many there are, and where.

Three models of two series, each by the exact recursion over all sets of places (`numerics.fields.change_points`): coal-mining disasters as
independent counts within segments, the same counts with a log rate that is a random walk within segments, and a simulated series with
autoregressive errors. The lesson of the paper: dependence within segments takes change points away.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from zhat.numerics.fields.change_points import ChangePoints, change_points
from zhat.report.files import new_figure, save_figure
from zhat.zoo.fields import change_points as cases
from zhat.zoo.fields import series

HEADER = ("model", "change points", "log evidence", "reference", "probability", "most probable place", "its probability")
# States of the filter and nodes of the quadrature of the walks: log evidences are then right to 0.001.
GRID = {"n_states": 280, "n_nodes": 20}


@dataclass(frozen=True)
class Study:
    """The change points of each model, and the rows of the table."""

    found: dict[str, ChangePoints]
    rows: list[tuple[str, ...]]


def run_all(grid: dict[str, int] | None = None) -> Study:
    """All three models; nothing is sampled, so there is no seed."""
    walks = cases.walk_segments(series.COAL, **(grid or GRID))
    models = {
        "coal, independent counts": (cases.poisson_segments(series.COAL), cases.COAL_INDEPENDENT, series.COAL_FIRST_YEAR),
        "coal, random walks": (walks, cases.COAL_WALK, series.COAL_FIRST_YEAR),
        "autoregressive errors": (cases.ar_segments(series.AR_CHANGE), cases.AR_ERRORS, 0),
    }
    found: dict[str, ChangePoints] = {}
    rows: list[tuple[str, ...]] = []
    for name, (segments, reference, first) in models.items():
        result = found[name] = change_points(segments, len(reference) - 1)
        for k, (value, share) in enumerate(zip(result.log_evidence, result.probabilities(), strict=True)):
            best = np.argmax(result.places[k], axis=1)
            places = ", ".join(str(first + int(s)) for s in best)
            chances = ", ".join(f"{result.places[k][j, s]:.2f}" for j, s in enumerate(best))
            rows.append((name if k == 0 else "", str(k), f"{value:.4f}", f"{reference[k]:.4f}", f"{share:.3f}", places, chances))
    return Study(found, rows)


def draw(study: Study, folder: Path) -> list[Path]:
    """The counts, and the posterior of one change point under both models of them; returns the file written."""
    figure = new_figure(7.2, 4.2)
    upper, lower = figure.subplots(2, 1, sharex=True)
    years = series.COAL_FIRST_YEAR + np.arange(len(series.COAL))
    upper.bar(years, series.COAL, color="#9ecae1", width=0.9)
    upper.set_ylabel("disasters a year")
    for name, colour in (("coal, independent counts", "#d94801"), ("coal, random walks", "#08519c")):
        result = study.found[name]
        share = float(np.exp(result.log_evidence[1] - np.logaddexp(*result.log_evidence[:2])))
        lower.plot(years, result.places[1][0], color=colour, lw=1.4, label=f"{name.split(', ')[1]}: one against none {share:.2f}")
    lower.set_ylabel("posterior of the first year\nafter one change")
    lower.set_xlabel("year")
    lower.legend(frameon=False, fontsize=8)
    folder.mkdir(parents=True, exist_ok=True)
    return [save_figure(figure, folder / "change_points.svg")]
