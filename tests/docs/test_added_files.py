"""What the pages for contributors add: how many places it touches, and that it keeps the rules of the house."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLOTS = Path("src/zhat/plots.py")

pytestmark = pytest.mark.xdist_group("clone")


def test_one_place_each_and_two_for_a_plot(clone, pages, place_of):
    """Files of the package that differ between the repository and the copy in which all pages were followed."""
    files = {path.relative_to(clone) for path in (clone / "src").rglob("*.py")}
    touched = {p for p in files if not (ROOT / p).exists() or (ROOT / p).read_bytes() != (clone / p).read_bytes()}
    assert touched == {place_of(page) for page in pages} | {PLOTS}
    assert {page: place_of(page).parent.as_posix() for page in pages} == pages


def test_rooms_and_citations(run):
    run("-m", "pytest", "tests/rooms/test_import_rule.py", "tests/rooms/test_house.py", "tests/test_citations.py")


def test_the_linter_and_the_formatter_have_nothing_to_say(run):
    run("-m", "ruff", "check", "src")
    run("-m", "ruff", "format", "--check", "src")
