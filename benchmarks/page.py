"""The tables and pictures of docs/peers.md, and the figure of the README, from results/peers.jsonl alone.

    python benchmarks/page.py            # writes them
    python benchmarks/page.py --check    # says whether the pages are those of the file

A figure on these pages cannot be older than the file: a test makes the same comparison.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common
import problems
from peer_tools import DEFAULT, PROBLEMS, TOOLS

ROOT = common.HERE.parent
RESULT = common.RESULTS / "peers.jsonl"
PAGE, README, PICTURES = ROOT / "docs" / "peers.md", ROOT / "README.md", ROOT / "docs" / "pictures"
FEWEST = 3  # answers that a tool must have given to be compared in words: a mean square of fewer is hardly known
COLOURS = {
    "zhat": "#d7301f", "BlackJAX": "#2171b5", "particles": "#6baed6", "dynesty": "#238b45", "UltraNest": "#74c476", "nautilus": "#8c6bb1",
    "PyMC": "#e69f00", "R bridgesampling": "#525252",
}  # fmt: skip
MARKERS = "osD^vP"
# What a run costs: the attribute, and the words.
COSTS = {"seconds": "CPU seconds of a later run", "first": "CPU seconds of a first run", "calls": "likelihood calls"}
BUILT = {name: make() for name, make in problems.PROBLEMS.items()}
TITLES = {name: problem.title for name, problem in BUILT.items()}


@dataclass(frozen=True)
class Summary:
    """A tool on a problem. Runs without an answer are paid for: costs are those of an answer."""

    runs: int
    answers: int
    why_not: str
    mse: float = math.nan
    stated: float = math.nan
    seconds: float = math.nan
    first: float = math.nan
    calls: float = math.nan

    @property
    def error(self) -> float:
        """Root mean square error of log Z."""
        return math.sqrt(self.mse)

    def product(self, cost: str) -> float:
        """A cost times the squared error, which hardly depends on how long the tool runs."""
        return getattr(self, cost) * self.mse


Summaries = dict[str, dict[str, Summary]]


def read() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What the file says of its runs as a whole (one line a start), and its rows."""
    lines = [json.loads(line) for line in RESULT.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if "tool" not in line], [line for line in lines if "tool" in line]


def summarised(rows: list[dict[str, Any]]) -> Summaries:
    """Every tool on every problem."""
    found = defaultdict[tuple[str, str], list[dict[str, Any]]](list)
    for row in rows:
        found[row["problem"], row["tool"]].append(row)
    return {
        problem: {tool: summary(problem, found[problem, tool]) for tool in TOOLS if (problem, tool) in found}
        for problem in PROBLEMS
    }


def summary(problem: str, rows: list[dict[str, Any]]) -> Summary:
    """One tool on one problem."""
    answers = [row for row in rows if "failed" not in row and not row["refused"]]
    why_not = next((row.get("failed") or row["refused"] for row in rows if row not in answers), "")
    if not answers:
        return Summary(len(rows), 0, why_not)
    share, truth = len(answers) / len(rows), BUILT[problem].log_evidence
    # Tools that compile nothing have no first run.
    compiles = not TOOLS[rows[0]["tool"]].apart
    warm = [row["cpu_seconds"] for row in rows if not row["cold"]] or ([] if compiles else [row["cpu_seconds"] for row in rows])
    stated = [row["se"] for row in answers if row["se"] is not None]
    calls = [row["calls"] for row in answers if row["calls"] is not None]
    return Summary(
        len(rows),
        len(answers),
        why_not,
        mse=statistics.fmean((row["log_evidence"] - truth) ** 2 for row in answers),
        stated=math.sqrt(statistics.fmean(se * se for se in stated)) if stated else math.nan,
        seconds=statistics.fmean(warm) / share if warm else math.nan,
        first=statistics.fmean(row["cpu_seconds"] for row in rows if row["cold"]) / share,
        calls=statistics.fmean(calls) / share if calls else math.nan,
    )


def best_peer(rows: dict[str, Summary], cost: str) -> tuple[str, float]:
    """The peer with the smallest cost x squared error, and its ratio to the default's."""
    ratios = {
        tool: row.product(cost) / rows[DEFAULT].product(cost)
        for tool, row in rows.items()
        if TOOLS[tool].package != "zhat" and row.answers >= FEWEST and not math.isnan(row.product(cost))
    }
    return min(ratios.items(), key=lambda item: item[1])


def in_short(found: Summaries) -> str:
    """The best peer on every problem, by every cost."""
    lines = []
    for problem, rows in found.items():
        best = [best_peer(rows, cost) for cost in COSTS]
        cells = [[tool, figure(ratio) if ratio >= 0.95 else f"**{figure(ratio)}**"] for tool, ratio in best]
        lines.append([TITLES[problem], *(cell for pair in cells for cell in pair)])
    header = ["problem", "by CPU seconds", "ratio", "of a first run", "ratio", "by likelihood calls", "ratio"]
    return common.table(header, lines)


def of_ours(found: Summaries) -> str:
    """Our named methods beside the default: the ratio by CPU seconds on every problem."""
    ours = [tool for tool in TOOLS if TOOLS[tool].package == "zhat" and tool != DEFAULT and not TOOLS[tool].only]
    lines = [[TITLES[problem], *(ratio_of(rows, tool) for tool in ours)] for problem, rows in found.items()]
    return common.table(["problem", *(tool.partition(", ")[2] for tool in ours)], lines)


def ratio_of(rows: dict[str, Summary], tool: str) -> str:
    """CPU seconds x squared error over the default's, if enough runs gave an answer."""
    row = rows[tool]
    if row.answers < FEWEST:
        return f"{row.answers} of {row.runs} answered"
    return figure(row.product("seconds") / rows[DEFAULT].product("seconds"))


def tables(found: Summaries) -> str:
    """One table a problem, sorted by the ratio of CPU seconds."""
    parts = []
    header = ["tool", "answers", "error", "stated", "CPU s", "first CPU s", "calls", "ratio", "first ratio", "calls ratio"]
    for problem, rows in found.items():
        good = sorted((tool for tool in rows if rows[tool].answers), key=lambda tool: order(rows[tool]))
        parts += [f"## {TITLES[problem]}", common.table(header, [cells(tool, rows) for tool in good])]
        bad = [f"{tool}: {row.why_not} ({row.runs} of {row.runs} runs)" for tool, row in rows.items() if not row.answers]
        parts += [f"Without an answer: {'; '.join(bad)}."] if bad else []
    return "\n\n".join(parts)


def order(row: Summary) -> tuple[bool, float]:
    """Tools by CPU seconds x squared error; at the end, by that of a first run, those without a later one."""
    lacks = math.isnan(row.seconds)
    return lacks, row.product("first" if lacks else "seconds")


def cells(tool: str, rows: dict[str, Summary]) -> list[str]:
    """A row of a table."""
    row, ours = rows[tool], rows[DEFAULT]
    answers = str(row.runs) if row.answers == row.runs else f"{row.answers} of {row.runs}"
    ratios = [figure(row.product(cost) / ours.product(cost)) for cost in COSTS]
    numbers = [
        f"{row.error:.4f}",
        known(row.stated, ".4f"),
        known(row.seconds, ".2f"),
        f"{row.first:.1f}",
        known(row.calls, ",.0f"),
    ]
    return [tool, answers, *numbers, *ratios]


def known(x: float, form: str) -> str:
    """A number, if there is one."""
    return "" if math.isnan(x) else format(x, form)


def figure(ratio: float) -> str:
    """A ratio in two or three digits."""
    return "" if math.isnan(ratio) else f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}" if ratio < 0.95 else f"{ratio:.1f}"


def made(starts: list[dict[str, Any]], rows: list[dict[str, Any]]) -> str:
    """When, where and with what the file was made."""
    first = starts[0]
    versions = {**first["versions"], **{k: v for k, v in first["versions_apart"].items() if k not in first["versions"]}}
    names = ", ".join(f"{name} {version}" for name, version in {**versions, **first["r"]}.items())
    load = [row["load"] for row in rows]
    minutes = sum(row.get("cpu_seconds", 0.0) for row in rows) / 60.0
    apart = first["versions_apart"]
    return (
        f"Made on {first['date']} at commit `{first['commit']}`, {len(rows):,} evidences in {minutes:.0f} CPU minutes and {len(starts)} starts of the runner, "
        f"each process on one core of a machine with {first['cores']} ({first['processor']}) whose load was {statistics.median(load):.1f} in the median and "
        f"{max(load):.1f} at most. {names}; dynesty, UltraNest, nautilus and particles with NumPy {apart['numpy']}. "
        f"A tool runs {span(starts, 'seeds')} seeds on a problem, or fewer when it has used {span(starts, 'seconds')} CPU seconds there; "
        f"a run is ended after {span(starts, 'limit')} CPU seconds."
    )


def span(starts: list[dict[str, Any]], setting: str) -> str:
    """A setting of the run, or its range over the problems."""
    low, high = (choose(start[setting] for start in starts) for choose in (min, max))
    return f"{low:.0f}" if low == high else f"{low:.0f} to {high:.0f}"


def for_readme(found: Summaries) -> str:
    """One clause: the ratio of the best peer's to the default's over the problems."""
    ratios = [best_peer(rows, "seconds")[1] for rows in found.values()]
    middle = figure(statistics.median(ratios))
    return (
        f"for the same error the best of them needs {figure(min(ratios))} times the default's CPU time or more, {middle} times in the "
        f"median of {len(ratios)} problems"
    )


def draw(found: Summaries, cost: str, path: Path) -> None:
    """Cost against error, one panel a problem; along a grey line cost x squared error is the same."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    matplotlib.rcParams["svg.hashsalt"] = "peers"
    figure = Figure(figsize=(9.6, 9.6), layout="constrained")
    *axes, last = figure.subplots(3, 3).ravel()
    handles: dict[str, Any] = {}
    for ax, (problem, rows) in zip(axes, found.items(), strict=True):
        for tool, row in rows.items():
            if not row.answers or math.isnan(getattr(row, cost)):
                continue
            package = TOOLS[tool].package
            others = [name for name in TOOLS if TOOLS[name].package == package and name != DEFAULT]
            marker, size = ("*", 190) if tool == DEFAULT else (MARKERS[others.index(tool)], 36)
            style = {"marker": marker, "s": size, "edgecolors": COLOURS[package], "zorder": 3}
            ax.scatter(getattr(row, cost), row.error, facecolors=COLOURS[package] if row.answers >= FEWEST else "white", **style)
            handles[tool] = ax.scatter([], [], facecolors=COLOURS[package], **style)
        ax.set(xscale="log", yscale="log", title=TITLES[problem])
        ax.title.set_fontsize(10)
        x, y = [10.0 ** f(math.log10(end)) for f, end in zip((math.floor, math.ceil), ax.get_xlim(), strict=True)], ax.get_ylim()
        for power in range(-12, 16):
            ax.plot(x, [math.sqrt(10.0**power / one) for one in x], color="#dddddd", lw=0.7, zorder=1)
        ax.set(xlim=x, ylim=y)
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.yaxis.set_minor_formatter(NullFormatter())
        ax.set_xlabel(COSTS[cost], fontsize=9)
    figure.supylabel("root mean square error of log Z", fontsize=10)
    ordered = [tool for tool in TOOLS if tool in handles]
    labels = [tool.replace("`", "") for tool in ordered]
    last.axis("off")
    last.legend(
        [handles[tool] for tool in ordered], labels, loc="center", fontsize=8, labelspacing=0.3, frameon=False
    ).set_in_layout(False)
    figure.savefig(path, metadata={"Date": None})


def renewed(page: str, parts: dict[str, str]) -> str:
    """The page with each part between its two marks."""
    for name, text in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        head, rest = page.split(begin)
        page = f"{head}{begin}{text}{end}{rest.split(end)[1]}"
    return page


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    starts, rows = read()
    found = summarised(rows)
    parts = {"run": made(starts, rows), "in short": in_short(found), "named methods": of_ours(found), "tables": tables(found)}
    wanted = {
        PAGE: renewed(PAGE.read_text(encoding="utf-8"), {name: f"\n\n{text}\n\n" for name, text in parts.items()}),
        README: renewed(README.read_text(encoding="utf-8"), {"beside peers": for_readme(found)}),
    }
    if check:
        return int(any(path.read_text(encoding="utf-8") != text for path, text in wanted.items()))
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    draw(found, "seconds", PICTURES / "peers.svg")
    draw(found, "calls", PICTURES / "peers_calls.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
