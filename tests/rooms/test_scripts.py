"""Scripts outside the package (benchmarks, calibration, docs) import what exists: no test runs them, so a rename would break them unseen."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(path for folder in ("benchmarks", "calibration", "docs") for path in (ROOT / folder).glob("*.py"))


def exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a package on the way
        return False


def missing(source: str) -> list[str]:
    """What a script imports of zhat that is not there."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "zhat":
            if not exists(node.module):
                found.append(node.module)
                continue
            module = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name) and not exists(f"{node.module}.{alias.name}"):
                    found.append(f"{node.module}.{alias.name}")
    return found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_script_imports_is_there(script):
    assert missing(script.read_text(encoding="utf-8")) == []


def test_what_is_not_there_is_seen():
    assert missing("from zhat.methods.smc import SMC, Nothing") == ["zhat.methods.smc.Nothing"]
    assert missing("from zhat.nowhere import SMC") == ["zhat.nowhere"]
