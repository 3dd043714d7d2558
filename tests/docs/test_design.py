"""docs/design.md speaks of rooms that exist, and of all of them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "zhat"


def test_the_drawing_of_the_house_is_the_house():
    drawing = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").split("```")[1]
    named = set(re.findall(r"\b\w+\.py\b", drawing)) | set(re.findall(r"^  (\w+)/", drawing, re.MULTILINE))
    there = {p.name for p in SOURCE.parent.rglob("*.py")}
    rooms = {p.name for p in SOURCE.iterdir() if p.is_dir() and any(p.glob("*.py"))}
    assert not {name for name in named if name.endswith(".py")} - there
    assert not rooms - named
    assert not {p.name for p in SOURCE.glob("*.py")} - named
