"""200 small evidences spread over two workers, one of which is killed midway: the serial digits, and what spreading costs.

Importance sampling of Poisson counts with a gamma prior, 200 simulated data sets for one model. For every executor: whether
all digits (log evidence, error, every draw) are those of the serial run, also with a worker killed by SIGKILL after a quarter of
the tasks; and the overhead per task, from 200 tasks that do nothing, sent the same way (packing, sending, unpacking, answer) to
warm workers.
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

import common
import numpy as np

import zhat
from zhat.run.distribution.plans import carry_out
from zhat.run.distribution.travel import Task, parcels


class KillOnce(Executor):
    """Another executor, one of whose processes is killed when so many tasks are done."""

    def __init__(self, inner: Executor, after: int, victim: Callable[[], int]) -> None:
        self.inner, self.after, self.victim, self.done, self.killed = inner, after, victim, 0, False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = self.inner.submit(fn, *args, **kwargs)
        future.add_done_callback(self._count)
        return future

    def _count(self, _: Future[Any]) -> None:
        self.done += 1
        if self.done >= self.after and not self.killed:
            self.killed = True
            os.kill(self.victim(), signal.SIGKILL)


@contextmanager
def local_pool() -> Any:
    with zhat.LocalPool(2) as pool:
        yield pool, lambda: pool.process_ids[0]


@contextmanager
def dask_cluster() -> Any:
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        first = next(iter(client.run(os.getpid).values()))
        yield client.get_executor(), lambda: first


def nothing(model: zhat.Model) -> int:
    return 0


def plan_of(tasks: list[Task]) -> Any:
    results = yield tasks
    return results


def digits(found: dict[str, zhat.Evidence]) -> list[Any]:
    return [(r.log_evidence, r.log_evidence_se, r.record.position.tobytes()) for r in found.values()]


def measure(n: int) -> dict[str, Any]:
    model = zhat.zoo.example("E4").model
    rng = np.random.default_rng(1)
    models = {f"data {i}": model.with_data(rng.poisson(2.0, len(model.data)).astype(float)) for i in range(n)}
    empty = [Task(nothing, one) for one in models.values()]
    zhat.evidence(model, "importance", seed=0, progress=False)

    def run(executor: Executor | None = None) -> tuple[float, list[Any]]:
        begin = time.perf_counter()
        found = zhat.evidences(models, "importance", seed=1, progress=False, executor=executor)
        return time.perf_counter() - begin, digits(found)

    begin = time.perf_counter()
    packed = parcels(empty)
    packing = (time.perf_counter() - begin) / n
    serial_seconds, serial = run()
    rows: dict[str, Any] = {"serial": {"seconds": serial_seconds}}
    for name, opened in {"two local workers": local_pool, "two Dask workers": dask_cluster}.items():
        with opened() as (executor, victim):
            carry_out([plan_of(empty[:20])], executor, False)  # workers are up and have the model
            begin = time.perf_counter()
            carry_out([plan_of(empty)], executor, False)
            overhead = (time.perf_counter() - begin) / n
            run(executor)
            seconds, same = run(executor)
            killer = KillOnce(executor, n // 4, victim)
            killed_seconds, after = run(killer)
            rows[name] = {
                "seconds": seconds,
                "same_digits": same == serial,
                "overhead_ms": 1e3 * overhead,
                "killed": killer.killed,
                "seconds_with_kill": killed_seconds,
                "same_digits_with_kill": after == serial,
            }
    size = {"code": len(packed[0].code), "rest": len(packed[0].rest)}
    return {"n": n, "rows": rows, "packing_ms": 1e3 * packing, "bytes": size}


def report(result: dict[str, Any]) -> str:
    rows = [["serial", f"{result['rows']['serial']['seconds']:.1f}", "", "", "", ""]]
    for name, row in result["rows"].items():
        if name != "serial":
            yes = ["no", "yes"]
            rows.append(
                [
                    name,
                    f"{row['seconds']:.1f}",
                    yes[row["same_digits"]],
                    f"{row['seconds_with_kill']:.1f}",
                    yes[row["killed"] and row["same_digits_with_kill"]],
                    f"{row['overhead_ms']:.1f} ms",
                ]
            )
    header = ["executor", "warm seconds", "serial digits", "seconds, one killed", "serial digits", "overhead per task"]
    size = result["bytes"]
    return "\n\n".join(
        [
            "## Spreading work",
            f"{result['n']} small evidences (importance sampling, one model, as many data sets). A task is {size['code']:,} "
            f"bytes of functions and {size['rest']:,} of data and settings, packed in {result['packing_ms']:.2f} ms. A new "
            "worker has to import and to compile before it works.",
            common.table(header, rows),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=200)
    options = parser.parse_args()
    result = measure(options.n)
    common.write("spread", result, report(result))


if __name__ == "__main__":
    main()
