"""The tables and the picture of docs/peers.md, from the result files alone.

    python benchmarks/page.py            # writes them
    python benchmarks/page.py --check    # says whether the page is that of the files

A figure on the page cannot be older than its result file: a test makes the same comparison.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import common

PAGE = common.HERE.parent / "docs" / "peers.md"
PICTURE = PAGE.parent / "pictures" / "peers.svg"
BEGIN, END = "<!-- tables of benchmarks -->", "<!-- end of tables -->"
PROBLEMS = {
    "pima-2": "Pima model 2, 6 parameters",
    "eight-schools": "eight schools, 10 parameters",
    "gaussian-20": "correlated Gaussian, 20 parameters",
    "shells-10": "two shells, 10 parameters",
    "eggbox": "eggbox, 2 parameters",
}
# Result files made before the package had its name call it otherwise.
OURS = ("zhat", "evidentia")
BY_DEFAULT = "zhat, the default"
COLOURS = {
    BY_DEFAULT: "#b2182b", "zhat": "#ef8a62", "BlackJAX": "#2166ac", "particles": "#67a9cf", "dynesty": "#1b7837", "UltraNest": "#762a83",
}  # fmt: skip
PARTS = {"smc_against_peers": "`SMC`", "nested_against_peers": "`NestedSampling`"}

Rows = dict[str, dict[str, Any]]


def rows_of(problem: str) -> Rows:
    """Every tool's row on a problem, over all result files: ours first."""
    rows: Rows = {}
    for part, method in PARTS.items():
        for tool, row in _result(part).get(problem, {}).items():
            name, _, setting = tool.partition(", ")
            rows[f"zhat, {method}" + (f", {setting}" if setting else "") if name in OURS else tool] = row
    default = _result("by_default").get(problem)
    return {**({BY_DEFAULT: default} if default else {}), **rows}


def tables() -> str:
    """One table a problem."""
    parts = []
    for problem, words in PROBLEMS.items():
        rows = rows_of(problem)
        ours = rows[BY_DEFAULT]["product"]
        lines = [
            [
                tool,
                f"{row['seconds']:.2f}",
                f"{row['first_run_cpu_seconds']:.1f}",
                f"{row['rmse']:.4f}",
                _figure(row["product"] / ours),
            ]
            for tool, row in sorted(rows.items(), key=lambda item: item[1]["product"])
        ]
        parts += [f"## {words}", common.table(["tool", "CPU s", "first CPU s", "error", "ratio"], lines)]
    return "\n\n".join(parts)


def draw() -> None:
    """Cost against error, one panel a problem: to the lower left is better."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.4), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True, sharey=True).ravel()
    handles: dict[str, Any] = {}
    for ax, (problem, words) in zip(axes, PROBLEMS.items(), strict=False):
        for tool, row in rows_of(problem).items():
            who = BY_DEFAULT if tool == BY_DEFAULT else next(name for name in COLOURS if tool.startswith(name))
            marker, size = ("*", 130) if who == BY_DEFAULT else ("o", 36)
            handles[who] = ax.scatter(row["seconds"], row["rmse"], c=COLOURS[who], marker=marker, s=size, zorder=3)
        ax.tick_params(labelbottom=True, labelleft=True)
        ax.set(xscale="log", yscale="log", xlabel="CPU seconds of a run", ylabel="error of log Z")
        ax.set_title(words, fontsize=10)
        ax.grid(alpha=0.25)
    axes[-1].axis("off")
    axes[-1].legend(list(handles.values()), list(handles), loc="center", frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


def with_tables(page: str) -> str:
    """The page with the tables of the result files."""
    head, rest = page.split(BEGIN)
    return f"{head}{BEGIN}\n\n{tables()}\n\n{END}{rest.split(END)[1]}"


def _result(part: str) -> dict[str, Any]:
    file: Path = common.RESULTS / f"{part}.json"
    found: dict[str, Any] = json.loads(file.read_text())["problems"] if file.exists() else {}
    return found


def _figure(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}" if ratio < 1 else f"{ratio:.1f}"


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    page = PAGE.read_text(encoding="utf-8")
    if parser.parse_args().check:
        return int(with_tables(page) != page)
    PAGE.write_text(with_tables(page), encoding="utf-8")
    draw()
    return 0


if __name__ == "__main__":
    sys.exit(main())
