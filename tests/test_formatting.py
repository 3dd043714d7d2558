"""A number with its standard error in print."""

from __future__ import annotations

import math

import pytest

from zhat.formatting import decimals, one_line, shown_error, with_error


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (-257.23231, 0.0026, "-257.2323 ± 0.0026"),
        (-7.9633818, 0.0123, "-7.963 ± 0.012"),
        (-7.9633818, 2.5, "-7.96 ± 2.50"),
        (1e6, 1234.5, "1000000.00 ± 1234.50"),
        (-7.9633818, 0.0, "-7.963382 ± 0"),
        (-7.9633818, 3e-9, "-7.963382 ± 3e-09"),
        (-7.9633818, None, "-7.963 ± ?"),
        (-7.9633818, math.nan, "-7.963 ± ?"),
    ],
)
def test_both_are_shown_to_the_second_figure_of_the_standard_error(value, error, shown):
    assert with_error(value, error) == shown


@pytest.mark.parametrize("error", [0.11, 0.012, 0.0013, 0.00014])
def test_two_figures_of_the_standard_error(error):
    assert float(shown_error(error)) == pytest.approx(error, rel=1e-12)


def test_decimals_stay_within_their_limits():
    assert [decimals(e) for e in (1e9, 1.0, 0.1, 1e-3, 1e-12)] == [2, 2, 2, 4, 6]
    assert decimals(None) == decimals(math.inf) == decimals(-1.0) == 3


def test_names_of_files_stay_on_one_line():
    assert one_line("a\nok: fine\x1b[31m\u202e") == "a ok: fine [31m"
    assert one_line("as  it is") == "as  it is"
