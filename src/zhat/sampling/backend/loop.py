"""Progress, budget, interruption and the counting of evaluations, outside compiled code.

Every sampler reports to a `Loop` between compiled calls (`tick`) and nowhere else, so that a run can be shown,
bounded and stopped in plain Python. When it must stop, `tick` raises `Stopped`; the sampler then returns its partial
record, and the result states that it was stopped and why.
"""

from __future__ import annotations

import _thread
import gc
import logging
import math
import re
import signal
import threading
import time
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

from zhat.errors import BadInput, BadType
from zhat.results.records import Cost
from zhat.sampling.backend.progress import ProgressLine
from zhat.surroundings import check_surroundings

log = logging.getLogger("zhat")
log.addHandler(logging.NullHandler())  # silent unless the user adds a handler


class Stopped(Exception):
    """The run must end now; `code` and the message say why. `evaluated` are the points of the batch in which it came that have values."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.evaluated: tuple[Any, Any, Any] | None = None  # positions, log priors and log likelihoods


@dataclass(frozen=True)
class Budget:
    """How much a run may take; it stops at the first limit that it passes, between two compiled calls."""

    likelihoods: float = math.inf
    seconds: float = math.inf

    def __post_init__(self) -> None:
        """Check both limits."""
        for name in ("likelihoods", "seconds"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise BadType(f"Budget({name}={value!r}): give a number.")
            if not value > 0:
                raise BadInput(f"Budget({name}={value}): a budget must be above zero.")

    def left_after(self, spent: Cost) -> Budget:
        """What is left of it; at least a little, so that a run ends by its own account of the budget."""
        left = self.likelihoods - spent.n_likelihood - spent.n_gradient
        return Budget(max(left, 1), max(self.seconds - spent.seconds, 1e-3))


class Loop:
    """Counts, shows, and stops. One per run; the only object here that changes."""

    def __init__(self, budget: Budget | None = None, progress: bool | None = None, label: str = "") -> None:
        check_surroundings()
        if progress not in (None, True, False):
            raise BadType(f"progress={progress!r}: give True, False, or None to show progress in a terminal only.")
        self.budget = budget or Budget()
        self.label = label
        self.n_likelihood = 0
        self.n_gradient = 0
        self.n_hessian = 0
        self.n_nan = 0
        self.seconds_per_likelihood = 0.0  # measured by the first run on its prior draws
        self.interrupted = False
        self.stopped: Stopped | None = None
        self._moves: dict[Hashable, int] = {}
        self._earlier_moves: dict[str, int] = {}  # by the names of purposes, before a checkpoint
        self._line = ProgressLine(progress, label)
        self._stage = self._message = ""
        self._share: float | None = None
        self._begun = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Wall time since the loop was made."""
        return time.perf_counter() - self._begun

    def cost(self, compile_seconds: float) -> Cost:
        """What was spent so far."""
        seconds = self.seconds
        times = (seconds, min(compile_seconds, seconds), self.seconds_per_likelihood)
        return Cost(self.n_likelihood, self.n_gradient, self.n_hessian, *times)

    def count(self, n_likelihood: int = 0, n_gradient: int = 0, n_hessian: int = 0) -> None:
        """Add evaluations made."""
        self.n_likelihood += int(n_likelihood)
        self.n_gradient += int(n_gradient)
        self.n_hessian += int(n_hessian)

    def counts(self) -> list[object]:
        """What a loop that goes on elsewhere must know: evaluations, and moves by purpose."""
        moves = {_name(purpose): n for purpose, n in self._moves.items()}
        return [self.n_likelihood, self.n_gradient, self.n_hessian, self.n_nan, moves]

    def resume(self, counts: Sequence[Any]) -> None:
        """Go on from these counts."""
        self.n_likelihood, self.n_gradient, self.n_hessian, self.n_nan = map(int, counts[:4])
        self._earlier_moves = {str(name): int(n) for name, n in counts[4].items()}
        self._moves.clear()

    def begin_run(self) -> None:
        """Another run of several: what it computes may not depend on those before it."""
        self._moves.clear()
        self._earlier_moves = {}

    def moves_of(self, purpose: Hashable, n_moves: int) -> int:
        """How many moves this run has made for this purpose, these included."""
        if purpose not in self._moves:
            self._moves[purpose] = self._earlier_moves.get(_name(purpose), 0)
        self._moves[purpose] += n_moves
        return self._moves[purpose]

    def stage(self, words: str, share: float | None = None) -> None:
        """A `tick` whose words precede those of the ticks that follow, with the share done where it is known."""
        self._stage, self._share = words, share
        log.debug("%s: %s, %d evaluations", self.label, words, self.n_likelihood + self.n_gradient)
        self.tick("")

    def end_stage(self) -> None:
        """End the stage: later ticks are shown without its words."""
        self._stage, self._share = "", None

    def tick(self, message: str, share: float | None = None) -> None:
        """Show the message, and raise `Stopped` if the run must end."""
        counted = self.n_likelihood + self.n_gradient
        self._line.show(self._stage, message, counted, self.seconds, self._share if self._stage else share)
        self._message = message
        self.check()

    def check(self) -> None:
        """Raise `Stopped` if the run must end: a `tick` without words of its own."""
        self.check_clock()
        if self.n_likelihood + self.n_gradient >= self.budget.likelihoods:
            spent = f"the budget of {self.budget.likelihoods:,.0f} likelihoods"
            self.stop("budget", f"{spent} is spent{self._where()}; give a larger one")

    def check_clock(self) -> None:
        """Raise `Stopped` if the user or the clock ends the run: where it does so depends on the clock anyway."""
        if self.interrupted:
            self.stop("interrupted", f"interrupted by the user{self._where()}; run it again")
        if self.seconds >= self.budget.seconds:
            spent = f"the budget of {self.budget.seconds:g} s"
            self.stop("budget", f"{spent} is spent{self._where()}; give a larger one")

    def say(self, sentence: str) -> None:
        """A line that stays, where progress is shown."""
        log.info("%s: %s", self.label, sentence)
        self._line.say(f"{self._line.label}: {sentence}" if self._line.label else sentence)

    def _where(self) -> str:
        words = ", ".join(part.replace("  ", ", ") for part in (self._stage, self._message) if part)
        return f" ({words})" if words else ""

    def stop(self, code: str, message: str) -> None:
        """End the run: record the reason and raise `Stopped`."""
        log.warning("%s: %s", self.label, message)
        self.stopped = Stopped(code, message)
        raise self.stopped

    def done(self) -> None:
        """Clear the progress line."""
        self._line.clear()

    @contextmanager
    def listening(self) -> Iterator[Loop]:
        """Turn the first Ctrl-C into a stop at the next `tick`; a second one raises KeyboardInterrupt at once."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = signal.getsignal(signal.SIGINT)

        def on_interrupt(signum: int, frame: FrameType | None) -> None:
            if self.interrupted:
                if _in_garbage_collection(frame):  # Python ignores exceptions raised there, so the signal is sent again shortly
                    threading.Timer(0.01, _thread.interrupt_main).start()
                    return
                raise KeyboardInterrupt
            self.interrupted = True
            with suppress(RuntimeError):  # the signal may arrive during another write
                self._line.say("stopping after this step, with what there is; Ctrl-C again stops at once")

        signal.signal(signal.SIGINT, on_interrupt)
        try:
            yield self
        finally:
            signal.signal(signal.SIGINT, before)
            self.done()


def _name(purpose: Hashable) -> str:
    """A purpose in words that are the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(purpose))


def _in_garbage_collection(frame: FrameType | None) -> bool:
    """Whether this frame is one of the collector's callbacks; JAX has one, where signals of a long call often arrive."""
    return frame is not None and frame.f_code in [getattr(callback, "__code__", None) for callback in gc.callbacks]
