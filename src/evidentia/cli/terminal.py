"""Text for a terminal: aligned tables, and nothing in it that the terminal would obey."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence


def printable(text: str) -> str:
    """The text without control, format and surrogate characters; line breaks stay."""
    return "".join(c for c in text if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def one_line(text: str) -> str:
    """A name or a path: printable, on one line."""
    return printable(text.replace("\n", " "))


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> str:
    """Columns two spaces apart; the last one is folded to fit `width` when one is given."""
    cells = [[one_line(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[j]) for row in cells) for j in range(len(header) - 1)]
    indent = sum(widths) + 2 * len(widths)
    lines = []
    for row in cells:
        last = [row[-1]] if width is None else textwrap.wrap(row[-1], max(20, width - indent)) or [""]
        start = "".join(f"{cell:<{w}}  " for cell, w in zip(row, widths, strict=False))
        lines += [(start + last[0]).rstrip(), *(" " * indent + rest for rest in last[1:])]
    return "\n".join(lines)
