"""`zhat methods`: every method of the registry, for people and for the documentation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zhat.cli import main
from zhat.cli.commands.methods import BEGIN, BEGIN_CODES, END, markdown_codes, markdown_table
from zhat.cli.terminal import one_line, printable, table
from zhat.methods._base import registry
from zhat.results.codes import TABLE


def test_every_method_has_a_line_with_its_needs_and_use(capsys):
    assert main(["methods"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(registry())
    for line, method in zip(lines[1:], registry().values(), strict=True):
        assert line.endswith(method.when)
        assert all(need.value in line for need in method.needs)
    starts = {line.index(method.when) for line, method in zip(lines[1:], registry().values(), strict=True)}
    assert starts == {lines[0].index("use it when")}


def test_markdown_is_a_table_of_the_same(capsys):
    assert main(["methods", "--markdown"]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[1] == "|---|---|---|---|"
    assert [line.split(" | ")[1].strip("`") for line in lines[2:]] == list(registry())


def test_the_table_goes_between_the_markers_and_stays_when_put_again(tmp_path):
    file = tmp_path / "page.md"
    file.write_text(f"# Before\n\n{BEGIN}\nold\n{END}\n\nAfter\n")
    for _ in range(2):
        assert main(["methods", "--into", str(file)]) == 0
        assert file.read_text() == f"# Before\n\n{BEGIN}\n\n{markdown_table()}\n\n{END}\n\nAfter\n"


def test_a_file_without_markers_is_left_alone(tmp_path, capsys):
    file = tmp_path / "page.md"
    file.write_text("mine")
    assert main(["methods", "--into", str(file)]) == 2
    assert "is written between two lines" in capsys.readouterr().err
    assert file.read_text() == "mine"


def test_codes_of_verdicts_are_listed_with_what_to_do(capsys, tmp_path):
    assert main(["methods", "--codes"]) == 0
    out = capsys.readouterr().out
    assert all(code.name in out for code in TABLE)
    assert main(["methods", "--codes", "--json"]) == 0
    assert [code["name"] for code in json.loads(capsys.readouterr().out)["codes"]] == [code.name for code in TABLE]
    file = tmp_path / "page.md"
    file.write_text(f"a\n{BEGIN_CODES}\n{END}\nb\n")
    assert main(["methods", "--codes", "--into", str(file)]) == 0
    assert file.read_text() == f"a\n{BEGIN_CODES}\n\n{markdown_codes()}\n\n{END}\nb\n"


def test_the_table_of_codes_on_the_page_about_trust_is_up_to_date():
    page = (Path(__file__).parents[3] / "docs" / "trust.md").read_text(encoding="utf-8")
    assert page.count(BEGIN_CODES) == page.count(END) == 1
    shown = page.split(BEGIN_CODES)[1].split(END)[0].strip()
    assert shown == markdown_codes(), "docs/trust.md is out of date: run `make docs`"


def test_columns_line_up_and_the_last_is_folded():
    text = table(("a", "b"), [("long name", "one two three four five six seven"), ("x", "y")], width=35)
    assert text.splitlines() == [
        "a          b",
        "long name  one two three four five",
        "           six seven",
        "x          y",
    ]


@pytest.mark.parametrize("text", ["\x1b[2Ja", "a\x07", "a\x9b", "\u202ea", "a\r"])
def test_nothing_is_left_that_a_terminal_would_obey(text):
    assert printable(text) in ("a", "[2Ja")
    assert one_line(f"{text}\nb").endswith("a b")
