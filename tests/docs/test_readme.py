"""The README's example runs and prints what it says; its commands and tables are the real ones."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

from zhat.cli import main
from zhat.cli.commands.methods import BEGIN, END, markdown_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ESTIMATE = re.compile(r"log Z = (-?[\d.]+) ± ([\d.]+)  (\S+)  .*  (\S+)$", re.MULTILINE)


def test_the_example_prints_what_the_readme_shows(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    out = capsys.readouterr().out
    assert "the data favour free mean over zero mean" in out and "strong on the scale of Jeffreys" in out
    printed, shown = (ESTIMATE.findall(text) for text in (out, README))
    assert len(printed) == len(shown) == 2
    for (value, error, *words), (value_shown, error_shown, *words_shown) in zip(printed, shown, strict=True):
        # Another machine or JAX may round differently, and then draw differently: equal within the errors.
        assert abs(float(value) - float(value_shown)) < 5 * (float(error) + float(error_shown))
        assert words == words_shown, "the method or its verdict has changed: show the new output in the README"


def test_the_commands_of_the_readme_are_in_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"make (\w+)", README))
    assert {"demo", "test"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", ["README.md", "docs/methods.md"])
def test_tables_of_methods_are_up_to_date(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    shown = text.split(BEGIN)[1].split(END)[0].strip()
    assert shown == markdown_table(), f"{page} is out of date: run `make docs`"


def test_its_command_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (line,) = re.findall(r"^\$ zhat (.*)$", README, re.MULTILINE)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert main(shlex.split(line)) == 0
    assert (tmp_path / "pima.html").is_file()


def test_links_and_pictures_are_there():
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert (ROOT / target).exists(), target


def test_ratios_to_peers_are_the_measured_ones():
    """A ratio is the last cell of a row of the results."""
    results = ROOT / "benchmarks" / "results"
    smc, nested = ((results / f"{name}_against_peers.md").read_text(encoding="utf-8") for name in ("smc", "nested"))
    measured = [float(row.split("|")[6]) for row in smc.splitlines() if re.match(r"\| (BlackJAX|particles)", row)]
    measured += [float(row.split("|")[7]) for row in nested.splitlines() if re.match(r"\| (BlackJAX|dynesty|UltraNest)", row)]
    known = {f"{value:{form}}" for value in measured for form in (".2g", ".3g", ".0f", ".1f")}
    rows = [row for row in README.split("## Beside others")[1].splitlines() if row.startswith("|")][2:]
    shown = [ratio.strip() for row in rows for ratio in row.split("|")[-2].split("/")]
    assert len(shown) == 24 and set(shown) <= known
