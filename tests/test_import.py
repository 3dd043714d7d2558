"""`import zhat` imports no heavy library that a first answer does not use."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import zhat

HEAVY = [
    "scipy.stats",
    "scipy.optimize",
    "scipy.integrate",
    "scipy.interpolate",
    "matplotlib",
    "pandas",
    "arviz_base",
    "pymc",
    "bambi",
    "bilby",
]
HEAVY += ["formulaic", "flowjax", "distributed", "dask"]


def test_heavy_libraries_are_imported_when_they_are_used():
    program = f"import sys, zhat; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_names_that_are_imported_when_used_are_those_that_a_type_checker_sees():
    tree = ast.parse(Path(zhat.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert {name: room for name, room in seen.items() if room != "zhat"} == zhat._LATER
    assert set(zhat.__all__) <= set(dir(zhat)) and all(hasattr(zhat, name) for name in zhat.__all__)


def test_a_name_that_does_not_exist_is_said_so():
    with pytest.raises(AttributeError, match="'zhat' has no attribute 'evidnce'"):
        _ = zhat.evidnce
