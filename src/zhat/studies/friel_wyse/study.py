"""The whole study: which parts a table needs, the numbers they give, and everything that is written down.

found = reproduce(paper_settings(), seed=1, folder=Path("out"), workers=2)
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zhat.errors import BadInput
from zhat.seeding import check_seed
from zhat.studies.friel_wyse import costs
from zhat.studies.friel_wyse.parts import Done, Part, run_all, write_whole
from zhat.studies.friel_wyse.settings import Settings
from zhat.studies.friel_wyse.tables import jumps, table_1, table_2
from zhat.studies.friel_wyse.tables import tables_3_and_4 as pima
from zhat.studies.friel_wyse.tables.cells import Cell, cells_of_pima, cells_of_table_1, cells_of_table_2

TABLES = ("1", "2", "3", "4")
SCHEMA = 1


@dataclass(frozen=True)
class Study:
    """What was found: cells of the tables asked for, parts with their costs, and the settings behind them."""

    settings: Settings
    seed: int
    tables: tuple[str, ...]
    cells: tuple[Cell, ...]
    parts: dict[str, Done]

    def of(self, table: str) -> list[Cell]:
        """The cells of one table."""
        return [cell for cell in self.cells if cell.table == table]


def all_parts() -> list[Part]:
    """Everything there is to run."""
    return [*table_1.parts(), *table_2.parts(), *pima.parts(), *jumps.parts(), *costs.parts()]


def reproduce(
    settings: Settings,
    seed: int,
    folder: Path,
    workers: int = 1,
    tables: Sequence[str] = TABLES,
    say: Callable[[str], None] = lambda text: None,
) -> Study:
    """Run what is not yet in the folder, and gather the cells."""
    seed = check_seed(seed)
    for table in tables:
        if table not in TABLES:
            raise BadInput(f"there is no Table {table} in the experiments of Friel & Wyse (2012); give {', '.join(TABLES)}.")
    folder.mkdir(parents=True, exist_ok=True)
    # Timings of a look that lasts seconds would be those of everything around it.
    timed = {part.name for part in costs.parts()} if settings.quick else set()
    wanted = [part for part in all_parts() if part.table in tables and part.name not in timed]
    found = run_all(wanted, settings, seed, folder, workers, say)
    cells: list[Cell] = []
    if "1" in tables:
        cells += cells_of_table_1(found)
    if "2" in tables:
        cells += cells_of_table_2(found)
    for table in pima.TAUS:
        if table in tables:
            cells += cells_of_pima(table, found, settings.pima.n_best_of)
    return Study(settings, seed, tuple(tables), tuple(cells), found)


# -- files -----------------------------------------------------------------------------------------------------------------


def write_numbers(study: Study, folder: Path) -> list[Path]:
    """The cells as CSV, and everything as JSON."""
    rows = [cell.plain() for cell in study.cells]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    document = {
        "schema": SCHEMA,
        "study": "friel-wyse",
        "seed": study.seed,
        "settings": study.settings.plain(),
        "cells": rows,
        "parts": {name: _without_name(done) for name, done in study.parts.items()},
    }
    paths = [folder / "cells.csv", folder / "results.json"]
    write_whole(paths[0], stream.getvalue())
    write_whole(paths[1], json.dumps(document, indent=1))
    return paths


def _without_name(done: Done) -> Mapping[str, Any]:
    return {key: value for key, value in vars(done).items() if key != "name"}
