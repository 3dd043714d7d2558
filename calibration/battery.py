"""The default on problems outside the zoo: share answered, share confidently wrong, CPU seconds.

    python calibration/battery.py                       # 3 seeds of each, one process a problem
    python calibration/battery.py --set second          # the problems that came after the settings (`battery_second.py`)
    python calibration/battery.py --only funnel-10 --seeds 10

A run is *right* when it is ok and within four of its standard errors of the truth, *refused* when it is not ok, *wrong* otherwise. The table
is kept in `battery.csv` (`battery_second.csv`): CPU seconds of the first run (with compilation) and the mean of the others.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = {
    "first": Path(__file__).parent / "battery.csv",
    "second": Path(__file__).parent / "battery_second.csv",
    "third": Path(__file__).parent / "battery_third.csv",
}
COLUMNS = (
    "problem",
    "dimensions",
    "runs",
    "right",
    "refused",
    "wrong",
    "largest_z",
    "rms_se",
    "first_cpu",
    "later_cpu",
    "answered_by",
    "reasons",
)
SECONDS = 900


def problems_of(which: str) -> dict[str, Callable[[], tuple[Any, float]]]:
    """The problems of one set: each gives a model and its log evidence."""
    from battery_problems import PROBLEMS
    from battery_second import SECOND
    from battery_third import THIRD

    return {"first": PROBLEMS, "second": SECOND, "third": THIRD}[which]


def one(name: str, seeds: range, method: str) -> dict[str, object]:
    """All seeds of one problem."""
    import zhat

    model, truth = (problems_of("first") | problems_of("second") | problems_of("third"))[name]()
    right = refused = wrong = 0
    largest, errors, times, by, reasons = 0.0, [], [], {}, {}
    for seed in seeds:
        begin = time.process_time()
        if method == "crosscheck":
            result = zhat.crosscheck(model, seed=seed, progress=False).evidence
        else:
            result = zhat.evidence(model, None if method == "default" else method, seed=seed, progress=False)
        times.append(time.process_time() - begin)
        off = result.log_evidence - truth
        if result.status.is_ok:
            z = float(off / result.error) if result.error else (0.0 if abs(off) < 1e-6 else float("inf"))
            right, wrong = right + int(abs(z) <= 4.0), wrong + int(abs(z) > 4.0)
            largest = max(largest, z, key=abs)
            errors.append(result.error)
            by[result.method] = by.get(result.method, 0) + 1
        else:
            refused += 1
            for reason in result.status.reasons:
                reasons[reason.code] = reasons.get(reason.code, 0) + 1
        print(
            f"  {name} {seed}: off {off:+.4f}  {result}  CPU {times[-1]:.1f}  {result.why_this_method}",
            file=sys.stderr,
            flush=True,
        )
    later = times[1:] or times
    return {
        "problem": name, "dimensions": model.n_dimensions, "runs": len(seeds), "right": right, "refused": refused, "wrong": wrong,
        "largest_z": f"{largest:.1f}", "rms_se": f"{(sum(e * e for e in errors) / len(errors)) ** 0.5:.4f}" if errors else "",
        "first_cpu": f"{times[0]:.1f}", "later_cpu": f"{sum(later) / len(later):.1f}",
        "answered_by": " ".join(f"{k}:{v}" for k, v in by.items()), "reasons": " ".join(f"{k}:{v}" for k, v in reasons.items()),
    }  # fmt: skip


def keep(row: dict[str, object], which: str) -> None:
    """Put one row into its table, at once, in the order of the problems: a run that is cut short leaves what it had."""
    path = RESULTS[which]
    rows: dict[object, dict[str, object]] = {}
    if path.exists():
        with path.open(newline="") as file:
            rows = {old["problem"]: dict(old) for old in csv.DictReader(file)}
    rows[row["problem"]] = row
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[name] for name in problems_of(which) if name in rows)


def main() -> int:
    """Each problem in a process of its own, so that one that does not end costs its own row only."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", action="append")
    parser.add_argument("--set", choices=sorted(RESULTS), default="first")
    parser.add_argument("--method", default="default", help="default, crosscheck, or a method")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    if options.cell:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
        print(json.dumps(one(options.cell, seeds, options.method)))
        return 0
    rows = []
    for name in options.only or problems_of(options.set):
        command = [sys.executable, __file__, "--cell", name, "--seeds", str(options.seeds), "--first-seed", str(options.first_seed), "--method", options.method]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        row = (
            json.loads(done.stdout.splitlines()[-1])
            if done.returncode == 0
            else {"problem": name, "reasons": f"ended with code {done.returncode}"}
        )
        rows.append(row)
        print("  ".join(str(row.get(c, "")) for c in COLUMNS), flush=True)
        if options.method == "default":
            keep(row, options.set)
    wrong = sum(int(row.get("wrong", 0)) for row in rows)
    print(
        f"{sum(int(row.get('right', 0)) for row in rows)} right, {sum(int(row.get('refused', 0)) for row in rows)} refused, {wrong} wrong"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
