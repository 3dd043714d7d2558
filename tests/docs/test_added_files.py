"""What the pages for contributors add keeps the rules of the house: rooms, formatting, types."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.xdist_group("clone")


def test_rooms_and_citations(run):
    run("-m", "pytest", "tests/rooms/test_import_rule.py", "tests/test_citations.py")


def test_the_linter_and_the_formatter_have_nothing_to_say(run):
    run("-m", "ruff", "check", "src")
    run("-m", "ruff", "format", "--check", "src")
