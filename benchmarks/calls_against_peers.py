"""Likelihood calls of our nested sampling (and of the default) against dynesty's, UltraNest's and nautilus', on black boxes.

Every tool runs every problem at its defaults, over the same seeds. What counts is the number of likelihood calls and what they buy: the
*calls scaled to a standard error of 0.1* are calls x se^2 / 0.01, with the standard error that the tool states, and again with its
root mean square error. Calls x se^2 hardly depends on the number of live points. Where a tool cannot end sooner, its own calls are the
price of an answer of 0.1 as well; so both are shown.

    python benchmarks/calls_against_peers.py --peers-python OTHER/bin/python --cells FOLDER

With `--cells` each tool's numbers on a problem are kept in a file of this folder and not measured again: the whole takes hours.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from pathlib import Path
from typing import Any

import common
from calls_problems import PROBLEMS

OURS = ("zhat nested", "zhat importance", "zhat")
PEERS = ("dynesty", "UltraNest", "nautilus")
TARGET = 0.1


def cell(tool: str, problem: str, seeds: int, peers_python: str, folder: Path | None) -> dict[str, Any]:
    """The numbers of one tool on one problem, kept in a file where a folder is given."""
    path = None if folder is None else folder / f"{problem}.{tool.replace(' ', '-')}.json"
    if path is not None and path.exists():
        return dict(json.loads(path.read_text().strip().splitlines()[-1]))
    script, python = ("calls_of_ours.py", sys.executable) if tool in OURS else ("calls_of_peers.py", peers_python)
    with common.compile_cache() as environment:
        try:
            rows = common.run_child(script, ["--problem", problem, "--tool", tool, "--seeds", str(seeds)], environment, python)
        except RuntimeError as error:
            return {tool: {"failed": str(error)}}
    if path is not None:
        path.write_text(json.dumps(rows) + "\n")
    return dict(rows)


def summary(row: dict[str, Any]) -> dict[str, Any]:
    """Calls, errors, and calls scaled to a standard error of 0.1 by the stated and by the true error."""
    if not row.get("log_evidence"):
        return {**row, "failed": row.get("failed", "no run gave an answer")}
    calls, se = statistics.fmean(row["calls"]), math.sqrt(statistics.fmean(s * s for s in row["se"]))
    mse = statistics.fmean((value - row["truth"]) ** 2 for value in row["log_evidence"])
    scaled, true = calls * se**2 / TARGET**2, calls * mse / TARGET**2
    return {**row, "mean_calls": calls, "stated": se, "rmse": math.sqrt(mse), "scaled": scaled, "scaled_by_error": true}


def report(result: dict[str, dict[str, Any]]) -> str:
    """A table a problem; the last column is the tool's calls over ours."""
    parts = [
        "## Likelihood calls against peers",
        "Black boxes with uniform priors, every tool at its defaults. *to 0.1*: calls scaled to a standard error of 0.1, calls x se^2 / "
        "0.01, by the standard error that is stated and by the root mean square error (known to ±22 % with 10 seeds, hardly at all "
        "with one). *ratio*: calls of the tool / calls of zhat's nested sampling.",
    ]
    header = ["tool", "seeds", "calls", "stated s.e.", "rms error", "to 0.1, stated", "to 0.1, true", "ratio"]
    for problem, rows in result.items():
        ours = rows.get(OURS[0], {}).get("mean_calls", math.nan)
        parts += [f"### {problem}", common.table(header, [cells(tool, row, ours) for tool, row in rows.items()])]
    return "\n\n".join(parts)


def cells(tool: str, row: dict[str, Any], ours: float) -> list[str]:
    """One row of the table."""
    if "failed" in row:
        return [tool, str(len(row.get("calls", []))), *["-"] * 6]
    name = tool + (f" ({row['refused']} refused)" if row.get("refused") else "")
    numbers = [f"{row['mean_calls']:,.0f}", f"{row['stated']:.4f}", f"{row['rmse']:.4f}", f"{row['scaled']:,.0f}"]
    ratio = row["mean_calls"] / ours
    return [name, str(len(row["calls"])), *numbers, f"{row['scaled_by_error']:,.0f}", f"{ratio:.1f}"]


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--problem", choices=PROBLEMS, action="append")
    parser.add_argument("--tool", choices=[*OURS, *PEERS], action="append")
    parser.add_argument(
        "--peers-python", default=sys.executable, help="a Python that has dynesty, ultranest and nautilus-sampler"
    )
    parser.add_argument("--cells", type=Path, help="a folder in which the numbers of each tool and problem are kept")
    parser.add_argument("--only-kept", action="store_true", help="measure nothing: report what is in the folder")
    options = parser.parse_args()
    result: dict[str, dict[str, Any]] = {}
    for problem in options.problem or PROBLEMS:
        rows: dict[str, Any] = {}
        for tool in options.tool or [*OURS, *PEERS]:
            kept = options.cells is not None and (options.cells / f"{problem}.{tool.replace(' ', '-')}.json").exists()
            if kept or not options.only_kept:
                rows |= cell(tool, problem, options.seeds, options.peers_python, options.cells)
        if not rows:
            continue
        result[problem] = {tool: summary(row) for tool, row in rows.items()}
        print(f"{problem}: {', '.join(result[problem])}", file=sys.stderr, flush=True)
    common.write("calls_against_peers", {"seeds": options.seeds, "problems": result}, report(result))


if __name__ == "__main__":
    main()
