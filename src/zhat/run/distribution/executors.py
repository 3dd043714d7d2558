"""Where runs are executed: in this process, in local processes, on a Dask cluster, or on the caller's own executor.

Two things can be spread: whole runs (repeats, models), and the likelihoods of one run of a black box. Where there are at least as many
runs as workers, runs are spread, which costs least; where there are fewer, and the models are black boxes, their likelihoods are.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from zhat.errors import BadInput, BadType
from zhat.model.model import Model
from zhat.run.distribution.pool import LocalPool
from zhat.run.distribution.spread import Spread, workers_of
from zhat.sampling.backend.likelihoods import evaluated_by

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
def arranged(
    executor: Executor | str | None, workers: int | None, models: Sequence[Model], repeats: int
) -> Iterator[Executor | None]:
    """The executor on which the runs of these models are spread; None where they run in this process, perhaps with likelihoods spread."""
    with opened(executor, workers) as where:
        if where is None:
            yield None
            return
        n_runs, n_workers = len(models) * repeats, workers_of(where)
        if n_runs < n_workers and models and all(model.is_black_box for model in models):
            with evaluated_by(Spread(where, n_workers)):
                yield None
        elif n_runs == 1 and n_workers > 1 and workers is not None:
            warnings.warn(
                f"workers={workers} do nothing here: one run of a model written in JAX is compiled and runs in this process. Workers "
                "share repeats (repeats=4), several models, and the likelihoods of a black box (zhat.Model.black_box).",
                stacklevel=4,
            )
            yield None
        else:
            yield where


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
