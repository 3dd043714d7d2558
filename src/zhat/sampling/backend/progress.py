"""What a run shows of itself while it runs: one line, rewritten in place.

On a terminal and in a notebook, nowhere else: a pipe or a log file gets nothing. What the terminal's width has no room for is
left out, since a line that wraps can no longer be rewritten; the line is renewed at most ten times a second, so that it costs
nothing that counts.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from typing import TextIO

EVERY = 0.1
# Before this much is done, and this long has passed, a guess at the time left is worth nothing.
SMALLEST_SHARE = 0.03
SHORTEST = 1.0
NOTEBOOK_WIDTH = 110


class ProgressLine:
    """The line of one run. `on` is None for: where a person is looking."""

    def __init__(self, on: bool | None, label: str) -> None:
        # It holds a model's name, which a terminal must not obey.
        self.label = "".join(c for c in label if c.isprintable())
        self._notebook = in_notebook()
        self._on = (self._notebook or sys.stderr.isatty()) if on is None else on
        self._shown = -EVERY
        self._width = 0
        self._since: tuple[float, float] | None = None  # when the current stage was first heard of, and how far it was
        self._last_share = 0.0

    def show(self, stage: str, detail: str, counted: int, seconds: float, share: float | None) -> None:
        """Say what is going on; `share` is how much is done, where that is known. Where room is short, detail goes first."""
        if not self._on:
            return
        now = time.perf_counter()
        left = self._left(now, share)
        if now - self._shown < EVERY:
            return
        self._shown = now
        parts = [self.label, stage, left, f"{counted:,} evaluations", f"{seconds:.0f} s", detail]
        line = fitted([word for part in parts for word in part.split("  ") if word], self._columns())
        stream = self._stream()
        stream.write("\r" + line.ljust(self._width))
        stream.flush()
        self._width = len(line)

    def say(self, sentence: str) -> None:
        """A line that stays, such as an answer to Ctrl-C."""
        if self._on:
            self.clear()
            self._stream().write(sentence + "\n")
            self._stream().flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            # A terminal writes ^C where the line ends, when that is what was typed.
            self._stream().write("\r" + " " * (self._width + len("^C")) + "\r")
            self._stream().flush()
            self._width = 0

    def _left(self, now: float, share: float | None) -> str:
        """Time left of this stage, from the speed so far; a share that falls back begins a new stage."""
        if share is None:
            self._since = None
            return ""
        if self._since is None or share < self._last_share:
            self._since = (now, share)
        self._last_share = share
        begun, first = self._since
        gained, spent = share - first, now - begun
        if gained < SMALLEST_SHARE or spent < SHORTEST or share >= 1.0:
            return ""
        return f"about {duration(spent * (1.0 - share) / gained)} left"

    def _stream(self) -> TextIO:
        return sys.stdout if self._notebook else sys.stderr  # notebooks print stderr as an alarm

    def _columns(self) -> int:
        return NOTEBOOK_WIDTH if self._notebook else shutil.get_terminal_size().columns


def fitted(parts: Sequence[str], columns: int) -> str:
    """The parts that fit on one line, each whole: half a number would be read as another one.

    Some columns stay free: terminals wrap at the last, and write ^C at the end when that is typed.
    """
    room = max(columns - len("^C") - 1, 10)
    line = ""
    for part in parts:
        longer = f"{line}  {part}" if line else part
        if len(longer) <= room:
            line = longer
    return line or parts[0][: room - 1] + "…"


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"


def in_notebook() -> bool:
    """Whether this is a notebook's kernel, which shows what is printed but is no terminal."""
    found = sys.modules.get("IPython")
    shell = found.get_ipython() if found is not None and hasattr(found, "get_ipython") else None
    return type(shell).__name__ == "ZMQInteractiveShell"
