"""docs/add_a_method.md, followed to the letter in a copy of the repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from zhat import zoo

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "add_a_method.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """The repository with the page's file added where the page says."""
    root = tmp_path_factory.mktemp("clone")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", root / "src", ignore=ignore)
    shutil.copytree(ROOT / "tests", root / "tests", ignore=ignore)
    shutil.copytree(ROOT / "docs", root / "docs")
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, root / name)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (place,) = set(re.findall(r"`(src/zhat/methods/\w+\.py)`", PAGE))
    assert not (ROOT / place).exists()
    (root / place).write_text(code, encoding="utf-8")
    return root


def run(root: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    done = subprocess.run([sys.executable, "-m", *words], cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_command_line_lists_it(copy):
    lines = run(copy, "zhat.cli", "methods").splitlines()
    assert any(line.startswith("batch-mean ") for line in lines)


def test_the_documentation_tables_take_it(copy):
    pages = ("README.md", "docs/methods.md")
    run(copy, "zhat.cli", "methods", "--into", *pages)
    for page in pages:
        assert "| `BatchMean` | `batch-mean` |" in (copy / page).read_text(encoding="utf-8")


def test_it_estimates_and_its_error_is_honest(copy):
    (command,) = re.findall(r"^zhat (estimate .*)$", PAGE, re.MULTILINE)
    result = json.loads(run(copy, "zhat.cli", *command.split(), "--json", "--quiet"))["evidence"]
    assert result["settings"] == {"n_batches": 50, "n_draws": 2000}
    assert result["status"]["level"] == "ok"
    assert abs(result["log_evidence"] - zoo.example("E1").log_evidence) < 4 * result["log_evidence_se"]


def test_the_contract_tests_find_it(copy):
    found = run(copy, "pytest", "--collect-only", "tests/contract", "-k", "batch-mean")
    assert len(re.findall(r"^tests/contract/.*batch-mean", found, re.MULTILINE)) > 10


def test_it_keeps_the_rules_of_the_house(copy):
    run(copy, "pytest", "tests/rooms", "tests/test_citations.py")
    run(copy, "ruff", "check", "src/zhat/methods/batch_mean.py")
