"""One run of a black box of 20 ms over eight workers: speed against one, and the digits, also while workers are killed.

    python benchmarks/workers.py --method nested --how one
    python benchmarks/workers.py --method nested --how eight        # then killed, dask
    python benchmarks/workers.py --report

The likelihood sleeps, so that eight workers need no eight cores. Every run is a process of its own and appends one row to the table;
the time includes the start of local workers, because a run waits for it. A Dask cluster stands before the run, as one at an address does;
its start (9 s for eight workers on two busy cores) is not included. `killed`: a worker is killed every 10 s. `load` is how many processes of
this machine, others' included, wanted its two cores on average in the last minute of the run. On a machine with much
other work sleeping workers wake late: `chrt -r 5 python benchmarks/workers.py ...` lets them wake in time. The seconds of one process are computed: 20 ms for
each likelihood, and its CPU seconds without them. (Made once in full, they were 277, 730 and 1,407 s, 3 % more than so computed.)
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import common
import numpy as np
import numpyro.distributions as dist

import zhat

ROWS = common.RESULTS / "workers.csv"
COLUMNS = ["method", "how", "seconds", "cpu_seconds", "likelihoods", "log_evidence", "se", "killed", "load"]
# Fewer draws and particles than by default, for which one worker would need hours.
METHODS = {"importance": zhat.Importance(n_draws=10_000), "smc": zhat.SMC(n_particles=200), "nested": zhat.NestedSampling()}
HOWS = ("one", "eight", "killed", "dask", "dask killed")
WORKERS, SLEEP, EVERY = 8, 0.02, 10.0


def log_likelihood(p: Any) -> float:
    """Twenty milliseconds, six parameters, a slightly bent peak."""
    time.sleep(SLEEP)
    x = p["x"]
    return float(-0.5 * np.sum((x - 0.3) ** 2) / 0.04 - 0.2 * x[0] * x[1])


def box() -> zhat.Model:
    """The model."""
    return zhat.Model.black_box(log_likelihood, {"x": dist.Uniform(-5.0, 5.0).expand([6]).to_event(1)}, name="box")


@contextmanager
def killing(processes: Any) -> Iterator[list[int]]:
    """Kill one of these processes every ten seconds."""
    done, killed = threading.Event(), []

    def kill() -> None:
        while not done.wait(EVERY):
            if alive := processes():
                killed.append(random.choice(alive))
                os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        done.set()
        thread.join()


@contextmanager
def executor(how: str) -> Iterator[tuple[Any, Any]]:
    """What the run is given, and the process ids of its workers."""
    if how == "one":
        yield None, list
    elif how.startswith("dask"):
        from distributed import Client, LocalCluster

        options = {
            "n_workers": WORKERS,
            "threads_per_worker": 1,
            "processes": True,
            "dashboard_address": ":0",
            "silence_logs": 50,
        }
        with LocalCluster(**options) as cluster, Client(cluster) as client:

            def alive() -> list[
                int
            ]:  # those that work: a nanny whose worker dies while it starts gives up, and in the end none is left
                working = {state.name for state in cluster.scheduler.workers.values()}
                return [nanny.pid for name, nanny in cluster.workers.items() if name in working and nanny.pid is not None]

            yield client.get_executor(), alive
    else:
        with zhat.LocalPool(WORKERS) as pool:
            yield pool, lambda: pool.process_ids


def run(method: str, how: str) -> list[Any]:
    """One row."""
    global SLEEP
    zhat.evidence(box(), zhat.PriorMean(n_draws=100), seed=1, progress=False)  # imports and first programs
    asleep, SLEEP = SLEEP, 0.0 if how == "one" else SLEEP
    begun = time.perf_counter()
    with executor(how) as (where, alive), killing(alive if "killed" in how else list) as killed:
        if how.startswith("dask"):
            begun = time.perf_counter()
        cpu = time.process_time()
        found = zhat.evidence(box(), METHODS[method], seed=1, progress=False, executor=where)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
    if how == "one":
        seconds = cpu + asleep * found.cost.n_likelihood
    digits = [repr(found.log_evidence), repr(found.log_evidence_se)]
    return [
        method,
        how,
        round(seconds, 1),
        round(cpu, 1),
        found.cost.n_likelihood,
        *digits,
        len(killed),
        round(os.getloadavg()[0], 1),
    ]


def _place(row: list[str]) -> tuple[int, int]:
    """Methods and places in their order."""
    return list(METHODS).index(row[0]), HOWS.index(row[1])


def report() -> str:
    """The table."""
    with ROWS.open() as file:
        rows = list(csv.DictReader(file))
    shown = []
    for row in rows:
        one = next((r for r in rows if (r["method"], r["how"]) == (row["method"], "one")), None)
        same = speed = ""
        if one is not None:
            same = "yes" if all(row[k] == one[k] for k in ("log_evidence", "se", "likelihoods")) else "NO"
            speed = f"{float(one['seconds']) / float(row['seconds']):.2f}"
        calls = f"{int(row['likelihoods']):,}"
        shown.append(
            [row["method"], row["how"], calls, row["seconds"], row["cpu_seconds"], speed, same, row["killed"], row["load"]]
        )
    header = ["method", "workers", "likelihoods", "seconds", "CPU s of the caller", "times one", "same digits", "killed", "load"]
    return "\n\n".join(["## One run over eight workers", common.table(header, shown)])


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", choices=METHODS, default="nested")
    parser.add_argument("--how", choices=HOWS, default="eight")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if not options.report:
        row = run(options.method, options.how)
        new = not ROWS.exists()
        before = [] if new else list(csv.reader(ROWS.open()))[1:]
        with ROWS.open("w", newline="") as file:
            kept = [other for other in before if other[:2] != row[:2]]
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *sorted([*kept, list(map(str, row))], key=_place)])
    print(report())


if __name__ == "__main__":
    main()
