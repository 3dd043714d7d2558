"""How much memory a run will need: said with its plan, and refused where the machine does not have it.

A run holds its draws or particles with their parameters, and copies while it works: for each of them and each number
of the record (two for each dimension, and three) `COPIES` times eight bytes at its peak, or `POPULATION_COPIES` where a population
moves. Measured on a normal model in ten dimensions with 200,000 to 1,000,000 of them: 2.1 (prior mean), 2.4 (importance), 9.5 (SMC), 9.6 (AIS).
"""

from __future__ import annotations

import os

from zhat.errors import BadInput
from zhat.methods._base import Method
from zhat.model.model import Model

COPIES, POPULATION_COPIES = 2.5, 10.0
# Methods that keep draws and move nothing.
OF_DRAWS = ("prior-mean", "importance")
# Bytes from which on the plan says them.
WORTH_SAYING = 2**30


def memory_of(model: Model, method: Method) -> int:
    """Bytes that a run of this method at its sizes will need, beside data and compiled programs; 0 where it has no size."""
    first = method.sizes[0].value(method) if method.sizes else 0
    size = first if isinstance(first, int) else first.n_chains * first.n_kept
    copies = COPIES if method.name in OF_DRAWS else POPULATION_COPIES
    return int(size * copies * 8 * (2 * model.n_dimensions + 3))


def machine_memory() -> int | None:
    """Bytes of this machine; None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def check_memory(model: Model, method: Method) -> str:
    """The memory in words where it is large, else nothing; refused where the machine has less."""
    needed, there = memory_of(model, method), machine_memory()
    if there is not None and needed > there:
        size = method.sizes[0].name
        raise BadInput(
            f"{type(method).__name__}({size}=...) on {model.name!r} ({model.n_dimensions} dimensions) needs about {needed / 1e9:,.0f} GB of "
            f"memory and this machine has {there / 1e9:,.0f} GB: give a smaller {size} and repeats=..., of which only the first one's "
            "record is kept."
        )
    return f", about {needed / 1e9:.1f} GB of memory" if needed >= WORTH_SAYING else ""
