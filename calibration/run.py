"""The calibration gate: are the reported errors the true ones, over many independent runs?

For every method and every exact model below, R runs with default settings and their own seeds; each run's reported
distribution is confronted with the exact answer, and the gate of `zhat.numerics.calibration.standard_errors` judges bias, scale,
coverage, silence, usefulness and flags. The last results are kept in `results.csv` beside this file.

    python calibration/run.py                    # all, R = 100
    python calibration/run.py --runs 40 --method smc --model E1
    python calibration/run.py --precision 0.1    # to a target: kept in precision.csv, with the share of ok runs that reach it
    python calibration/run.py --precision 0.1 --method default

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
TO_PRECISION = Path(__file__).parent / "precision.csv"
DEFAULT = "default"
# Share of ok runs whose standard error must be at most the target.
REACHED = 0.95
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
    "nested": (*MODELS, "E15", "S2", "S3"),
    "power-posterior": MODELS,
    "stepping-stone": MODELS,
    "inla": ("seeds-main", "seeds-interaction", "coal-smooth", "tokyo", "stochastic-volatility"),
    "variational": MODELS,
    "harmonic-mean": tuple(weak_data.CASES),
}
FIRST_SEED = 40_000
COLUMNS = (
    "method", "model", "runs", "bias", "bias_allowance", "rms_z", "hits95", "hits50", "silent", "median_se", "flagged",
    "seconds_per_run", "passed",
)  # fmt: skip
COLUMNS_TO_PRECISION = (*COLUMNS[:2], "precision", *COLUMNS[2:-1], "reached", "likelihoods_per_run", "passed")


def cell(task: tuple[str, str, int, float | None]) -> dict[str, object]:
    """All runs of one method on one model, judged."""
    import zhat
    from zhat.numerics.calibration.standard_errors import Run, gate

    name, model, runs, precision = task
    method = None if name == DEFAULT else name
    example = weak_data.case(model) if model in weak_data.CASES else zhat.zoo.example(model)
    asked = {"precision": precision, "progress": False}
    zhat.evidence(example.model, method, seed=0, **asked)  # compile first, so that seconds are warm
    begun = time.perf_counter()
    results = [zhat.evidence(example.model, method, seed=FIRST_SEED + i, **asked) for i in range(runs)]
    seconds = (time.perf_counter() - begun) / runs
    report = gate(
        [Run(r.log_evidence, r.log_evidence_se, r.degrees_of_freedom, r.status.is_ok) for r in results],
        example.log_evidence,
    )
    row = {
        "method": name,
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
    if precision is not None:
        errors = [r.log_evidence_se for r in results if r.log_evidence_se is not None]
        reached = sum(se <= precision for se in errors) / max(len(errors), 1)
        calls = sum(r.cost.n_likelihood + r.cost.n_gradient for r in results) / runs
        row |= {"precision": f"{precision:g}", "reached": f"{reached:.3f}", "likelihoods_per_run": f"{calls:.0f}"}
        row["passed"] = report.ok and reached >= REACHED
        print(f"{name:12s} {model:6s} standard error at most {precision:g} in {reached:.1%} of ok runs", flush=True)
    print(f"{name:12s} {model:6s} {report.sentence()}", flush=True)
    return row


def key_of(row: dict[str, object]) -> tuple[object, ...]:
    """What a row of either table is about."""
    return (row["method"], row["model"], row["precision"]) if "precision" in row else (row["method"], row["model"])


def write(rows: list[dict[str, object]], path: Path, columns: tuple[str, ...]) -> None:
    """Put these cells into the table, in the place of their last results."""
    kept: dict[tuple[object, ...], dict[str, object]] = {}
    if path.exists():
        with path.open(newline="") as file:
            kept = {key_of(dict(row)): dict(row) for row in csv.DictReader(file)}
    kept |= {key_of(row): row for row in rows}
    order: list[tuple[object, ...]] = [(method, model) for method, models in METHODS.items() for model in models]
    order += [cell for cell in kept if cell not in order]  # methods that are not in the gate yet
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept[cell] for cell in order if cell in kept)


def main() -> int:
    """Run the cells over two processes and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--method", help="only this one; a method that is not in METHODS, and `default`, is run on MODELS")
    parser.add_argument("--precision", type=float, help="run to this standard error of log Z")
    parser.add_argument("--model")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    chosen = METHODS if options.method in (None, *METHODS) else {options.method: MODELS}
    tasks = [
        (method, model, options.runs, options.precision)
        for method, models in chosen.items()
        for model in models
        if options.method in (None, method) and options.model in (None, model)
    ]
    path, columns = (RESULTS, COLUMNS) if options.precision is None else (TO_PRECISION, COLUMNS_TO_PRECISION)
    rows = []
    with multiprocessing.get_context("spawn").Pool(options.workers, maxtasksperchild=4) as pool:
        for row in pool.imap(cell, tasks, chunksize=1):
            rows.append(row)
            write(rows, path, columns)  # each as it comes: an hour of runs may be interrupted
    print(f"written to {path.name}")
    failed = [row for row in rows if not row["passed"]]
    print(f"{len(rows) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
