"""For all tests: a worker must not run into the system's limit on memory maps.

Every program that JAX compiles for the CPU takes some tens of maps, and Linux allows a process 65,530 (`vm.max_map_count`). A
worker that had run a thousand tests had more, and died in the middle of one. So where there are many, programs are forgotten.
"""

from pathlib import Path

import jax

MAPS = Path("/proc/self/maps")
MANY = 30_000
EVERY = 20
_seen = 0


def pytest_runtest_logfinish(nodeid, location):
    """After every few tests, and so never within one."""
    global _seen
    _seen += 1
    if _seen % EVERY == 0 and MAPS.exists() and MAPS.read_bytes().count(b"\n") > MANY:
        jax.clear_caches()
