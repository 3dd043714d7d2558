"""For all tests: which of them share a worker, and how a worker stays within the system's limit on memory maps.

With `--dist loadgroup` the tests of a group run in one worker. Tests of one file share fixtures and models, so a file is a group
unless it says otherwise (`pytest.mark.xdist_group`): a model is traced and compiled by one worker and not by all of them. Groups that
take long start first, so that no worker is left with one at the end.

Every program that JAX compiles for the CPU takes some tens of memory maps, and Linux allows a process 65,530
(`vm.max_map_count`). A worker that has run a thousand tests has more. So where there are many, compiled programs are dropped
between two tests.
"""

import os
import sys
from pathlib import Path

import jax
import pytest

# PyTensor imports setuptools, whose older versions refuse to replace a `distutils` that another library has imported before.
if sys.version_info < (3, 12):
    os.environ.setdefault("SETUPTOOLS_USE_DISTUTILS", "stdlib")

ROOT = Path(__file__).parents[1]
# Files and folders whose groups take longest, in their order.
FIRST = (
    "tests/run",
    "tests/missed_mass",
    "tests/contract",
    "tests/docs",
    "tests/studies",
    "tests/browser",
    "tests/cli",
    "tests/methods",
)

MAPS = Path("/proc/self/maps")
MANY = 30_000
EVERY = 20
_seen = 0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """A group for each file, and the long ones first (a stable order, the same in every worker)."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.relative_to(ROOT).as_posix()))
    items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    path = item.path.relative_to(ROOT).as_posix()
    return next((i for i, start in enumerate(FIRST) if path.startswith(start)), len(FIRST))


def pytest_runtest_logfinish(nodeid, location):
    """After every few tests, and so never within one."""
    global _seen
    _seen += 1
    if _seen % EVERY == 0 and MAPS.exists() and MAPS.read_bytes().count(b"\n") > MANY:
        jax.clear_caches()
