"""The pages that tell contributors how to add something, followed in one copy of the repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
# Pages whose first block is a new file, by the folder in which the page puts it.
PAGES = {
    "add_a_method.md": "src/zhat/methods",
    "add_a_plot.md": "src/zhat/report/pictures",
    "add_a_kernel.md": "src/zhat/sampling/kernels",
    "add_an_adapter.md": "src/zhat/adapters",
}


def blocks(page: str) -> list[str]:
    """The Python code of a page."""
    return BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))


def place(page: str) -> Path:
    """Where the page puts its new file: the one path in that folder which does not exist yet."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    named = set(re.findall(rf"`({PAGES[page]}/\w+\.py)`", text))
    (new,) = [Path(name) for name in named if not (ROOT / name).exists()]
    return new


@pytest.fixture(scope="session")
def clone(tmp_path_factory) -> Path:
    """A copy of the repository with what all of these pages add, where they say; one worker makes it (`xdist_group`)."""
    root = tmp_path_factory.mktemp("clone")
    for folder in ("src", "tests", "docs"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__", "generated"))
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, root / name)
    for page in PAGES:
        (root / place(page)).write_text(blocks(page)[0], encoding="utf-8")
    plots = root / "src/zhat/plots.py"
    lines = plots.read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("from "))
    lines.insert(at, blocks("add_a_plot.md")[1].strip())
    plots.write_text("\n".join(lines) + "\n", encoding="utf-8")
    # As `make format` would: imports in order.
    subprocess.run([sys.executable, "-m", "ruff", "check", "--fix", "--quiet", "src/zhat/plots.py"], cwd=root, check=True)
    return root


@pytest.fixture(scope="session")
def run(clone) -> Callable[..., str]:
    """Run Python in the copy: `run("-m", "pytest", ...)`, `run("-c", code)`; what it prints."""

    def run(*words: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(clone / "src")}
        done = subprocess.run([sys.executable, *words], cwd=clone, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def pages() -> dict[str, str]:
    """The pages, and the folder in which each puts its new file."""
    return PAGES


@pytest.fixture
def code_of() -> Callable[[str], list[str]]:
    """The function that gives the Python code of a page."""
    return blocks


@pytest.fixture
def place_of() -> Callable[[str], Path]:
    """The function that gives the path of a page's new file."""
    return place
