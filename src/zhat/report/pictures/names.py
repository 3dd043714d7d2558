"""Names of models as labels of a picture: without formulas, and cut to a length that leaves room for the picture."""

from __future__ import annotations

LONGEST = 36


def label(name: str) -> str:
    """The name as matplotlib prints it literally, cut where it is too long."""
    printable = "".join(c for c in name if c.isprintable())
    short = printable if len(printable) <= LONGEST else printable[: LONGEST - 1] + "…"
    return short.replace("$", r"\$")
