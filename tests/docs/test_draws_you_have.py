"""The warning of the page about draws has the figures of the traps that were run."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_without_the_check_is_that_of_the_traps():
    page = (ROOT / "docs" / "howto" / "draws_you_have.md").read_text()
    with (ROOT / "calibration" / "traps_bridge.csv").open(newline="") as file:
        rows = {(row["trap"], row["method"]): row for row in csv.DictReader(file)}
    shown = re.findall(r"\| `([\w-]+)` \| [^|]+ \| (\d+) \| (\d+) \| (\d+) \|", page)
    assert len(shown) == 4
    for trap, *counts in shown:
        unchecked = rows[trap, "bridge unchecked"]
        assert counts == [unchecked[name] for name in ("right", "flagged", "confidently_wrong")] and unchecked["runs"] == "20"
        assert rows[trap, "bridge"]["confidently_wrong"] == "0"


def test_the_table_of_all_traps_is_that_of_the_runs():
    page = (ROOT / "docs" / "howto" / "draws_you_have.md").read_text()
    with (ROOT / "calibration" / "traps_bridge.csv").open(newline="") as file:
        rows = {(row["trap"], row["method"]): row for row in csv.DictReader(file)}
    shown = re.findall(r"^\| `([\w-]+)` \| ([\d /]*) \| ([\d /]*) \| ([\d /]*) \|$", page, re.MULTILINE)
    assert {trap for trap, *_ in shown} == {trap for trap, _ in rows}
    for trap, *cells in shown:
        for cell, method in zip(cells, ("bridge", "bridge unchecked", "reciprocal"), strict=True):
            row = rows.get((trap, method))
            expected = [] if row is None else [row[name] for name in ("right", "flagged", "confidently_wrong")]
            assert cell.split(" / ") == expected or (cell.strip() == "" and row is None), (trap, method)
    checked = [row for (_, method), row in rows.items() if " " not in method]
    runs, right, flagged, wrong = (
        sum(int(row[name]) for row in checked) for name in ("runs", "right", "flagged", "confidently_wrong")
    )
    assert f"{wrong} of {runs:,} runs are confidently wrong, {right} right and {flagged:,} flagged" in page


def test_the_table_of_draws_by_nuts_is_that_of_the_runs():
    page = (ROOT / "docs" / "howto" / "draws_you_have.md").read_text()
    with (ROOT / "calibration" / "from_nuts.csv").open(newline="") as file:
        rows = {row["model"]: row for row in csv.DictReader(file)}
    shown = re.findall(r"^\| (\w[\w -]+) \| \d+ \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert len(shown) == 5
    for model, *figures in shown:
        assert figures == [rows[model][name] for name in ("sets", "ok", "within_3", "median_se")], model


def test_the_table_of_proposals_is_that_of_the_benchmark():
    page = (ROOT / "docs" / "howto" / "draws_you_have.md").read_text()
    rows = json.loads((ROOT / "benchmarks" / "results" / "bridge_proposals.json").read_text())["rows"]
    shown = re.findall(r"^\| ([\w ]+) \| `(\w+)\(\)` \| ([\d.]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert len(shown) == len(rows)
    for posterior, proposal, rmse, cpu in shown:
        row = rows[f"{posterior}, {proposal}"]
        assert (rmse, cpu) == (f"{row['rmse']:.4f}", f"{row['cpu']:.2f}")
