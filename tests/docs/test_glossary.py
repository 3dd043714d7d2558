"""docs/glossary.md: a term stands once, and the names it gives are names of the code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| ")]
TERMS = [row for row in ROWS if row[0] != "term"]


def test_a_term_stands_once_and_is_explained_in_a_sentence_or_two():
    terms = [row[0] for row in TERMS]
    assert len(terms) == len(set(terms)) > 50
    assert [row[0] for row in TERMS if not row[1].endswith(".")] == []


def test_names_are_names_of_the_code():
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "zhat").rglob("*.py"))
    names = {name for row in TERMS for name in re.findall(r"`([\w.]+)`", row[2])}
    assert [name for name in sorted(names) if not re.search(rf"\b{re.escape(name)}\b", source)] == []


def test_the_index_links_to_it():
    assert "glossary" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
