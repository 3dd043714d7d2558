"""A number and its error in print: both to the second figure of the error, so that neither says more than is known."""

from __future__ import annotations

import math

# Decimals at least and at most, and where no error says how many.
FEWEST, MOST, UNKNOWN = 2, 6, 3


def decimals(error: float | None) -> int:
    """Decimals that show an error to about two figures."""
    if error is None or not math.isfinite(error) or error < 0.0:
        return UNKNOWN
    return MOST if error == 0.0 else min(MOST, max(FEWEST, 1 - math.floor(math.log10(error))))


def shown_error(error: float | None) -> str:
    """The error alone; one that would be rounded to nothing is not shown as nothing, and one that is missing as ``?``."""
    if error is None or not math.isfinite(error):
        return "?"
    digits = decimals(error)
    if error == 0.0:
        return "0"
    return f"{error:.{digits}f}" if error >= 0.5 * 10.0**-digits else f"{error:.1g}"


def with_error(value: float, error: float | None) -> str:
    """``-257.2323 ± 0.0026``; with ``± ?`` where there is no error."""
    return f"{value:.{decimals(error)}f} ± {shown_error(error)}"
