"""docs/add_a_method.md, followed to the letter in a copy of the repository."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from zhat import zoo

PAGE = (Path(__file__).parents[2] / "docs" / "add_a_method.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.xdist_group("clone")


def test_the_command_line_and_the_tables_of_the_documentation_take_it(run, clone):
    pages = ("README.md", "docs/methods.md")
    run("-m", "zhat.cli", "methods", "--into", *pages)
    for page in pages:
        assert "| `BatchMean` | `batch-mean` |" in (clone / page).read_text(encoding="utf-8")


def test_it_estimates_and_its_error_is_honest(run):
    (command,) = re.findall(r"^\.venv/bin/zhat (estimate .*)$", PAGE, re.MULTILINE)
    result = json.loads(run("-m", "zhat.cli", *command.split(), "--json", "--quiet"))["evidence"]
    assert result["settings"] == {"mode_check": True, "n_batches": 50, "n_draws": 2000}
    assert result["status"]["level"] == "ok"
    assert abs(result["log_evidence"] - zoo.example("E1").log_evidence) < 4 * result["log_evidence_se"]


def test_the_contract_tests_find_it(run):
    found = run("-m", "pytest", "--collect-only", "tests/contract", "-k", "batch-mean")
    assert len(re.findall(r"^tests/contract/.*batch-mean", found, re.MULTILINE)) > 10
