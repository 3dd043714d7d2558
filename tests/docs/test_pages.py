"""Every block of code in the documentation runs, prints what the page shows, and its commands succeed.

The blocks of a page run one after the other in one namespace and one empty folder. Numbers may differ from machine to machine;
the words around them may not.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
from pathlib import Path

import jax
import pytest

import zhat
from zhat.cli import main
from zhat.methods._base import registry

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Pages whose code is run by tests of their own.
ELSEWHERE = {f"{page}.md": f"test_{page}.py" for page in ("add_a_method", "add_a_kernel", "add_a_plot", "add_an_adapter")}
# Pages whose code needs machines that a test has not; tests/run/distribution makes the same calls on a small cluster of its own.
ON_A_CLUSTER = {"cluster.md"}
PAGES = sorted(p for p in DOCS.rglob("*.md") if p.name not in ELSEWHERE and "generated" not in p.parts)
# Libraries of extras: a block that imports one which is not installed is not run.
OPTIONAL = re.compile(r"^(?:import|from) (pymc|bambi|formulaic|pandas|bilby|bridgestan)\b", re.MULTILINE)
BLOCK = re.compile(r"^```(python|text|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?:nan)?")


def words_of(text: str) -> list[str]:
    """The text without its numbers; how wide a column is depends on them."""
    return NUMBER.sub("#", text).replace("-", "").split()


def test_there_are_pages_and_code_on_them():
    kinds = [kind for page in PAGES for kind, _ in BLOCK.findall(page.read_text(encoding="utf-8"))]
    assert kinds.count("python") > 10 and kinds.count("console") >= 3


@pytest.fixture
def precision():
    """The import of PyMC's translation to JAX switches JAX to 64 bits for the process, which other tests must not see."""
    before = jax.config.jax_enable_x64
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.filterwarnings("ignore:For backward compatibility, 'str' dtypes")  # of pandas 3, called by Bambi
@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch, precision):
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {"__name__": "page"}
    printed, missing = "", []
    for kind, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "python":
            missing = [name for name in OPTIONAL.findall(code) if importlib.util.find_spec(name) is None]
        if missing:
            continue
        if kind == "python" and page.name in ON_A_CLUSTER:
            compile(code, page.name, "exec")
            assert all(hasattr(zhat, name) for name in re.findall(r"\bzhat\.(\w+)", code))
        elif kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, page.name, "exec"), space)
            printed = out.getvalue()
        elif kind == "text":
            assert words_of(printed) == words_of(code), f"{page.name} shows another output:\n{printed}"
        else:
            for line in code.splitlines():
                program, *words = shlex.split(line.removeprefix("$ "))
                assert program == "zhat"
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    assert main(words) == 0, line


def test_the_reference_has_every_public_name():
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    assert [name for name in zhat.__all__ if not re.search(rf"\b{name}\b", text)] == []
    # Plots are taken from the module, all of them.
    assert ".. automodule:: zhat.plots\n   :members:\n   :imported-members:\n" in text


def test_every_method_is_in_the_decision_table_or_warned_of():
    text = (DOCS / "howto" / "choose_a_method.md").read_text(encoding="utf-8")
    missing = [name for name in registry() if f"`{name}`" not in text]
    assert set(missing) <= {"prior-mean"}, f"give {missing} a row in docs/howto/choose_a_method.md, or a warning"


def test_every_command_is_on_its_page():
    from zhat.cli.program import COMMANDS

    text = (DOCS / "howto" / "command_line.md").read_text(encoding="utf-8")
    names = [command.__name__.rsplit(".", 1)[1] for command in COMMANDS]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_the_page_of_plots_names_plots_that_exist():
    text = (DOCS / "howto" / "pictures.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert len(named) >= 12 and named <= set(zhat.plots.__all__)


def test_every_schema_is_on_its_page():
    from zhat.cli.commands.schema import SCHEMAS

    text = (DOCS / "json.md").read_text(encoding="utf-8")
    assert [name for name in SCHEMAS.values() if f"schemas/{name}.json" not in text] == []


def test_exit_codes_are_those_of_the_program():
    from zhat.cli.exits import Exit

    text = (DOCS / "howto" / "command_line.md").read_text(encoding="utf-8")
    shown = {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    assert shown == {int(code) for code in Exit}
