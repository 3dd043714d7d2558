"""The numbers of Friel & Wyse (2012), from `published.csv`: table, row, column, value, and the spread over runs where given."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True)
class Published:
    """One printed number; half a unit of its last digit is what printing took from it."""

    value: float
    spread: float | None
    rounding: float


@cache
def published() -> dict[tuple[str, str, str], Published]:
    """All printed numbers by table, row and column."""
    text = resources.files("zhat.studies.friel_wyse").joinpath("published.csv").read_text(encoding="utf-8")
    found = {}
    for line in csv.DictReader(text.splitlines()):
        digits = len(line["value"].partition(".")[2])
        spread = float(line["spread"]) if line["spread"] else None
        found[line["table"], line["row"], line["column"]] = Published(float(line["value"]), spread, 0.5 * 10.0**-digits)
    return found
