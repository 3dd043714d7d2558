"""One thread for the linear algebra of NumPy and SciPy while a compiled model's run computes.

The matrices of a run are small: dimensions by dimensions, many times. A second thread gains nothing there, and threads that wait for each other
spin: on two busy cores importance sampling in fifty dimensions took 47 CPU seconds with two threads and 1.8 with one. With one thread last
digits also do not depend on the number of cores. A black box keeps the threads that its user has set, which its likelihood may need.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from zhat.model.model import Model


@contextmanager
def one_thread(model: Model) -> Iterator[None]:
    """Linear algebra by one thread while this is open, and by as many as before afterwards."""
    if model.is_black_box:
        yield
        return
    from threadpoolctl import threadpool_limits  # which libraries there are is known only now

    with threadpool_limits(limits=1, user_api="blas"):
        yield
