"""Digits of every method on small models are those of `digits.json` (`make golden`; three minutes).

A change that moves a digit on purpose writes the file anew (`python tests/golden/record.py --write --only NAME`) and says in
CHANGELOG.md, under *Numbers that changed*, which digits moved and why.
"""

from __future__ import annotations

import json
from functools import cache

import pytest
from golden.record import FILE, cells, moved

KNOWN = json.loads(FILE.read_text(encoding="utf-8"))

pytestmark = pytest.mark.slow


@cache
def runs():
    return dict(cells())


def test_every_cell_is_recorded():
    new, gone = set(runs()) - set(KNOWN), set(KNOWN) - set(runs())
    assert not new and not gone, (
        f"not recorded: {sorted(new)}; gone: {sorted(gone)}. Run: python tests/golden/record.py --write --only NAME"
    )


def of_one_model(name: str) -> pytest.MarkDecorator:
    """Cells of a model go to one worker, which compiles it once."""
    return pytest.mark.xdist_group(f"golden {name.rpartition('/')[2]}")


@pytest.mark.parametrize("name", [pytest.param(name, marks=of_one_model(name)) for name in KNOWN])
def test_digits_are_kept(name):
    changes = moved(name, KNOWN[name], runs()[name]())
    assert not changes, "\n".join(changes)
