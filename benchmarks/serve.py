"""What the script of a tool does in the comparison with peers: one problem in one process, a run for every seed that is asked.

The runner (`peers.py`) writes seeds to this process, one a line, and reads one JSON line for each: log Z, the standard error that the
tool states, likelihood calls (gradients included), CPU seconds. The runner has pinned this process to one core. A tool's own prints go to
the standard error stream.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from problems import PROBLEMS, Problem


@dataclass(frozen=True)
class Answer:
    """What one run of a tool says."""

    log_evidence: float
    se: float | None = None  # as the tool states it
    calls: int | None = None  # likelihoods and gradients; None: not counted
    refused: str = ""  # why the tool itself does not stand by its number
    more_seconds: float = 0.0  # CPU seconds that were spent in a process that is not ours


Run = Callable[[int], Answer]


def serve(prepare: Callable[[Problem, str], Run], settings: Iterable[str] = ("default",)) -> None:
    """Run the seeds that come in. `prepare` makes the run of a problem and a setting; it belongs to the first run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--problem", choices=PROBLEMS, required=True)
    parser.add_argument("--setting", choices=list(settings), default="default")
    parser.add_argument("--limit", type=float, required=True, help="CPU seconds of a run, after which this process ends")
    options = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    _say(answers, {"imports": cpu_seconds()})
    problem = PROBLEMS[options.problem]()
    run: Run | None = None
    for line in sys.stdin:
        begin = cpu_seconds()
        signal.setitimer(signal.ITIMER_PROF, options.limit)  # its signal, SIGPROF, ends a process that does not handle it
        try:
            if run is None:
                run = prepare(problem, options.setting)
            found = asdict(run(int(line)))
            more = found.pop("more_seconds")
            if not math.isfinite(found["log_evidence"]):
                found = {"failed": f"log Z is {found['log_evidence']}"}
        except Exception as error:
            message = (str(error).strip().splitlines() or [""])[0]
            found, more = {"failed": f"{type(error).__name__}: {message}"[:160]}, 0.0
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        _say(answers, {**found, "cpu_seconds": cpu_seconds() - begin + more})


def cpu_seconds() -> float:
    """CPU time of this process and of those that it started and that have ended (a C compiler, for instance)."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def _say(answers: Any, row: dict[str, Any]) -> None:
    answers.write(json.dumps(row) + "\n")
    answers.flush()
