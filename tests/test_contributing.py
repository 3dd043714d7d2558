"""CONTRIBUTING.md, the Makefile, the CI file and the citation file say the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import zhat

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CI = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def test_commands_of_the_page_are_in_the_makefile():
    named = set(re.findall(r"`make ([a-z-]+)", PAGE)) | set(re.findall(r"^\s*make ([a-z-]+)$", PAGE, re.MULTILINE))
    assert {"quick", "test", "golden", "calibrate", "traps"} <= named <= TARGETS


def test_every_target_is_in_help_and_phony():
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert set(phony.split()) == TARGETS
    told = set(re.findall(r"make ([a-z-]+)", MAKEFILE.partition("help:")[2].partition("quick:")[0]))
    assert TARGETS - {"help"} <= told


def test_ci_calls_make():
    called = set(re.findall(r"run: make ([a-z-]+)", CI)) | set(re.findall(r"target: \[(.*)\]", CI)[0].split(", "))
    assert called == {"lint", "test", "contract", "slow", "golden"} and called <= TARGETS
    assert '["3.11", "3.12", "3.13"]' in CI


def test_files_that_the_page_names_exist():
    named = set(re.findall(r"`((?:src|tests|docs|calibration)/[\w/.]+)`", PAGE)) | set(re.findall(r"\]\((docs/[\w/.]+)\)", PAGE))
    made_up = {name for name in named if "NAME" in name}
    assert len(named) > 15
    assert [name for name in sorted(named - made_up) if not (ROOT / name).exists()] == []


def test_tests_that_the_page_runs_exist():
    for path in re.findall(r"pytest (tests/[\w/.]+)", PAGE):
        assert (ROOT / path).exists(), path


def test_slow_tests_are_run_by_a_target():
    """What `make test` leaves out, `make slow`, `make contract` and `make golden` run."""
    assert "-m slow --ignore=tests/contract --ignore=tests/golden" in MAKEFILE
    assert "$(PYTEST) tests/contract" in MAKEFILE and "$(PYTEST) tests/golden" in MAKEFILE


def test_the_citation_file_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^version: {re.escape(zhat.__version__)}$", text, re.MULTILINE)
    assert 'name: "The zhat contributors"' in text and "license: Apache-2.0" in text


@pytest.mark.parametrize("file", [".editorconfig", ".pre-commit-config.yaml"])
def test_hooks_fetch_nothing(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert "http" not in text
    assert file != ".pre-commit-config.yaml" or text.count("repo: local") == text.count("repo:") == 1
