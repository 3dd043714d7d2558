"""A page for each method, from the docstring of its file, its settings, calibration and traps.

Nothing is written twice: the text is the module's own, the figures are drawn from `calibration/results.csv` and counted from
`calibration/traps.csv`, and the entries to cite are those of `references.bib`.
"""

from __future__ import annotations

import csv
import inspect
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path

from zhat.citations import bibtex
from zhat.methods._base import Method, registry

PICTURES = {"power-posterior": "power_curve", "nested": "nested_trace", "ais": "weights"}

Row = Mapping[str, str]


def write_all(folder: Path, root: Path) -> list[Path]:
    """Write every page and its picture; files that are as they should be are left alone, so that nothing is built twice."""
    calibration = _read(root / "calibration" / "results.csv")
    traps = _read(root / "calibration" / "traps.csv")
    folder.mkdir(exist_ok=True)
    written = []
    for name, method in registry().items():
        rows = [row for row in calibration if row["method"] == name]
        if rows:
            _keep(folder / f"{name}.svg", drawing(rows))
        written.append(_keep(folder / f"{name}.md", page(method, rows, [row for row in traps if row["method"] == name])))
    return written


def page(method: type[Method], calibration: Sequence[Row], traps: Sequence[Row]) -> str:
    """The page of one method, in Markdown."""
    module = sys.modules[method.__module__]
    title, _, text = inspect.cleandoc(module.__doc__ or "").partition("\n")
    name, _, rest = title.partition(": ")
    needs = ", ".join(sorted(need.value for need in method.needs))
    lines = [f"# {name}", "", f"*{rest.rstrip('.').capitalize()}.*" if rest else "", "", text.strip("\n"), ""]
    lines += ["## At a glance", "", f"* in Python `zhat.{method.__name__}()`, on the command line `--method {method.name}`"]
    lines += [f"* needs {needs}", f"* use it when: {method.when}", "", *_settings(method)]
    if method.name in PICTURES:
        picture = f"../pictures/running_example_{PICTURES[method.name]}.svg"
        lines += ["## On the running example", "", f"![{name} on the running example]({picture})"]
        lines += ["", "[All methods on it](../running_example.md)", ""]
    lines += _calibration(method, calibration) + _traps(traps)
    lines += ["## References", "", "```bibtex", bibtex(method.cites), "```", ""]
    return "\n".join(lines)


def _settings(method: type[Method]) -> list[str]:
    lines = ["## Settings", "", "| setting | default |", "|---|---|"]
    for field in fields(method):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        shown = "" if default is MISSING else str(default).replace("|", "\\|")
        lines.append(f"| `{field.name}` | `{shown}` |")
    return [*lines, ""]


def _calibration(method: type[Method], rows: Sequence[Row]) -> list[str]:
    lines = ["## How its standard errors are calibrated", ""]
    if not rows:
        return [*lines, "It has no standard error to calibrate, or is flagged on most models; see the traps.", ""]
    runs = sum(int(row["runs"]) for row in rows)
    hits = sum(int(row["hits95"]) for row in rows)
    heard = sum(int(row["runs"]) - round(int(row["runs"]) * float(row["flagged"])) for row in rows)
    lines += [
        f"{runs:,} runs with default settings on {len(rows)} models whose evidence is known: of {heard:,} that showed a standard error,",
        f"{hits:,} ({hits / max(heard, 1):.1%}) had the truth inside their 95 % interval.",
        "The scale of z is one when the standard errors are right; below one they are too large, above one too small.",
        "",
        f"![calibration of {method.name}]({method.name}.svg)",
        "",
        "| model | runs | bias | scale of z | in 95 % | in 50 % | median s.e. | flagged | seconds a run |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [row["model"], row["runs"], row["bias"], row["rms_z"], row["hits95"], row["hits50"], row["median_se"]]
        lines.append("| " + " | ".join([*cells, f"{float(row['flagged']):.0%}", row["seconds_per_run"]]) + " |")
    return [*lines, ""]


def _traps(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    keys = ("runs", "right", "flagged", "confidently_wrong")
    runs, right, flagged, wrong = (sum(int(row[key]) for row in rows) for key in keys)
    counts = f"{right} right, {flagged} flagged, {wrong} confidently wrong"
    lines = ["## In the traps", "", f"{runs} runs on {len(rows)} models that are built to break methods: {counts}."]
    lines += ["", "| trap | right | flagged | confidently wrong | codes |", "|---|---|---|---|---|"]
    for row in rows:
        cells = [row[key].replace("|", " ") for key in ("trap", "right", "flagged", "confidently_wrong", "reasons")]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", "[What the traps are](../trust.md#what-the-traps-show)", ""]


def drawing(rows: Sequence[Row]) -> str:
    """The scale of z of every model with the noise that so many runs leave, and the shares of hits, as SVG."""
    row_height, left, right = 20, 120, 600
    height = row_height * len(rows) + 60
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 {height}" role="img" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        "<title>scale of z by model</title>",
    ]

    def x(value: float) -> float:
        return left + (min(max(value, 0.5), 1.5) - 0.5) * (right - left)

    for tick in (0.5, 0.75, 1.0, 1.25, 1.5):
        colour = "#444444" if tick == 1.0 else "#d5d9df"
        parts.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="10" y2="{height - 40}" stroke="{colour}"/>')
        parts.append(f'<text x="{x(tick):.1f}" y="{height - 24}" text-anchor="middle" fill="#1b1f24">{tick:g}</text>')
    for i, row in enumerate(rows):
        y, n, z = 22 + row_height * i, int(row["runs"]), float(row["rms_z"])
        parts.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end" fill="#1b1f24">{row["model"]}</text>')
        if math.isfinite(z):
            noise = 2.0 * z / math.sqrt(2.0 * n)
            ends = f'x1="{x(z - noise):.1f}" x2="{x(z + noise):.1f}" y1="{y}" y2="{y}"'
            parts.append(f'<line {ends} stroke="#6aaed6" stroke-width="5"/>')
            parts.append(f'<circle cx="{x(z):.1f}" cy="{y}" r="4" fill="#08519c"/>')
    words = "root mean square of (estimate - truth) / standard error, ± 2 standard errors"
    parts.append(f'<text x="{(left + right) / 2}" y="{height - 6}" text-anchor="middle" fill="#1b1f24">{words}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _keep(path: Path, text: str) -> Path:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path
