"""What a task costs on the way: tasks a second, and how much of the workers' time is left for computing, with simulated work.

    python benchmarks/latencies.py --where pool
    python benchmarks/latencies.py --where dask

Eight workers sleep for a simulated time, so that two cores suffice. `tasks a second` are of tasks that do nothing, submitted together;
`busy` is the share of eight workers' time that a batch of black-box likelihoods leaves for computing, by what one likelihood takes and by the points of a batch.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

import common
import numpy as np
import numpyro.distributions as dist
import workers

import zhat
from zhat.run.distribution.spread import Spread
from zhat.run.distribution.travel import submitted
from zhat.sampling.backend.likelihoods import evaluated_by, likelihoods

OUT = common.RESULTS / "latencies.json"
TAKES = (1e-3, 1e-2, 1e-1)
POINTS = (16, 64, 256)
SECONDS = 3.0  # of a cell, about
SIZES = (10, 100_000, 1_000_000)


def nothing(content: bytes) -> None:
    """A task."""


def sleeping(seconds: float) -> zhat.Model:
    """A likelihood that takes this long."""

    def log_likelihood(p: Any) -> float:
        time.sleep(seconds)
        return 0.0

    return zhat.Model.black_box(log_likelihood, {"x": dist.Normal(0.0, 1.0).expand([6]).to_event(1)}, name="box")


def tasks_a_second(executor: Any, size: int) -> float:
    """Tasks that do nothing, with so many bytes each."""
    n = 200 if size < 1_000_000 else 40
    begun = time.perf_counter()
    for future in submitted(executor, nothing, [(os.urandom(size),) for _ in range(n)]):
        future.result()
    return n / (time.perf_counter() - begun)


def busy(executor: Any, seconds: float, points: int) -> float:
    """The share of the workers' time in which they compute."""
    model, rng = sleeping(seconds), np.random.default_rng(0)
    with evaluated_by(Spread(executor, workers.WORKERS)):
        ideal = points * seconds / workers.WORKERS
        n = int(np.clip(SECONDS / ideal, 2, 40))
        for _ in range(2):  # the model travels, and its time is measured
            likelihoods(model, {"x": rng.normal(size=(points, 6))})
        begun = time.perf_counter()
        for _ in range(n):
            likelihoods(model, {"x": rng.normal(size=(points, 6))})
    return n * ideal / (time.perf_counter() - begun)


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--where", choices=["pool", "dask"], required=True)
    options = parser.parse_args()
    found = json.loads(OUT.read_text()) if OUT.exists() else {}
    with workers.executor("dask" if options.where == "dask" else "eight") as (executor, _):
        tasks_a_second(executor, 10)
        found[options.where] = {
            "tasks_a_second": {str(size): round(tasks_a_second(executor, size)) for size in SIZES},
            "busy": {f"{s:g}": {str(n): round(busy(executor, s, n), 2) for n in POINTS} for s in TAKES},
            "load": round(os.getloadavg()[0], 1),
        }
    OUT.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found[options.where]))


if __name__ == "__main__":
    main()
