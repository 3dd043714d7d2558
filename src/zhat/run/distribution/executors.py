"""Where runs are executed: in this process, in local processes, on a Dask cluster, or on the caller's own executor."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from zhat.errors import BadInput, BadType
from zhat.run.distribution.pool import LocalPool

DASK = "dask://"


@contextmanager
def opened(executor: Executor | str | None, workers: int | None) -> Iterator[Executor | None]:
    """The executor of these arguments; None for this process. One that is opened here is closed here; the caller's stays open.

    Parameters
    ----------
    executor : Executor, "dask://host:port", or None
    workers : int or None
        Number of local processes; excludes `executor`.
    """
    if executor is not None and workers is not None:
        raise BadInput("give executor=... or workers=..., not both: an executor has workers of its own.")
    if workers is not None:
        pool = LocalPool(workers)
        try:
            yield pool
        except BaseException:
            pool.kill()  # the results of running tasks are no longer needed
            raise
        pool.shutdown()
    elif isinstance(executor, str):
        with _dask(executor) as cluster:
            yield cluster
    elif executor is None or isinstance(executor, Executor):
        yield executor
    else:
        raise BadType(
            f"executor is a {type(executor).__name__}: give a concurrent.futures.Executor, such as client.get_executor() of a "
            f"Dask client, or the text '{DASK}host:port'."
        )


@contextmanager
def _dask(address: str) -> Iterator[Any]:
    if not address.startswith(DASK) or len(address) == len(DASK):
        raise BadInput(f"executor={address!r}: write {DASK}host:port, the address of a Dask scheduler.")
    try:
        from distributed import Client
    except ImportError as error:
        raise BadInput("a Dask cluster needs distributed: pip install 'zhat[dask]'.") from error
    scheduler = f"tcp://{address.removeprefix(DASK)}"
    try:
        client = Client(scheduler)
    except (OSError, ValueError) as error:  # a time-out is an OSError
        raise BadInput(f"executor={address!r}: no Dask scheduler answers at {scheduler} ({error}).") from error
    with client:
        yield client.get_executor()
