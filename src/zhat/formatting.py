"""A number with its standard error in print: both to the second significant figure of the standard error."""

from __future__ import annotations

import math

# Fewest and most decimals, and how many without a standard error.
FEWEST, MOST, UNKNOWN = 2, 6, 3


def decimals(error: float | None) -> int:
    """Decimals that show a standard error to about two figures."""
    if error is None or not math.isfinite(error) or error < 0.0:
        return UNKNOWN
    return MOST if error == 0.0 else min(MOST, max(FEWEST, 1 - math.floor(math.log10(error))))


def shown_error(error: float | None) -> str:
    """The standard error alone: ``?`` if it is missing, and never rounded to zero unless it is zero."""
    if error is None or not math.isfinite(error):
        return "?"
    digits = decimals(error)
    if error == 0.0:
        return "0"
    return f"{error:.{digits}f}" if error >= 0.5 * 10.0**-digits else f"{error:.1g}"


def with_error(value: float, error: float | None) -> str:
    """``-257.2323 ± 0.0026``; with ``± ?`` where there is no standard error."""
    return f"{value:.{decimals(error)}f} ± {shown_error(error)}"


def one_line(text: str) -> str:
    """A name or a sentence of a file on one line, without control characters: a line break in it could pass for a line of ours."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split()) if not text.isprintable() else text
