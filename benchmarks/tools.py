"""Tools on problems: what the comparisons with peers share."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterable
from typing import Any

Row = dict[str, Any]
# A label, the script that runs it, and its setting.
Tool = tuple[str, str, str]


def on_all(tools: Iterable[Tool], problems: Iterable[str], measure: Callable[[str, str, str], Row]) -> dict[str, dict[str, Row]]:
    """Every tool on every problem: `measure(script, setting, problem)`, told as it goes."""
    tools, out = list(tools), dict[str, dict[str, Row]]()
    for problem in problems:
        out[problem] = {}
        for label, script, setting in tools:
            row = out[problem][label] = measure(script, setting, problem)
            print(f"{problem}: {label}: {one_line(row)}", file=sys.stderr, flush=True)
    return out


def accuracy(run: Row) -> Row:
    """Errors and cost of a tool's runs: `mse` of log Z, CPU `seconds` of the median run, and their `product`."""
    errors = [value - run["truth"] for value in run["log_evidence"] if math.isfinite(value)]
    if not errors:
        return {**run, "failed": "no run gave a number"}
    mse = statistics.fmean(e * e for e in errors)
    seconds = statistics.median(run["cpu_seconds"])
    return {
        **run,
        "n_failed": len(run["log_evidence"]) - len(errors),
        "bias": statistics.fmean(errors),
        "mse": mse,
        "rmse": math.sqrt(mse),
        "seconds": seconds,
        "product": seconds * mse,
    }


def one_line(row: Row) -> str:
    """What a row says, for watching."""
    if "failed" in row:
        return str(row["failed"])
    return f"{row['seconds']:.3f} s, bias {row['bias']:+.4f}, error {row['rmse']:.4f}, cost x error^2 {row['product']:.2e}"
