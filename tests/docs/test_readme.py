"""The README's example runs and prints what it says; its commands and tables are the real ones."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
from pathlib import Path

import jax
import numpy as np
import pytest

import zhat
from zhat.cli import main
from zhat.cli.commands.methods import BEGIN, END, markdown_table

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SECONDS = re.compile(r"\b[\d.]+ (?:s|min)\b")


@pytest.fixture
def precision():
    """The import of PyMC's translation to JAX switches JAX to 64 bits for the process, which other tests must not see."""
    before = jax.config.jax_enable_x64
    yield
    jax.config.update("jax_enable_x64", before)


def test_the_example_prints_what_the_readme_shows(capsys, precision):
    """Digit by digit, seconds aside: the seeds are given."""
    first, *others = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    space: dict[str, object] = {"__name__": "readme"}
    exec(compile(first, "README.md", "exec"), space)
    printed = capsys.readouterr().out
    assert SECONDS.sub("# s", printed) == SECONDS.sub("# s", shown), f"show this in the README:\n{printed}"
    fit = zhat.evidence(space["free"], zhat.Bridge(mode_check=False), seed=2, progress=False)  # any sampler's draws would do
    space["draws"] = {name: np.reshape(x, (4, 1000)) for name, x in fit.record.parameters.items()}
    for block in others:
        if "pymc_model" in block:
            if importlib.util.find_spec("pymc") is None:
                continue
            import pymc

            with pymc.Model() as space["pymc_model"]:
                pymc.Normal("y", pymc.Normal("mu", 0, 2), 1, observed=[0.3, 1.2])
        exec(compile(block, "README.md", "exec"), space)
    assert space["result"].status.is_ok


def test_the_readme_has_what_a_newcomer_needs_and_no_more():
    """Two commands, one picture, an example of ten lines, the table of methods."""
    example = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    assert len([line for line in example.splitlines() if line and not line.startswith("import ")]) <= 10
    assert README.count("![") == 1 and README.count("<!-- table of `zhat methods --markdown` -->") == 1
    assert len(README.splitlines()) < 100


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
