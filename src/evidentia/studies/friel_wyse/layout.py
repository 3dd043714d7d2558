"""Numbers as they are shown, on the page and in the terminal: as many digits as the error allows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evidentia.studies.friel_wyse.cells import COLUMNS, LIMIT, Cell, Value

HEADER = ("method", "published", "with its settings", "spread", "with ours", "truth", "verdict")


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
    """As the review has it."""
    if cell.published is None:
        return "–"
    digits = 1 if cell.published == 1.3 else 2
    return f"{cell.published:.{digits}f}" + (f" (spread {cell.published_spread:.2f})" if cell.published_spread else "")


def spread(cell: Cell) -> str:
    """Of the runs with the review's settings."""
    one = cell.with_review
    return "–" if one is None or one.spread is None else number(one.spread, one.spread)


def verdict(cell: Cell) -> str:
    """Whether the review's number is what its settings give, and whether that is right."""
    parts = []
    if cell.verdict:
        apart = "" if cell.z_published is None else f" (z {cell.z_published:+.1f})"
        parts.append(f"{'reproduced' if cell.verdict == 'agrees' else 'not reproduced'}{apart}")
    for what, value, z in (("", cell.with_review, cell.z_truth), ("ours ", cell.with_ours, cell.z_ours)):
        if value is None or cell.truth is None:
            continue
        if z is None:
            off = value.value - cell.truth
            parts.append(f"{what}{off:+.2f} from the truth" if abs(off) > 0.005 else f"{what}true")
        else:
            parts.append(f"{what}{'true' if abs(z) < LIMIT else 'off'} (z {z:+.1f})")
    return "; ".join(parts)


def rows(cells: Sequence[Cell]) -> list[tuple[str, ...]]:
    """The cells of one column of a table, a row each."""
    return [
        (
            cell.name,
            printed(cell),
            with_error(cell.with_review),
            spread(cell),
            with_error(cell.with_ours),
            number(cell.truth),
            verdict(cell),
        )
        for cell in cells
    ]


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
        found.append((f"Table {table}: {title}", HEADER, shown))
    return found
