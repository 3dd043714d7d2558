"""The figures of docs/trust.md are those of the files that it names."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")


def table(name: str) -> list[dict[str, str]]:
    with (ROOT / "calibration" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def total(rows: list[dict[str, str]], column: str) -> int:
    return sum(int(row[column]) for row in rows)


def test_the_counts_of_the_traps():
    rows = table("traps.csv")
    words = " ".join(PAGE.split())
    runs, right, flagged, wrong = (total(rows, name) for name in ("runs", "right", "flagged", "confidently_wrong"))
    n_traps = len({row["trap"] for row in rows})
    assert f"of {runs:,} runs on {n_traps} traps, {right:,} are right, {flagged:,} flagged and {wrong} confidently wrong" in words
    default = [row for row in rows if row["method"] == "default"]
    assert f"The default is right in {total(default, 'right')} of its {total(default, 'runs')} runs" in words


def test_the_counts_of_the_battery():
    rows = table("battery.csv")
    runs, right, refused, wrong = (total(rows, name) for name in ("runs", "right", "refused", "wrong"))
    words = f"of {runs} runs, {right} are right, {refused} is refused and {wrong} are confidently wrong"
    assert words in " ".join(PAGE.split())


@pytest.mark.parametrize("name", ["battery_second.csv", "battery_third.csv"])
def test_the_counts_of_the_later_batteries(name):
    rows = [row for row in table(name) if row["runs"]]
    runs, right, refused, wrong = (total(rows, name) for name in ("runs", "right", "refused", "wrong"))
    words = f"of {runs} runs on {len(rows)} problems {right} are right, {refused} refused and {wrong} confidently wrong"
    assert f"`calibration/{name}`, two seeds: {words}" in " ".join(PAGE.split())


def test_the_table_of_the_traps():
    rows = table("traps.csv")
    shown = re.findall(r"^\| `([\w-]+)` \| [^|]+ \| (\d+ of \d+) \| (.*) \|$", PAGE, re.MULTILINE)
    assert {trap for trap, *_ in shown} == {row["trap"] for row in rows}
    for trap, by_default, always in shown:
        mine = {row["method"]: row for row in rows if row["trap"] == trap}
        default = mine.pop("default")
        assert by_default == f"{default['right']} of {default['runs']}", trap
        assert re.findall(r"`([\w-]+)`", always) == [name for name, row in mine.items() if row["right"] == row["runs"]], trap


def test_the_table_of_model_probabilities():
    rows = table("sbc.csv")
    shown = re.findall(
        r"^\| [^|]+ \| ([+-][\d.]+) \| ([+-][\d.]+) \| ([+-][\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE
    )
    assert len(shown) == len(rows)
    for found, row in zip(shown, rows, strict=True):
        assert found[:3] == (row["b1_marginal"], row["b2_intercept"], row["b3_slope"])
        assert found[3:] == (f"{float(row['b5_resolution']):.3f}", f"{float(row['largest_error']):.3f}")
    assert {row["data_sets"] for row in rows} == {"1000"} and "1000 data sets each" in PAGE


def test_the_table_of_codes_has_its_place():
    assert PAGE.count("<!-- table of verdict codes -->") == PAGE.count("<!-- end of table -->") == 1
