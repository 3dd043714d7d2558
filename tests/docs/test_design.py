"""docs/design.md speaks of rooms that exist, and of all of them; its tables of files are those of the source."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "zhat"
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


def test_the_drawing_of_the_house_is_the_house():
    drawing = PAGE.split("```")[1]
    named = set(re.findall(r"\b\w+\.py\b", drawing)) | set(re.findall(r"^ +(\w+)/", drawing, re.MULTILINE))
    there = {p.name for p in SOURCE.parent.rglob("*.py")}
    rooms = {p.name for p in SOURCE.iterdir() if p.is_dir() and any(p.glob("*.py"))}
    inner = {p.name for p in (SOURCE / "sampling").iterdir() if p.is_dir() and any(p.glob("*.py"))}
    assert not {name for name in named if name.endswith(".py")} - there
    assert not (rooms | inner) - named
    assert not {p.name for p in SOURCE.glob("*.py")} - named


def test_the_tables_of_files_are_up_to_date():
    spec = importlib.util.spec_from_file_location("house", ROOT / "docs" / "house.py")
    house = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(house)
    assert house.renewed(PAGE) == PAGE, "docs/design.md is out of date: run `make docs` or `python docs/house.py`"


def test_every_module_begins_with_a_sentence():
    spec = importlib.util.spec_from_file_location("house", ROOT / "docs" / "house.py")
    house = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(house)
    assert [str(path) for path in SOURCE.rglob("*.py") if not house.sentence(path)] == []
