"""What a user waits for: importing the package, and a first answer in a second process.

Wall seconds of whole fresh processes, medians; the kinds take turns, so that all see the same machine. The estimate
runs with the compile cache that an earlier process filled.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from typing import Any

import common

ESTIMATE = "import zhat; print(zhat.evidence(zhat.zoo.pima().model, zhat.Importance(), seed=1, progress=False))"
PROGRAMS = {
    "import jax, numpyro": "import jax, numpyro",
    "import zhat": "import zhat",
    "Pima model 1 by Importance": ESTIMATE,
}
BARS = {"import zhat": 1.5, "Pima model 1 by Importance": 3.0}


def seconds(program: str, environment: dict[str, str]) -> float:
    """Wall seconds of a fresh process."""
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


def measure(repeats: int) -> dict[str, Any]:
    """All programs in turn, after one round that fills the caches."""
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    with common.compile_cache() as environment:
        # Zhat's own cache settings, in a folder of this run, not what a user has set for JAX.
        environment = {k: v for k, v in environment.items() if not k.startswith("JAX_")}
        first = {name: seconds(program, environment) for name, program in PROGRAMS.items()}
        for _ in range(repeats):
            for name, program in PROGRAMS.items():
                times[name].append(seconds(program, environment))
    return {"first": first, "seconds": times, "median": {name: statistics.median(t) for name, t in times.items()}}


def report(result: dict[str, Any]) -> str:
    """Medians and ratios to importing JAX and NumPyro."""
    base = result["median"]["import jax, numpyro"]
    n = len(result["seconds"]["import zhat"])
    rows = []
    for name, median in result["median"].items():
        bar = f"{BARS[name]:g}" if name in BARS else ""
        rows.append([name, f"{result['first'][name]:.2f}", f"{median:.2f}", f"{median / base:.2f}", bar])
    return "\n\n".join(
        [
            "## Cold start",
            f"Wall seconds of fresh processes, medians of {n}; ratio to the first row.",
            common.table(["process", "very first", "median", "ratio", "bar"], rows),
        ]
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    result = measure(options.repeats)
    common.write("cold_start", result, report(result))


if __name__ == "__main__":
    main()
