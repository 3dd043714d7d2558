"""Text for a terminal: aligned tables, colour where it is seen, and nothing in it that the terminal would obey."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import TextIO

from evidentia.comparison import Comparison

GREEN, YELLOW, RED = "\x1b[32m", "\x1b[33m", "\x1b[31m"
PLAIN = "\x1b[0m"
COLOURS = {"ok": GREEN, "suspect": YELLOW, "undecided": YELLOW, "failed": RED}
# A verdict stands at the end of a line, two spaces after the rest, or begins one; elsewhere the word is someone's name.
VERDICT = re.compile(r"(?<=  )(ok|suspect|failed)(?= \([\w, -]+\)$|$)|^(?:  )?(suspect|failed|undecided)(?=: )", re.MULTILINE)

# What a narrow terminal does without, the first first.
SPARE = ("prior", "95 % interval", "method", "error")


def printable(text: str) -> str:
    """The text without control, format and surrogate characters; line breaks stay."""
    return "".join(c for c in text if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def one_line(text: str) -> str:
    """A name or a path: printable, on one line."""
    return printable(text.replace("\n", " "))


def show(text: str, stream: TextIO | None = None) -> None:
    """Print made printable, coloured on a terminal; long sentences are folded there at words."""
    stream = stream or sys.stdout
    shown = printable(text)
    if is_terminal(stream):
        shown = "\n".join(_folded(line, width_of(stream)) for line in shown.split("\n"))
    print(painted(shown) if has_colour(stream) else shown, file=stream)


def painted(text: str) -> str:
    """The text with its verdicts in colour."""

    def colour(match: re.Match[str]) -> str:
        return f"{COLOURS[match[0].strip()]}{match[0]}{PLAIN}"

    return VERDICT.sub(colour, text)


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at this stream."""
    return hasattr(stream, "isatty") and stream.isatty()


def has_colour(stream: TextIO) -> bool:
    """Whether the stream is a terminal that shows colours and whose owner wants them (NO_COLOR)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width_of(stream: TextIO) -> int | None:
    """Columns of the terminal; None where there is none."""
    return shutil.get_terminal_size().columns if is_terminal(stream) else None


def comparison_text(comparison: Comparison, explain: bool, width: int | None) -> str:
    """The table and the sentence; columns that a narrow terminal has no room for are left out, and it says so."""
    full = comparison.explain() if explain else str(comparison)
    if width is None:
        return full
    header, rows = comparison.rows()
    left_out: list[str] = []
    columns = list(range(len(header)))
    for name in SPARE:
        if _width(header, rows, columns) <= width:
            break
        columns.remove(header.index(name))
        left_out.append(name)
    if not left_out:
        return full
    over = max(0, _width(header, rows, columns) - width)
    room = max(8, max(len(row[0]) for row in rows) - over)
    names = [row[0] if len(row[0]) <= room else row[0][: room - 1] + "…" for row in rows]
    kept = [[name, *(row[j] for j in columns[1:])] for name, row in zip(names, rows, strict=True)]
    drawn = table([header[j] for j in columns], kept)
    rest = full.split("\n\n", 1)[1]
    return f"{drawn}\n(no room for {', '.join(left_out)}: --markdown has them)\n\n{rest}"


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


def _width(header: Sequence[str], rows: Sequence[Sequence[str]], columns: Sequence[int]) -> int:
    return sum(max(len(one_line(row[j])) for row in (header, *rows)) + 2 for j in columns) - 2


def _folded(line: str, width: int | None) -> str:
    """A sentence on as many lines as it needs, what follows indented; a row of a table stays as it is."""
    if width is None or len(line) <= width or "  " in line.strip():
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(line.strip(), width, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)
