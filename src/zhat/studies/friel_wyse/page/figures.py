"""Figure 1, three panels of boxplots over the runs, and the picture of ten samples for Table 1.

Inline SVG with real text for the page and for files; PNG by matplotlib where that is installed. Boxes reach from the lower to
the upper quartile, whiskers to the furthest run within one and a half boxes; runs beyond are dots.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zhat.errors import BadInput
from zhat.report.page.drawing import ticks
from zhat.report.page.markup import Html, tag
from zhat.results.records import Array
from zhat.studies.friel_wyse.page.notes import name_of
from zhat.studies.friel_wyse.parts import Done
from zhat.studies.friel_wyse.tables import table_2
from zhat.studies.friel_wyse.tables.cells import ROWS_2

WIDTH, LEFT, RIGHT, ROW = 380.0, 12.0, 368.0, 44.0
BLUE, GREY, RED = "#08519c", "#dfe3e8", "#a04000"


@dataclass(frozen=True)
class Panel:
    """One panel: a title, runs by method, where the truth is, and whether the axis is logarithmic."""

    title: str
    runs: dict[str, Array]
    truth: float
    logarithmic: bool = False


def panels(found: Mapping[str, Done]) -> list[Panel]:
    """The three panels of Figure 1, and our nested sampling beside Friel & Wyse's (2012)."""
    exact = table_2.exact()
    by_model: list[dict[str, Array]] = [{}, {}]
    for row, part, key in ROWS_2:
        if row in ("laplace", "power_corrected"):
            continue
        for i in (0, 1):
            by_model[i][name_of(row)] = np.asarray(found[f"table-2/{part}"].result[f"model {i + 1}"][key])
    for i in (0, 1):
        by_model[i]["Nested sampling, ours"] = np.asarray(found["table-2/ours-nested"].result[f"model {i + 1}"]["values"])
    factors = {name: np.exp(by_model[1][name] - by_model[0][name]) for name in by_model[0]}
    return [
        Panel("log evidence, model 1", by_model[0], exact[0]),
        Panel("log evidence, model 2", by_model[1], exact[1]),
        Panel("Bayes factor BF21", factors, math.exp(exact[1] - exact[0]), logarithmic=True),
    ]


def boxes(panel: Panel) -> Html:
    """One panel as SVG: a row each, its name above its box, the truth dotted."""
    scale = np.log10 if panel.logarithmic else np.asarray
    everything = np.concatenate([scale(runs) for runs in panel.runs.values()])
    low, high = float(everything.min()), float(everything.max())
    pad = 0.04 * (high - low)
    low, high = low - pad, high + pad

    def x(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (RIGHT - LEFT)

    bottom = ROW * len(panel.runs) + 8.0
    truth = x(float(scale(panel.truth)))
    parts = []
    for tick in _powers(low, high) if panel.logarithmic else ticks(low, high, 4):
        shown = f"{10**tick:,.0f}" if panel.logarithmic else f"{tick:g}"
        anchor = "start" if x(tick) < LEFT + 20 else "end" if x(tick) > RIGHT - 20 else "middle"
        parts.append(tag("line", x1=_n(x(tick)), x2=_n(x(tick)), y1="4", y2=_n(bottom), stroke=GREY))
        parts.append(tag("text", shown, x=_n(x(tick)), y=_n(bottom + 16), text_anchor=anchor, class_="small"))
    dotted = {"stroke": "#1b1f24", "stroke_dasharray": "2 3", "stroke_width": "1.5"}
    parts.append(tag("line", x1=_n(truth), x2=_n(truth), y1="4", y2=_n(bottom), **dotted))
    for i, (name, runs) in enumerate(panel.runs.items()):
        parts += _box(name, np.sort(scale(runs)), ROW * i, x)
    words = "; ".join(f"{name}: median {np.median(runs):.6g}" for name, runs in panel.runs.items())
    return _svg(parts, bottom + 24.0, panel.title, f"True value {panel.truth:.6g}. {words}")


def _box(name: str, runs: Array, top: float, x: Any) -> list[Html]:
    lower, middle, upper = np.quantile(runs, [0.25, 0.5, 0.75])
    reach = 1.5 * (upper - lower)
    inside = runs[(runs >= lower - reach) & (runs <= upper + reach)]
    y = top + 32.0
    halo = {"stroke": "#ffffff", "stroke_width": "4", "paint_order": "stroke"}  # the dotted line runs behind the name
    parts = [tag("text", name, x=_n(LEFT), y=_n(top + 20), class_="small", **halo)]
    parts.append(tag("line", x1=_n(x(inside[0])), x2=_n(x(inside[-1])), y1=_n(y), y2=_n(y), stroke=BLUE, stroke_width="1.5"))
    parts.append(
        tag(
            "rect",
            x=_n(x(lower)),
            y=_n(y - 6),
            width=_n(max(x(upper) - x(lower), 1.0)),
            height="12",
            fill="#9ecae1",
            stroke=BLUE,
        )
    )
    parts.append(tag("line", x1=_n(x(middle)), x2=_n(x(middle)), y1=_n(y - 6), y2=_n(y + 6), stroke=BLUE, stroke_width="2.5"))
    for run in runs[(runs < inside[0]) | (runs > inside[-1])]:
        parts.append(tag("circle", cx=_n(x(run)), cy=_n(y), r="2.5", fill="none", stroke=RED, stroke_width="1.3"))
    return parts


def ten_samples(done: Done) -> Html:
    """How far values move from tau0 = 1, for ten simulated samples: exact in blue, harmonic mean in brown."""
    tau0, exact, harmonic = moves(done)
    at = np.log10(tau0)
    low, high = float(min(exact.min(), harmonic.min())) - 0.3, float(max(exact.max(), harmonic.max())) + 0.3
    left, top, bottom = 48.0, 12.0, 240.0

    def x(value: float) -> float:
        return left + (value - at[0]) / (at[-1] - at[0]) * (RIGHT - left - 8)

    def y(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - top)

    parts = []
    for tick in ticks(low, high):
        parts.append(tag("line", x1=_n(left), x2=_n(RIGHT), y1=_n(y(tick)), y2=_n(y(tick)), stroke=GREY))
        parts.append(tag("text", f"{tick:g}", x=_n(left - 6), y=_n(y(tick) + 4), text_anchor="end", class_="small"))
    for tick, shown in zip(at, tau0, strict=True):
        parts.append(tag("text", f"{shown:g}", x=_n(x(tick)), y=_n(bottom + 18), text_anchor="middle", class_="small"))
    for lines, colour in ((exact, BLUE), (harmonic, RED)):
        for line in lines:
            points = " ".join(f"{_n(x(a))},{_n(y(b))}" for a, b in zip(at, line, strict=True))
            parts.append(tag("polyline", points=points, fill="none", stroke=colour, stroke_width="1.4", stroke_opacity="0.7"))
    parts.append(tag("text", "exact", x=_n(x(at[1]) - 8), y=_n(y(float(exact[:, 1].mean())) + 22), class_="small"))
    parts.append(tag("text", "harmonic mean", x=_n(x(at[1]) - 8), y=_n(y(float(harmonic[:, 1].max())) - 8), class_="small"))
    parts.append(tag("text", "tau0", x=_n((left + RIGHT) / 2), y=_n(bottom + 36), text_anchor="middle", class_="small"))
    words = f"from tau0 = 0.0001 to 1 the exact values rise by {-exact[:, 0].mean():.2f}, the harmonic means by "
    words += f"{-harmonic[:, 0].mean():.2f} on average"
    return _svg(parts, bottom + 44.0, "Log evidence relative to that at tau0 = 1, ten samples", words)


def moves(done: Done) -> tuple[Array, Array, Array]:
    """tau0, and for every sample how far the exact value and the harmonic mean lie from theirs at tau0 = 1."""
    exact = np.asarray(done.result["exact"])
    harmonic = np.asarray([[lanes[0] for lanes in sample] for sample in done.result["harmonic"]])
    return np.asarray(done.result["tau0"]), exact - exact[:, -1:], harmonic - harmonic[:, -1:]


def _powers(low: float, high: float) -> list[float]:
    """Logarithms of 1, 2 and 5 times powers of ten between two limits; of tens and threes where that is many."""
    steps = (1.0, 2.0, 5.0) if high - low < 1.7 else (1.0, 3.0)
    all_of_them = [k + math.log10(step) for k in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    return [tick for tick in all_of_them if low <= tick <= high]


def _n(value: float) -> str:
    return f"{value:.1f}"


def _svg(parts: Sequence[Html], height: float, title: str, words: str) -> Html:
    return tag(
        "svg",
        tag("title", title),
        tag("desc", words),
        *parts,
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
        aria_label=f"{title}. {words}.",
    )


def stand_alone(drawings: Sequence[Html]) -> str:
    """Drawings side by side as one SVG file, with the styles that the page gives them."""
    heights = [float(drawing.split('viewBox="0 0 ')[1].split('"')[0].split()[1]) for drawing in drawings]
    css = "text { font: 12.5px sans-serif; fill: #333; }"
    inner = "".join(
        drawing.replace("<svg ", f'<svg x="{i * (WIDTH + 20):g}" width="{WIDTH:g}" height="{height:g}" ', 1)
        for i, (drawing, height) in enumerate(zip(drawings, heights, strict=True))
    )
    wide, high = len(drawings) * (WIDTH + 20), max(heights)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}">'
    return f'{head}<style>{css}</style><rect width="100%" height="100%" fill="white"/>{inner}</svg>\n'


# -- PNG ---------------------------------------------------------------------------------------------------------------------


def png_of_figure_1(drawn: Sequence[Panel]) -> bytes:
    """The three panels by matplotlib."""
    figure = _figure(13.0, 4.2)
    for ax, panel in zip(figure.subplots(1, len(drawn)), drawn, strict=True):
        names = list(panel.runs)[::-1]
        style = {"color": RED, "markersize": 4}
        ax.boxplot([panel.runs[name] for name in names], orientation="horizontal", flierprops={"markeredgecolor": style["color"]})
        ax.set_yticks(range(1, len(names) + 1), names if panel is drawn[0] else [""] * len(names))
        ax.axvline(panel.truth, color="black", ls=":", lw=1.2)
        if panel.logarithmic:
            ax.set_xscale("log")
        ax.set_title(panel.title, fontsize=10)
    return _png(figure)


def png_of_ten_samples(done: Done) -> bytes:
    """The ten samples by matplotlib."""
    figure = _figure(5.6, 4.0)
    ax = figure.subplots()
    tau0, exact, harmonic = moves(done)
    for lines, colour, label in ((exact, BLUE, "exact"), (harmonic, RED, "harmonic mean")):
        ax.plot(tau0, lines.T, color=colour, lw=1, alpha=0.7, label=[label] + ["_"] * (len(lines) - 1))
    ax.set_xscale("log")
    ax.set_xlabel("tau0")
    ax.set_ylabel("log evidence relative to that at tau0 = 1")
    ax.legend(frameon=False, fontsize=8)
    return _png(figure)


def _figure(width: float, height: float) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BadInput("PNG pictures need matplotlib: pip install 'zhat[plots]'.") from error
    return Figure(figsize=(width, height), layout="constrained")


def _png(figure: Any) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=130, metadata={"Software": None})
    return stream.getvalue()
