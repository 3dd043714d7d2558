"""The progress line of a run, rewritten in place.

It is shown on a terminal and in a notebook, not in a pipe or a log file. Parts that exceed the terminal's width are left out,
because a line that wraps cannot be rewritten. The line is renewed at most ten times a second, so that its cost is negligible.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from typing import TextIO

EVERY = 0.1
# Share done, and seconds passed, before the time left can be estimated.
SMALLEST_SHARE = 0.03
SHORTEST = 1.0
NOTEBOOK_WIDTH = 110


class ProgressLine:
    """The line of one run. With `on` None it is shown on a terminal and in a notebook only."""

    def __init__(self, on: bool | None, label: str) -> None:
        # The label holds a model's name, whose control characters must not reach the terminal.
        self.label = "".join(c for c in label if c.isprintable())
        self._notebook = in_notebook()
        self._on = (self._notebook or sys.stderr.isatty()) if on is None else on
        self._shown = -EVERY
        self._width = 0
        self._since: tuple[float, float] | None = None  # when the current stage was first shown, and its share then
        self._last_share = 0.0

    def show(self, stage: str, detail: str, counted: int, seconds: float, share: float | None) -> None:
        """Show the current stage; `share` is the part done, where it is known. Where the line is too long, detail is dropped first."""
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
        """A line that stays, such as the message after Ctrl-C."""
        if self._on:
            self.clear()
            self._stream().write(sentence + "\n")
            self._stream().flush()

    def clear(self) -> None:
        """Erase the line."""
        if self._width:
            # A terminal writes ^C at the end of the line when Ctrl-C is typed.
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
    """The parts that fit on one line, each whole, because a truncated number reads as another one.

    Some columns stay free: terminals wrap at the last one, and write ^C at the end when Ctrl-C is typed.
    """
    room = max(columns - len("^C") - 1, 10)
    line = ""
    for part in parts:
        longer = f"{line}  {part}" if line else part
        if len(longer) <= room:
            line = longer
    return line or parts[0][: room - 1] + "…"


def duration(seconds: float) -> str:
    """A duration in seconds, minutes or hours."""
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 5400.0 else f"{seconds / 3600.0:.1f} h"


def in_notebook() -> bool:
    """Whether this is a notebook's kernel, which shows what is printed but is no terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return type(shell).__name__ == "ZMQInteractiveShell"
