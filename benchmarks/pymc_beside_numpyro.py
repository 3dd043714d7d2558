"""PyMC models through `Model.from_pymc` beside the same models in NumPyro: agreement, time to build and compile, speed.

    python benchmarks/pymc_beside_numpyro.py [--evidences] [--write] [--only NAME]

For each model of `pymc_pairs.py`: the largest difference of log prior and log likelihood at 20 prior draws (of the log likelihood relative
to its size where that exceeds 1,000); seconds of CPU to build the model and to compile its densities for 2,000 points; points per CPU
second after that. With --evidences also both evidences by the default with their standard errors, and the difference in joint standard
errors.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path
from typing import Any

import common

common.one_core()

import numpy as np  # noqa: E402
from pymc_pairs import PAIRS, Pair  # noqa: E402

import zhat  # noqa: E402
from zhat.sampling.backend.backend import constrain_batch  # noqa: E402
from zhat.sampling.backend.compiled import JaxBackend, compiled  # noqa: E402
from zhat.sampling.backend.evaluation import prior_positions  # noqa: E402
from zhat.seeding import Key  # noqa: E402

FILE = Path(__file__).parent / "results" / "pymc_beside_numpyro.csv"
N_POINTS = 2000
SEED = 11


def density(backend: JaxBackend, points: Any) -> Any:
    return backend.density(points)


def timed(model: zhat.Model) -> tuple[float, float]:
    """CPU seconds to compile the densities of 2,000 points, and points per second after that (the best of 5)."""
    u = prior_positions(model, N_POINTS, Key(1))
    begin = time.process_time()
    np.asarray(compiled(model, "benchmark", density, u)[1])
    first = time.process_time() - begin
    best = np.inf
    for _ in range(5):
        begin = time.process_time()
        for _ in range(10):
            np.asarray(compiled(model, "benchmark", density, u)[1])
        best = min(best, (time.process_time() - begin) / 10)
    return first - best, N_POINTS / best


def largest_difference(pair: Pair, ours: zhat.Model, other: zhat.Model) -> float:
    params, _ = constrain_batch(ours, prior_positions(ours, 20, Key(3)))
    worst = 0.0
    for i in range(20):
        point = {key: value[i] for key, value in params.items()}
        log_prior, log_likelihood = ours.evaluate(**point)
        prior_there, likelihood_there = other.evaluate(**pair.numpyro_parameters(point))
        worst = max(worst, abs(log_prior + pair.log_jacobian(point) - prior_there))
        worst = max(worst, abs(log_likelihood - likelihood_there) / max(1.0, abs(likelihood_there) / 1000))
    return worst


def row(pair: Pair, evidences: bool) -> dict[str, Any]:
    begin = time.process_time()
    ours = zhat.Model.from_pymc(pair.pymc())
    built = time.process_time() - begin
    begin = time.process_time()
    other = zhat.Model.from_numpyro(pair.numpyro, *pair.arguments)
    built_there = time.process_time() - begin
    worst = largest_difference(pair, ours, other)
    (compiles, speed), (compiles_there, speed_there) = timed(ours), timed(other)
    shown = {
        "model": pair.name,
        "largest_difference": f"{worst:.1e}",
        "build_pymc_s": f"{built:.2f}",
        "build_numpyro_s": f"{built_there:.2f}",
        "compile_pymc_s": f"{compiles:.2f}",
        "compile_numpyro_s": f"{compiles_there:.2f}",
        "points_per_s_pymc": f"{speed:.3g}",
        "points_per_s_numpyro": f"{speed_there:.3g}",
    }
    return {**shown, **(of_evidences(ours, other) if evidences else {})}


def of_evidences(ours: zhat.Model, other: zhat.Model) -> dict[str, str]:
    runs, seconds = [], []
    for model in (ours, other):
        begin = time.process_time()
        runs.append(zhat.evidence(model, seed=SEED, progress=False))
        seconds.append(time.process_time() - begin)
    errors = [run.log_evidence_se if run.status.is_ok else float("nan") for run in runs]
    return {
        "log_z_pymc": f"{runs[0].log_evidence:.4f}",
        "se_pymc": f"{errors[0]:.4f}",
        "log_z_numpyro": f"{runs[1].log_evidence:.4f}",
        "se_numpyro": f"{errors[1]:.4f}",
        "z": f"{(runs[0].log_evidence - runs[1].log_evidence) / np.hypot(*errors):.2f}",
        "evidence_pymc_s": f"{seconds[0]:.1f}",
        "evidence_numpyro_s": f"{seconds[1]:.1f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the rows to results/pymc_beside_numpyro.csv")
    parser.add_argument("--evidences", action="store_true", help="run both models by the default")
    parser.add_argument("--only", default="", help="models whose name contains this")
    chosen = parser.parse_args()
    rows = []
    for pair in PAIRS:
        if chosen.only in pair.name:
            rows.append(row(pair, chosen.evidences))
            print(rows[-1], flush=True)
    if chosen.write:
        with FILE.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
