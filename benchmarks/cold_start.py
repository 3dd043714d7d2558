"""What a user waits for: importing the package, a first answer on a new model, and one in a second process.

CPU seconds (user and system) of whole fresh processes on one core; the kinds take turns, so that all see the same machine, and each
figure is the median. The unit is the CPU time of a process that imports JAX and NumPyro. From a process that estimates, the CPU time of one
that imports zhat is taken off. A first answer has an empty compile cache; a second process has the cache that such a first answer left.
Computing is what the same estimate takes when it is made again in the same process.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from typing import Any

import common

BASE, OURS = "import jax, numpyro", "import zhat"
README = """
import zhat
import numpy as np
import numpyro.distributions as dist
y = np.array([1.2, 0.8, 1.9, 1.4, 0.9, 1.6])
prior = {"mu": dist.Normal(0.0, 10.0), "sigma": dist.HalfNormal(5.0)}
model = zhat.Model(lambda p, y: dist.Normal(p["mu"], p["sigma"]).log_prob(y).sum(), prior, data=y)
"""
ZOO = "import zhat\nmodel = zhat.zoo.example(%r).model\n"
MODELS = {
    "README's example": README,
    "eight schools, non-centred": ZOO % "E15n",
    "eight schools, centred": ZOO % "E15",
    "Pima model 2": ZOO % "pima-NP-PGC-BMI-DP-AGE-tau-1",
}
# The first seed of README is the one on the page; with seed 1 the first method refuses and others follow.
SEEDS = {"README's example": (4, 1, 2, 3, 5)}
EVIDENCE = """
import time
def run():
    begin = time.process_time()
    result = zhat.evidence(model, seed=%d, progress=False)
    return time.process_time() - begin, result
result = run()[1]
print(result.method, result.status.level.value)
if %d:
    print(run()[0])
"""
# In units of importing JAX and NumPyro; of Pima beyond its computing.
BARS = {
    OURS: 1.25,
    "README's example": 1.7,
    "eight schools, non-centred": 2.2,
    "eight schools, centred": 2.2,
    "Pima model 2": 3.5,
}
WARM_BAR = 0.7
BEYOND_COMPUTING = ("Pima model 2",)


def cpu_seconds(program: str, environment: dict[str, str]) -> tuple[float, list[str]]:
    """CPU seconds of a fresh process, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, done.stdout.split()


def estimated(name: str, seed: int, again: bool, environment: dict[str, str]) -> tuple[float, list[str]]:
    """CPU seconds of a process that estimates; with `again` it does so twice, and prints the seconds of the second time."""
    return cpu_seconds(MODELS[name] + EVIDENCE % (seed, again), environment)


def measure(repeats: int) -> dict[str, Any]:
    """All processes in turn, after one round of imports that writes Python's own caches."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith("JAX_") and k != "PYTHONDONTWRITEBYTECODE"}
    plain["JAX_PLATFORMS"] = "cpu"
    times: dict[str, list[float]] = {}
    answers: dict[str, str] = {}

    def note(kind: str, seconds: float) -> None:
        times.setdefault(kind, []).append(seconds)

    for program in (BASE, OURS, *(MODELS[name] for name in MODELS)):
        cpu_seconds(program, plain)
    for _ in range(repeats):
        for program in (BASE, OURS):
            note(program, cpu_seconds(program, plain)[0])
        for name in MODELS:
            for seed in SEEDS.get(name, (1,)):
                with tempfile.TemporaryDirectory(prefix="bench-cache-") as folder:
                    cached = {**plain, "ZHAT_COMPILE_CACHE": folder}
                    seconds, printed = estimated(name, seed, False, cached)
                    note(f"{name}, seed {seed}, first", seconds)
                    answers[f"{name}, seed {seed}"] = " ".join(printed)
                    note(f"{name}, seed {seed}, second process", estimated(name, seed, False, cached)[0])
                    note(f"{name}, seed {seed}, computing", float(estimated(name, seed, True, cached)[1][-1]))
    medians = {kind: statistics.median(some) for kind, some in times.items()}
    return {"repeats": repeats, "answers": answers, "seconds": times, "median": medians}


def report(result: dict[str, Any]) -> str:
    """Medians, and their ratios to importing JAX and NumPyro."""
    median = result["median"]
    unit, ours = median[BASE], median[OURS]
    rows = [[OURS, "", f"{ours:.2f}", f"{ours / unit:.2f}", f"{BARS[OURS]:g}", "", "", ""]]
    for name in MODELS:
        for seed in SEEDS.get(name, (1,)):
            kind = f"{name}, seed {seed}"
            computing = median[f"{kind}, computing"]
            first, second = (median[f"{kind}, {which}"] - ours for which in ("first", "second process"))
            counted = first - computing if name in BEYOND_COMPUTING else first
            warm_bar = f"{WARM_BAR:g}" if name == "README's example" else ""
            row = [
                f"{first:.2f}",
                f"{counted / unit:.2f}",
                f"{BARS[name]:g}",
                f"{second / unit:.2f}",
                warm_bar,
                f"{computing:.2f}",
            ]
            rows.append([f"{name}, seed {seed}", result["answers"][kind], *row])
    return "\n\n".join(
        [
            "## Cold start",
            f"CPU seconds of fresh processes on one core, medians of {result['repeats']}, without those of importing zhat (first row: with). "
            f"Ratios are to importing JAX and NumPyro ({unit:.2f} s); that of Pima is beyond its computing.",
            common.table(["process", "answer", "first", "ratio", "bar", "second process, ratio", "bar", "computing"], rows),
        ]
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # the children inherit it; no setting of JAX is changed, as a user has it
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    result = measure(options.repeats)
    common.write("cold_start", result, report(result))


if __name__ == "__main__":
    main()
