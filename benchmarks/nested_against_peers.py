"""Cost x squared error of our nested sampling against dynesty's, UltraNest's and BlackJAX's, on one core.

Every tool runs every problem in a process of its own, over the same seeds, at its defaults. Cost is CPU seconds of the median run
after a first one (which compiles), error the mean squared error of log Z against the truth. Their product hardly depends on the
number of live points, so tools can be compared at any size.

    python benchmarks/nested_against_peers.py --peers-python OTHER/bin/python   # where dynesty and UltraNest are installed apart
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from typing import Any

import common
import tools
from nested_problems import PROBLEMS

OURS = ("zhat", "ours_nested.py", "default")
PEERS = [
    ("dynesty", "peer_dynesty.py", "default"),
    ("UltraNest", "peer_ultranest.py", "default"),
    ("BlackJAX nested slice sampling", "peer_blackjax_nss.py", "default"),
    ("BlackJAX, 50 deaths at once", "peer_blackjax_nss.py", "50-at-once"),
]
APART = ("peer_dynesty.py", "peer_ultranest.py")


def measure(script: str, setting: str, problem: str, n_seeds: int, python: str) -> dict[str, Any]:
    """One tool on one problem."""
    arguments = ["--problem", problem, "--setting", setting, "--seeds", str(n_seeds)]
    with common.compile_cache() as environment:
        try:
            return summary(common.run_child(script, arguments, environment, python))
        except RuntimeError as error:
            return {"failed": str(error)}


def summary(run: dict[str, Any]) -> dict[str, Any]:
    """Errors and cost, and the error that the tool states."""
    stated = [s for s in run.get("stated_se", []) if s is not None]
    return {**tools.accuracy(run), "stated": statistics.median(stated) if stated else None}


def compare(n_seeds: int, problems: list[str], peers_python: str) -> dict[str, dict[str, Any]]:
    """All tools on all problems."""

    def measured(script: str, setting: str, problem: str) -> dict[str, Any]:
        return measure(script, setting, problem, n_seeds, peers_python if script in APART else sys.executable)

    return tools.on_all([OURS, *PEERS], problems, measured)


def report(result: dict[str, dict[str, Any]], n_seeds: int) -> str:
    """A table a problem; ratios above one mean that ours is cheaper for the same error."""
    parts = [
        "## Nested sampling against its peers",
        f"CPU seconds on one core x mean squared error of log Z over {n_seeds} seeds (a mean square of {n_seeds} is "
        f"known to about ±{100 * math.sqrt(2 / max(n_seeds, 1)):.0f} %), every tool at its defaults. Ratios are peer / ours: "
        "above 1, ours is cheaper for the same error.",
    ]
    for problem, rows in result.items():
        ours = rows[OURS[0]]
        header = ["tool", "CPU s", "bias", "error", "stated", "s x MSE", "ratio"]
        parts += [f"### {problem}", common.table(header, [cells(label, row, ours) for label, row in rows.items()])]
        parts += [f"{label}: {row['failed']}" for label, row in rows.items() if "failed" in row]
    lost = [
        f"{label} on {problem} ({rows[label]['product'] / rows[OURS[0]]['product']:.2f})"
        for problem, rows in result.items()
        for label, _, _ in PEERS
        if rows[label].get("product", math.inf) < rows[OURS[0]].get("product", math.inf)
    ]
    return "\n\n".join([*parts, "Ours is below every peer." if not lost else f"**A peer is below ours:** {'; '.join(lost)}."])


def cells(label: str, row: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """One row of the table."""
    if "failed" in row:
        return [label, "failed", *[""] * 5]
    stated = "" if row["stated"] is None else f"{row['stated']:.4f}"
    ratio = f"{row['product'] / ours['product']:.1f}" if ours.get("product") else ""
    name = label + (f" ({row['n_failed']} failed)" if row["n_failed"] else "")
    return [name, f"{row['seconds']:.3f}", f"{row['bias']:+.4f}", f"{row['rmse']:.4f}", stated, f"{row['product']:.2e}", ratio]


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--problem", choices=PROBLEMS, action="append")
    parser.add_argument("--peers-python", default=sys.executable, help="a Python that has dynesty and ultranest")
    parser.add_argument("--raw", action="store_true", help="print the numbers as JSON instead of writing results")
    options = parser.parse_args()
    result = compare(options.seeds, options.problem or list(PROBLEMS), options.peers_python)
    if options.raw:
        print(json.dumps(result))
    else:
        common.write("nested_against_peers", {"seeds": options.seeds, "problems": result}, report(result, options.seeds))


if __name__ == "__main__":
    main()
