"""The calibration gate: are the reported errors the true ones, over many independent runs?

For every method and every exact model below, R runs with default settings and their own seeds; each run's reported
distribution is confronted with the exact answer, and the gate of `zhat.numerics.calibration.standard_errors` judges bias, scale,
coverage, silence, usefulness and flags. The last results are kept in `results.csv` beside this file.

    python calibration/run.py                    # all, R = 100
    python calibration/run.py --runs 40 --method smc --model E1

Models were chosen before any run, for what they are: one-dimensional (E1, E3a, E4, E11), skewed (E2, E4, E8), bounded
(E3a, E6), correlated (E8, E13, E14a), many-dimensional (E9a, E14a), hierarchical (E15n, and for SMC the centred E15, whose
density has no mode), multimodal (E16a). The harmonic mean has a list of its own (weak_data.py): on all of
these its variance is infinite.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import sys
import time
from pathlib import Path

import weak_data

RESULTS = Path(__file__).parent / "results.csv"
MODELS = ("E1", "E2", "E3a", "E4", "E6", "E8", "E9a", "E11", "E12", "E13", "E14a", "E15n", "E16a")
PINE = ("pine-density-friel_wyse-review", "pine-adjusted_density-williams1959-green_ohagan")
WITH_CONDITIONALS = ("E1", "E2", "E4", "E8", "E8s-intercept", "E8s-slope", "E9a", "running-example", *PINE)
FOR_AIS = ("E1", "E2", "E3a", "E4", "E6", "E8", "E9a", "E12", "E15n", "E16a")
METHODS = {
    "importance": MODELS,
    "smc": (*MODELS, "E15"),
    "chib": WITH_CONDITIONALS,
    "chib-jeliazkov": MODELS,
    "bridge": MODELS,
    "reciprocal": MODELS,
    "ais": FOR_AIS,
    "nested": (*MODELS, "E15"),
    "power-posterior": MODELS,
    "stepping-stone": MODELS,
    "harmonic-mean": tuple(weak_data.CASES),
}
FIRST_SEED = 40_000
COLUMNS = (
    "method", "model", "runs", "bias", "bias_allowance", "rms_z", "hits95", "hits50", "silent", "median_se", "flagged",
    "seconds_per_run", "passed",
)  # fmt: skip


def cell(task: tuple[str, str, int]) -> dict[str, object]:
    """All runs of one method on one model, judged."""
    import zhat
    from zhat.numerics.calibration.standard_errors import Run, gate

    method, model, runs = task
    example = weak_data.case(model) if model in weak_data.CASES else zhat.zoo.example(model)
    zhat.evidence(example.model, method, seed=0, progress=False)  # compile first, so that seconds are warm
    begun = time.perf_counter()
    results = [zhat.evidence(example.model, method, seed=FIRST_SEED + i, progress=False) for i in range(runs)]
    seconds = (time.perf_counter() - begun) / runs
    report = gate(
        [Run(r.log_evidence, r.log_evidence_se, r.degrees_of_freedom, r.status.is_ok) for r in results],
        example.log_evidence,
    )
    row = {
        "method": method,
        "model": model,
        "runs": runs,
        "bias": f"{report.bias:+.5f}",
        "bias_allowance": f"{report.bias_allowance:.5f}",
        "rms_z": f"{report.rms_z:.3f}",
        "hits95": report.hits95,
        "hits50": report.hits50,
        "silent": report.n_silent,
        "median_se": f"{report.median_se:.5f}",
        "flagged": f"{report.flagged_share:.3f}",
        "seconds_per_run": f"{seconds:.3f}",
        "passed": report.ok,
    }
    print(f"{method:12s} {model:6s} {report.sentence()}", flush=True)
    return row


def write(rows: list[dict[str, object]]) -> None:
    """Put these cells into the table, in the place of their last results."""
    kept: dict[tuple[object, object], dict[str, object]] = {}
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            kept = {(row["method"], row["model"]): dict(row) for row in csv.DictReader(file)}
    kept |= {(row["method"], row["model"]): row for row in rows}
    order = [(method, model) for method, models in METHODS.items() for model in models]
    order += [cell for cell in kept if cell not in order]  # methods that are not in the gate yet
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept[cell] for cell in order if cell in kept)


def main() -> int:
    """Run the cells over two processes and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--method", help="only this one; a method that is not in METHODS is run on MODELS")
    parser.add_argument("--model")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    chosen = METHODS if options.method in (None, *METHODS) else {options.method: MODELS}
    tasks = [
        (method, model, options.runs)
        for method, models in chosen.items()
        for model in models
        if options.method in (None, method) and options.model in (None, model)
    ]
    rows = []
    with multiprocessing.get_context("spawn").Pool(options.workers, maxtasksperchild=4) as pool:
        for row in pool.imap(cell, tasks, chunksize=1):
            rows.append(row)
            write(rows)  # each as it comes: an hour of runs may be interrupted
    print(f"written to {RESULTS.name}")
    failed = [row for row in rows if not row["passed"]]
    print(f"{len(rows) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
