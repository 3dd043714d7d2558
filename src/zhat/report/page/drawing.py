"""Small drawings as inline SVG for self-contained pages: no library, no font file, real text.

They are narrow, so that a phone shows them legibly, and each has its title and a description in words for screen
readers. `report/pictures` draws the same numbers with matplotlib.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from zhat.report.page.markup import Html, tag

WIDTH = 460.0
LEFT, RIGHT = 10.0, 450.0
ROW = 46.0
# Letters on a line of a drawing: a name, a gap, and what is written at its end.
LINE = 56


@dataclass(frozen=True)
class Bar:
    """One row of a drawing: a name, its value and interval, the text at its end; marked when the run is suspect."""

    name: str
    value: float
    interval: tuple[float, float] | None
    shown: str
    doubtful: bool = False


def rows_with_intervals(bars: Sequence[Bar], title: str, axis: str, limits: tuple[float, float] | None = None) -> Html:
    """A row each: name and number above, the point and its interval on a common axis below."""
    low, high = limits or _limits(bars)
    height = ROW * len(bars) + 46.0
    parts: list[Html] = []
    bottom = ROW * len(bars) + 8.0
    for tick in ticks(low, high):
        x = _at(tick, low, high)
        parts.append(tag("line", x1=_n(x), x2=_n(x), y1="4", y2=_n(bottom), stroke="#dfe3e8"))
        anchor = "start" if x < LEFT + 15 else "end" if x > RIGHT - 15 else "middle"
        parts.append(tag("text", f"{tick:g}", x=_n(x), y=_n(bottom + 16), text_anchor=anchor, class_="small"))
    for i, bar in enumerate(bars):
        parts += _row(bar, ROW * i, low, high)
    parts.append(tag("text", axis, x=_n((LEFT + RIGHT) / 2), y=_n(bottom + 33), text_anchor="middle", class_="small"))
    return _svg(parts, height, title, "; ".join(f"{bar.name}: {bar.shown}" for bar in bars))


def curve(
    xs: Sequence[float], ys: Sequence[float], errors: Sequence[float], title: str, axes: tuple[str, str], log_x: bool
) -> Html:
    """A line with a band of two standard errors; the horizontal axis is logarithmic with `log_x`."""
    low = min(y - 2 * (0.0 if math.isnan(e) else e) for y, e in zip(ys, errors, strict=True))
    high = max(y + 2 * (0.0 if math.isnan(e) else e) for y, e in zip(ys, errors, strict=True))
    pad = 0.05 * ((high - low) or 1.0)
    low, high = low - pad, high + pad
    at = [math.log10(x) if log_x else x for x in xs]
    top, bottom, left = 24.0, 244.0, 62.0

    def px(x: float) -> float:
        return left + (x - at[0]) / ((at[-1] - at[0]) or 1.0) * (RIGHT - left - 10)

    def py(y: float) -> float:
        return bottom - (y - low) / (high - low) * (bottom - top)

    parts: list[Html] = []
    for tick in ticks(low, high):
        parts.append(tag("line", x1=_n(left), x2=_n(RIGHT), y1=_n(py(tick)), y2=_n(py(tick)), stroke="#dfe3e8"))
        parts.append(tag("text", f"{tick:g}", x=_n(left - 6), y=_n(py(tick) + 4), text_anchor="end", class_="small"))
    for tick in decades(xs[0], xs[-1]) if log_x else ticks(at[0], at[-1]):
        place = px(math.log10(tick) if log_x else tick)
        parts.append(tag("line", x1=_n(place), x2=_n(place), y1=_n(bottom), y2=_n(bottom + 5), stroke="#4b5563"))
        parts.append(tag("text", f"{tick:g}", x=_n(place), y=_n(bottom + 18), text_anchor="middle", class_="small"))
    if not any(math.isnan(e) for e in errors):
        upper = [f"{_n(px(x))},{_n(py(y + 2 * e))}" for x, y, e in zip(at, ys, errors, strict=True)]
        lower = [f"{_n(px(x))},{_n(py(y - 2 * e))}" for x, y, e in zip(at, ys, errors, strict=True)]
        parts.append(tag("polygon", points=" ".join([*upper, *reversed(lower)]), fill="#9ecae1"))
    line = " ".join(f"{_n(px(x))},{_n(py(y))}" for x, y in zip(at, ys, strict=True))
    parts.append(tag("polyline", points=line, fill="none", stroke="#08519c", stroke_width="2"))
    parts.append(tag("text", axes[0], x=_n((left + RIGHT) / 2), y=_n(bottom + 36), text_anchor="middle", class_="small"))
    parts.append(tag("text", axes[1], x=_n(LEFT), y="14", text_anchor="start", class_="small"))
    words = f"from {ys[0]:.2f} at {xs[0]:g} to {ys[-1]:.2f} at {xs[-1]:g}, highest {max(ys):.2f}"
    return _svg(parts, bottom + 44.0, title, words)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers between two limits, evenly apart."""
    span = high - low
    if not span > 0.0 or not math.isfinite(span):
        return [low]
    raw = span / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1.0, 2.0, 2.5, 5.0, 10.0) if power * m >= raw)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def decades(low: float, high: float) -> list[float]:
    """Round numbers between two positive limits for a logarithmic axis: powers of ten, and some between where there are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0)):
        found = [m * 10.0**k for k in range(first, last + 1) for m in steps]
        found = [float(f"{value:.6g}") for value in found if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(found) >= 3:
            break
    return found


def _row(bar: Bar, top: float, low: float, high: float) -> list[Html]:
    colour = "#a04000" if bar.doubtful else "#08519c"
    y = _n(top + 36)
    room = LINE - len(bar.shown)
    short = bar.name if len(bar.name) <= room else bar.name[: room - 1] + "…"
    found = [
        tag("text", short, x=_n(LEFT), y=_n(top + 20)),
        tag("text", bar.shown, x=_n(RIGHT), y=_n(top + 20), text_anchor="end"),
    ]
    if bar.interval is not None:
        a, b = (_n(_at(min(max(end, low), high), low, high)) for end in bar.interval)
        found.append(tag("line", x1=a, x2=b, y1=y, y2=y, stroke=colour, stroke_width="5", stroke_opacity="0.45"))
    fill = "#ffffff" if bar.doubtful else colour
    found.append(tag("circle", cx=_n(_at(bar.value, low, high)), cy=y, r="4.5", fill=fill, stroke=colour, stroke_width="2"))
    return found


def _limits(bars: Sequence[Bar]) -> tuple[float, float]:
    ends = [bar.value for bar in bars] + [end for bar in bars for end in bar.interval or ()]
    finite = [end for end in ends if math.isfinite(end)] or [0.0]
    low, high = min(finite), max(finite)
    pad = 0.04 * (high - low) or 1.0
    return low - pad, high + pad


def _at(value: float, low: float, high: float) -> float:
    kept = min(max(value, low), high)
    return LEFT + (kept - low) / ((high - low) or 1.0) * (RIGHT - LEFT)


def _n(value: float) -> str:
    return f"{value:.1f}"


def _svg(parts: Sequence[Html], height: float, title: str, words: str) -> Html:
    label = f"{title}. {words}."
    return tag(
        "svg", tag("title", title), tag("desc", words), *parts, viewBox=f"0 0 {WIDTH:g} {height:g}", role="img", aria_label=label
    )
