"""Numbers as they are shown, on the page and in the terminal: as many digits as the error allows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from zhat.studies.friel_wyse.tables.cells import COLUMNS, LIMIT, Cell, Value

HEADER = (
    "method",
    "published",
    "its spread",
    "with its settings",
    "spread",
    "reproduced",
    "true",
    "with ours",
    "ours true",
    "truth",
)


def number(value: float | None, error: float | None = None) -> str:
    """A value to the second digit of its error, or to five figures."""
    if value is None or not math.isfinite(value):
        return "–"
    if error and math.isfinite(error):
        digits = max(0, 1 - math.floor(math.log10(error)))
        return f"{value:.{min(digits, 6)}f}"
    return f"{value:.2f}" if abs(value) >= 1000 else f"{value:.4f}"


def with_error(value: Value | None) -> str:
    """The value ± its error; alone where it has none."""
    if value is None:
        return "–"
    if not value.error or value.error < 1e-9:
        return number(value.value)
    return f"{number(value.value, value.error)} ± {number(value.error, value.error)}"


def printed(cell: Cell) -> str:
    """The number as Friel & Wyse (2012) print it."""
    if cell.published is None:
        return "–"
    return f"{cell.published:.{1 if cell.published == 1.3 else 2}f}"


def spread(value: float | None) -> str:
    """A standard deviation over runs."""
    return "–" if value is None else number(value, value)


def reproduced(cell: Cell) -> str:
    """Whether the paper's number is what its settings give."""
    if not cell.verdict:
        return "–"
    apart = "" if cell.z_published is None else f" (z {cell.z_published:+.1f})"
    return ("yes" if cell.verdict == "agrees" else "no") + apart


def true(cell: Cell, value: Value | None, z: float | None) -> str:
    """Whether a number is right: by its error, or by how far it is from the truth where it has none."""
    if value is None or cell.truth is None:
        return "–"
    if z is not None:
        return f"{'yes' if abs(z) < LIMIT else 'no'} (z {z:+.1f})"
    if cell.row == "harmonic":
        return f"no ({value.value - cell.truth:+.2f})" if cell.column != "bf21" else "no error exists"
    off = value.value - cell.truth
    return "yes" if abs(off) < 5e-4 * max(1.0, abs(cell.truth) / 1000.0) else f"off by {off:+.3f}"


def rows(cells: Sequence[Cell]) -> list[tuple[str, ...]]:
    """The cells of one column of a table, a row each."""
    return [
        (
            cell.name,
            printed(cell),
            "–" if cell.published_spread is None else f"{cell.published_spread:.2f}",
            with_error(cell.with_paper_settings),
            spread(None if cell.with_paper_settings is None else cell.with_paper_settings.spread),
            reproduced(cell),
            true(cell, cell.with_paper_settings, cell.z_truth),
            with_error(cell.with_ours),
            true(cell, cell.with_ours, cell.z_ours),
            number(cell.truth),
        )
        for cell in cells
    ]


def without_empty(body: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows without the columns that are empty in all of them."""
    some = [j for j in range(len(HEADER)) if any(row[j] != "–" for row in body)]
    return tuple(HEADER[j] for j in some), [tuple(row[j] for j in some) for row in body]


def blocks(cells: Sequence[Cell]) -> list[tuple[str, list[Cell]]]:
    """Cells by column, with the column in words; Table 1's columns are rows of one block."""
    if cells and cells[0].table == "1":
        return [("log evidence", list(cells))]
    columns = dict.fromkeys(cell.column for cell in cells)
    return [(COLUMNS[column], [cell for cell in cells if cell.column == column]) for column in columns]


def text_tables(table: str, cells: Sequence[Cell]) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    """For a terminal: title, header and rows of every block of a table."""
    found: list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]] = []
    for title, some in blocks(cells):
        shown = rows(some)
        if table == "1":
            shown = [(f"{row[0]}, tau0 = {cell.column}", *row[1:]) for row, cell in zip(shown, some, strict=True)]
        found.append((f"Table {table}: {title}", *without_empty(shown)))
    return found


def markdown(table: str, cells: Sequence[Cell]) -> str:
    """The same for a Markdown page."""
    found = []
    for title, header, body in text_tables(table, cells):
        lines = [f"**{title}**", "", f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
        lines += [f"| {' | '.join(row)} |" for row in body]
        found.append("\n".join(lines))
    return "\n\n".join(found) + "\n"
