"""One thread for the linear algebra of NumPy and SciPy while a run computes, and the user's own threads inside their likelihood.

The matrices of a run are small: dimensions by dimensions, many times. A second thread gains nothing there, and threads that wait for each other
spin: on two busy cores importance sampling in fifty dimensions took 47 CPU seconds with two threads and 1.8 with one. With one thread last
digits also do not depend on the number of cores. A black box may multiply large matrices: it has the threads that were set before the run.

The number of threads is one of the whole process, so runs in several threads share it: the first one sets it, the last one restores it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any


class _Libraries:
    """The libraries of linear algebra, the threads that each had, and how many runs want one thread."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.n_runs = 0
        self.had: list[tuple[Any, int]] = []
        self.found: tuple[int, list[Any]] = (-1, [])  # at how many imported modules, and the libraries that these had loaded

    def begin(self) -> None:
        """A run begins."""
        with self.lock:
            if not self.n_runs:
                self.had = [(library, library.num_threads) for library in self.loaded()]
                self.set_to_one()
            self.n_runs += 1

    def loaded(self) -> list[Any]:
        """The libraries that are loaded now; they are searched for, a millisecond, where modules were imported since the last time."""
        from threadpoolctl import ThreadpoolController  # which libraries there are is known only now

        if self.found[0] != len(sys.modules):
            self.found = len(sys.modules), ThreadpoolController().select(user_api="blas").lib_controllers
        return self.found[1]

    def end(self) -> None:
        """A run ends."""
        with self.lock:
            self.n_runs -= 1
            if not self.n_runs:
                self.restore()

    def set_to_one(self) -> None:
        """One thread."""
        for library, _ in self.had:
            library.set_num_threads(1)

    def restore(self) -> None:
        """As many as before the first run."""
        for library, n in self.had:
            library.set_num_threads(n)


_libraries = _Libraries()


@contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra by one thread while this is open, and by as many as before afterwards."""
    _libraries.begin()
    try:
        yield
    finally:
        _libraries.end()


@contextmanager
def users_threads() -> Iterator[None]:
    """As many threads as before the run, inside of it: for a likelihood that the user wrote in NumPy."""
    if not _libraries.n_runs:
        yield
        return
    _libraries.restore()
    try:
        yield
    finally:
        _libraries.set_to_one()
