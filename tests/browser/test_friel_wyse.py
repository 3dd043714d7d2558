"""The review's page as a browser shows it: the one in the documentation, at desktop and phone width."""

from __future__ import annotations

from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "static" / "friel_wyse.html"


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_sticks_out_and_nothing_is_loaded(browser, width):
    seen = browser.look(PAGE, width)
    assert seen.overflowing == []
    assert seen.requests == [PAGE.resolve().as_uri()]
    assert seen.complaints == []
    for words in ("Table 1", "Table 2", "Table 3", "Table 4", "Figure 1", "Reversible jump", "Misprints"):
        assert words in seen.text
