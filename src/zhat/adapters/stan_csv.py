"""One chain of Stan in a CSV file: comment lines begin with #, then the names, then a line for each draw.

Warm-up draws that were saved (`save_warmup = 1`) stand before the others and are left out, as the header says how many.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np

from zhat.errors import BadInput
from zhat.results.records import Array

SETTING = re.compile(r"#\s*(save_warmup|num_warmup|thin)\s*=\s*(\w+)")


def read_stan_csv(path: Path) -> dict[str, Array]:
    """The columns by name, each with one value a draw."""
    settings: dict[str, str] = {}
    names: list[str] | None = None
    rows: list[list[float]] = []
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if line.startswith("#"):
                for key, value in SETTING.findall(line):
                    settings.setdefault(key, value)
                continue
            cells = next(csv.reader([line]), [])
            if not cells:
                continue
            if names is None:
                names = [cell.strip() for cell in cells]
                continue
            try:
                rows.append([float(cell) for cell in cells])
            except ValueError as error:
                raise BadInput(
                    f"draws: line {number} of {path.name} is not a line of numbers; is it a CSV file of Stan?"
                ) from error
            if len(rows[-1]) != len(names):
                raise BadInput(f"draws: line {number} of {path.name} has {len(rows[-1])} values for {len(names)} columns.")
    if names is None or not rows:
        raise BadInput(f"draws: {path.name} has no draws.")
    saved = settings.get("save_warmup", "0").lower() in ("1", "true")
    warmup = int(settings.get("num_warmup", 0)) // int(settings.get("thin", 1)) if saved else 0
    values = np.array(rows)[warmup:]
    if not len(values):
        raise BadInput(f"draws: {path.name} has only warm-up draws.")
    return {name: values[:, i] for i, name in enumerate(names)}
