"""Text for a terminal: aligned tables, colour where the terminal has it, and no control characters."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import TextIO

from zhat.comparing.comparison import Comparison

GREEN, YELLOW, RED = "\x1b[32m", "\x1b[33m", "\x1b[31m"
PLAIN = "\x1b[0m"
COLOURS = {"ok": GREEN, "suspect": YELLOW, "undecided": YELLOW, "failed": RED}
# A verdict stands at the end of a line, two spaces after the rest, or begins one; elsewhere the word may be a model's name.
VERDICT = re.compile(r"(?<=  )(ok|suspect|failed)(?= \([\w, -]+\)?$|$)|^(?:  )?(suspect|failed|undecided)(?=: )", re.MULTILINE)

# Columns that a narrow terminal omits, the first first.
SPARE = ("prior", "95 % interval", "method", "error")
# Width of a folded last column, and letters of a shortened name.
LAST = 24
SHORTEST_NAME = 8
# A space at which a line is not folded; unprintable, so no shown text contains it.
GLUE = "\x1f"


def printable(text: str) -> str:
    """The text without control, format and surrogate characters; line breaks stay."""
    return "".join(c for c in text if c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))


def one_line(text: str) -> str:
    """A name or a path: printable, on one line."""
    return printable(text.replace("\n", " "))


def show(text: str, stream: TextIO | None = None) -> None:
    """Print without control characters; on a terminal coloured, and folded at words."""
    stream = stream or sys.stdout
    shown = printable(text)
    if is_terminal(stream):
        shown = "\n".join(_folded(line, width_of(stream)) for line in shown.split("\n"))
    print(painted(shown) if has_colour(stream) else shown, file=stream)


def say(sentence: str) -> None:
    """Print a sentence to stderr, beside the result."""
    show(sentence, sys.stderr)


def painted(text: str) -> str:
    """The text with its verdicts in colour."""

    def colour(match: re.Match[str]) -> str:
        return f"{COLOURS[match[0].strip()]}{match[0]}{PLAIN}"

    return VERDICT.sub(colour, text)


def is_terminal(stream: TextIO) -> bool:
    """Whether this stream is a terminal."""
    return hasattr(stream, "isatty") and stream.isatty()


def has_colour(stream: TextIO) -> bool:
    """Whether the stream is a terminal with colours that NO_COLOR does not switch off."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width_of(stream: TextIO) -> int | None:
    """Columns of the terminal; None where there is none."""
    return shutil.get_terminal_size().columns if is_terminal(stream) else None


def comparison_text(comparison: Comparison, explain: bool, width: int | None) -> str:
    """The table and the sentence; a narrow terminal omits columns, and a note names them."""
    full = comparison.explain() if explain else str(comparison)
    if width is None:
        return full
    header, rows = comparison.rows()
    rest = full.split("\n\n", 1)[1]
    return f"{table(header, rows, width, SPARE)}\n\n{rest}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None, spare: Sequence[str] = ()) -> str:
    """Columns two spaces apart, within `width` where one is given.

    A table that is too wide omits the columns named in `spare`, the first first, and a note names them; then names in the first
    column are shortened. The last column is folded.
    """
    cells = [[one_line(cell) for cell in row] for row in (header, *rows)]
    if width is None:
        return "\n".join(_aligned(cells, None))
    left_out: list[str] = []
    for name in spare:
        if _least(cells) <= width:
            break
        if name not in cells[0]:
            continue
        column = cells[0].index(name)
        cells = [[cell for j, cell in enumerate(row) if j != column] for row in cells]
        left_out.append(name)
    over = _least(cells) - width
    if over > 0:
        room = max(SHORTEST_NAME, max(len(row[0]) for row in cells) - over)
        cells = [[_cut(row[0], room), *row[1:]] for row in cells]
    note = f"(no room for {', '.join(left_out)}: a wider terminal shows all)" if left_out else ""
    return "\n".join([*_aligned(cells, width), *textwrap.wrap(note, width)])


def _aligned(cells: Sequence[Sequence[str]], width: int | None) -> list[str]:
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]) - 1)]
    indent = sum(widths) + 2 * len(widths)
    lines = []
    for row in cells:
        last = [row[-1]] if width is None else textwrap.wrap(row[-1], max(LAST, width - indent), break_on_hyphens=False) or [""]
        start = "".join(f"{cell:<{w}}  " for cell, w in zip(row, widths, strict=False))
        lines += [(start + last[0]).rstrip(), *(" " * indent + rest for rest in last[1:])]
    return lines


def _least(cells: Sequence[Sequence[str]]) -> int:
    """Width of the table with its last column folded."""
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    return sum(widths[:-1]) + 2 * len(widths[:-1]) + min(widths[-1], LAST)


def _cut(name: str, room: int) -> str:
    return name if len(name) <= room else name[: room - 1] + "…"


def _folded(line: str, width: int | None) -> str:
    """A line folded to the width, continuation indented; short parts between double spaces stay whole."""
    if width is None or len(line) <= width:
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    parts = re.split(r"(  +)", line.strip())
    if len(parts) > 1:
        parts = [part if part.isspace() or len(part) > width // 2 else part.replace(" ", GLUE) for part in parts]
    glued = "".join(parts).replace(" ± ", f"{GLUE}±{GLUE}")
    folded = textwrap.fill(glued, width, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)
    return folded.replace(GLUE, " ")
