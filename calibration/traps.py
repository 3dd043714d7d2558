"""Never confidently wrong: every method on every trap of the zoo, over many seeds.

A run is *right* when it is `ok` and the truth lies within four of its reported errors, *flagged* when it is not `ok`
(whatever its number), and *confidently wrong* otherwise. The table is kept in `traps.csv` beside this file, that of the crosscheck,
which takes minutes on some traps, in `traps_crosscheck.csv`, and those of the methods from chains in `traps_bridge.csv`. There the rows
`bridge unchecked` and `reciprocal unchecked` have the check for missed mass switched off; they run when named.

    python calibration/traps.py            # 20 seeds, two processes
    python calibration/traps.py --method bridge --method "bridge unchecked" --trap S7
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import sys
from pathlib import Path
from typing import Any

# Beyond the stress set: the centred eight schools (no mode), mirrored modes that no step joins, many dimensions, modes whose
# share on the way from the prior is small or that are small themselves, a likelihood that is all but zero on half of a vague
# prior, and the traps of `zoo.needles`, on which one family of methods fails and another does not.
MORE = ("E15", "label-switching-2", "label-switching-3", "gaussian-100", "unequal-modes-10", "unequal-modes-20",
        "unequal-modes-30", "small-mode-10", "three-modes-3", "separated-classes", "soft-spike-5", "flat-funnel",
        "unequal-widths-5", "unequal-widths-6", "unequal-widths-4-black-box", "unequal-widths-8-black-box", "tied-mixture",
        "mirrored-signs-10")  # fmt: skip
# Rows that are no single method: several families until two agree.
PORTFOLIOS = ("default", "crosscheck")
RESULTS = Path(__file__).parent / "traps.csv"
RESULTS_OF_CROSSCHECK = Path(__file__).parent / "traps_crosscheck.csv"
RESULTS_FROM_CHAINS = Path(__file__).parent / "traps_bridge.csv"
FROM_CHAINS = ("bridge", "reciprocal", "bridge unchecked", "reciprocal unchecked")
COLUMNS = ("trap", "method", "runs", "right", "flagged", "confidently_wrong", "worst_error", "largest_z", "reasons")


def cell(task: tuple[str, str, int]) -> dict[str, object]:
    """All seeds of one method on one trap."""
    import zhat

    trap, method, runs = task
    example = zhat.zoo.example(trap)
    right = flagged = wrong = 0
    worst = largest = 0.0
    reasons: set[str] = set()
    for seed in range(runs):
        result = _result(example.model, method, seed)
        error = abs(result.log_evidence - example.log_evidence)
        worst = max(worst, error)
        if not result.status.is_ok:
            flagged += 1
            reasons |= {reason.code for reason in result.status.reasons}
        elif error <= 4.0 * result.error + 1e-9:
            right += 1
            largest = max(largest, error / result.error if result.error else 0.0)
        else:
            wrong += 1
            largest = max(largest, error / result.error if result.error else float("inf"))
    row = {
        "trap": trap,
        "method": method,
        "runs": runs,
        "right": right,
        "flagged": flagged,
        "confidently_wrong": wrong,
        "worst_error": f"{worst:.3f}",
        "largest_z": f"{largest:.2f}",
        "reasons": " ".join(sorted(reasons)),
    }
    print("  ".join(f"{row[c]!s:>{w}}" for c, w in zip(COLUMNS, (8, 11, 4, 5, 5, 5, 9, 7, 0), strict=True)), flush=True)
    return row


def _result(model: Any, method: str, seed: int) -> Any:
    """The evidence by this row's method."""
    import zhat

    if method == "crosscheck":
        return zhat.crosscheck(model, seed=seed, progress=False).evidence
    unchecked = {"bridge unchecked": zhat.Bridge(mode_check=False), "reciprocal unchecked": zhat.Reciprocal(mode_check=False)}
    return zhat.evidence(model, None if method == "default" else unchecked.get(method, method), seed=seed, progress=False)


def _results_of(method: str) -> Path:
    """The file of this row."""
    if method == "crosscheck":
        return RESULTS_OF_CROSSCHECK
    return RESULTS_FROM_CHAINS if method in FROM_CHAINS else RESULTS


def keep(new: dict[str, object], order: list[str]) -> None:
    """Put one row into the table, in place of an older one."""
    results = _results_of(str(new["method"]))
    kept: dict[tuple[object, object], dict[str, object]] = {}
    if results.exists():
        with results.open(newline="") as file:
            kept = {(row["trap"], row["method"]): dict(row) for row in csv.DictReader(file)}
    kept[new["trap"], new["method"]] = new
    with results.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept[key] for key in sorted(kept, key=lambda key: (order.index(str(key[0])), str(key[1]))))


def main() -> int:
    """Run all cells and write the table."""
    import zhat

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--method", action="append", help="only these; the others' rows are kept")
    parser.add_argument("--trap", action="append", help="only these; the others' rows are kept")
    options = parser.parse_args()
    tasks = [
        (trap, method, options.runs)
        for trap in (*zhat.zoo.S_IDS, *MORE)
        for method in (*zhat.methods.registry(), *PORTFOLIOS, *(m for m in FROM_CHAINS if " " in m and options.method))
        if (not options.method or method in options.method)
        and (not options.trap or trap in options.trap)
        and (method in PORTFOLIOS or zhat.methods.registry()[method.split()[0]].needs <= zhat.zoo.example(trap).model.offers)
    ]
    print("    trap  method       runs  right  flagged  wrong  worst error  largest z")
    order = [*zhat.zoo.S_IDS, *MORE]
    rows: list[dict[str, object]] = []
    with multiprocessing.get_context("spawn").Pool(options.workers, maxtasksperchild=5) as pool:
        for row in pool.imap(cell, tasks, chunksize=1):
            rows.append(row)
            keep(row, order)  # each as it comes: hours of runs may be interrupted
    wrong = sum(int(str(row["confidently_wrong"])) for row in rows)
    print(f"{wrong} confidently wrong of {sum(int(str(row['runs'])) for row in rows)} runs; written beside {RESULTS.name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
