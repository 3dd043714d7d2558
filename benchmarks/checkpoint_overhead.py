"""What a checkpoint costs: runs with and without one in turns, each in a process of its own, on one core.

    python benchmarks/checkpoint_overhead.py --case smc --pairs 12
    python benchmarks/checkpoint_overhead.py --report

The ratio of CPU seconds is what a user pays. On a machine with other work it is noisy, from run to run by some hundredths, so there are many short
pairs, every second one in the other order, and the table has the median of their ratios and its standard error (of a median of normal numbers, by
their absolute deviations). Short runs pay more than long ones: a journal is written after a second first, later every ten.

The black box sleeps instead of computing, so that its CPU seconds are those of the library alone; a millisecond is added for each likelihood.

The share is the CPU time inside the checkpoint itself (keys, copies, states, writing, fingerprints), measured where it is spent. System seconds are apart
because most of them are the clearing of new pages, a tenth of the time of a large population: how many there are depends on what was allocated before.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common

ROWS = common.RESULTS / "checkpoint_overhead.csv"
COLUMNS = ["case", "pair", "turn", "likelihoods", "cpu", "system", "wall", "inside", "mb_written", "log_evidence", "se", "load"]
CASES = {
    "smc": "SMC of 150,000 particles, compiled (E8)",
    "nested": "nested sampling of 40,000 live points, compiled (E8)",
    "ladder": "power posteriors, compiled (E8)",
    "box": "importance sampling of a black box of a millisecond",
}


SLEEP = 1e-3


def call_of(case: str) -> Callable[..., Any]:
    """The call, by the name of its checkpoint and perhaps the number of repeats."""
    import numpy as np
    import numpyro.distributions as dist

    import zhat
    from zhat import zoo

    def sleeping(p: Any) -> float:
        time.sleep(SLEEP)
        return float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / 0.04)

    model, method, repeats = {
        "smc": (zoo.example("E8").model, zhat.SMC(n_particles=150_000), 6),
        "nested": (zoo.example("E8").model, zhat.NestedSampling(n_live=40_000), 40),
        "ladder": (zoo.example("E8").model, zhat.PowerPosterior(), 200),
        "box": (
            zhat.Model.black_box(sleeping, {"x": dist.Uniform(-5.0, 5.0).expand([3]).to_event(1)}, name="box"),
            zhat.Importance(n_draws=30_000),
            1,
        ),
    }[case]

    def call(folder: str | None, n: int = repeats) -> Any:
        return zhat.evidence(model, method, seed=1, progress=False, repeats=n, checkpoint=folder)

    return call


class Inside:
    """CPU seconds inside the checkpoint's own functions, those of the calls that they make taken out."""

    def __init__(self) -> None:
        from zhat.run import repeats
        from zhat.run.checkpoint import checkpoint
        from zhat.run.distribution import plans
        from zhat.sampling.backend.journal import Journal
        from zhat.sampling.backend.standing import Standing

        self.seconds = 0.0
        own: list[tuple[Any, str]] = [(checkpoint, "_about"), (plans, "keep"), (repeats, "keep"), (Standing, "note")]
        for owner, name in [*own, (Journal, "write"), (Journal, "call"), (Journal, "values")]:
            setattr(owner, name, self._timed(getattr(owner, name), -1 if name in ("call", "values") else None))

    def _timed(self, function: Any, computing: int | None) -> Any:
        """The function, timed, without what its last argument computes."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            inner, before, begun = 0.0, self.seconds, time.thread_time()

            def compute(*some: Any) -> Any:
                nonlocal inner
                outer, since = self.seconds, time.thread_time()
                try:
                    return args[-1](*some)
                finally:
                    inner += time.thread_time() - since - (self.seconds - outer)

            try:
                return function(*(args if computing is None else (*args[:-1], compute)), **kwargs)
            finally:
                self.seconds = before + time.thread_time() - begun - inner

        return timed


def measured(case: str, pair: int, turn: str, repeats: int | None) -> list[Any]:
    """One row; compilation, or the reading of what is compiled, is part of the run."""
    call = call_of(case)
    inside = Inside() if turn == "with" else None
    with tempfile.TemporaryDirectory() as there:
        folder = Path(there) / "run"
        clock, before = time.perf_counter(), os.times()
        found = call(None if inside is None else str(folder), *([] if repeats is None else [repeats]))
        after, wall = os.times(), time.perf_counter() - clock
        size = sum(path.stat().st_size for path in folder.iterdir()) if folder.exists() else 0
    user, system = after.user - before.user, after.system - before.system
    if case == "box":
        user += SLEEP * found.cost.n_likelihood
    row = [
        case,
        pair,
        turn,
        found.cost.n_likelihood + found.cost.n_gradient,
        f"{user + system:.2f}",
        f"{system:.2f}",
        f"{wall:.1f}",
    ]
    row += ["" if inside is None else f"{inside.seconds:.3f}", f"{size / 1e6:.1f}"]
    return [*row, repr(found.log_evidence), repr(found.log_evidence_se), f"{os.getloadavg()[0]:.1f}"]


def report() -> str:
    """The table."""
    with ROWS.open() as file:
        rows = list(csv.DictReader(file))
    header = ["run", "evaluations", "pairs", "CPU s", "ratio", "s.e.", "share inside", "system s", "MB", "same digits", "load"]
    shown = []
    for case, words in CASES.items():
        pairs = [{r["turn"]: r for r in some} for some in _by_pair([r for r in rows if r["case"] == case])]
        if not pairs:
            continue
        without, kept = ([pair[turn] for pair in pairs] for turn in ("without", "with"))
        ratios = [float(after["cpu"]) / float(before["cpu"]) for before, after in zip(without, kept, strict=True)]
        middle = statistics.median(ratios)
        deviation = 1.4826 * statistics.median(abs(ratio - middle) for ratio in ratios)
        seconds = statistics.median(float(r["cpu"]) for r in without)
        share = sum(float(r["inside"]) for r in kept) / sum(float(r["cpu"]) for r in kept)
        system = " and ".join(f"{statistics.mean(float(r['system']) for r in some):.1f}" for some in (without, kept))
        same = len({(r["log_evidence"], r["se"]) for r in (*without, *kept)}) == 1
        loads = [float(r["load"]) for r in (*without, *kept)]
        figures = [f"{seconds:.1f}", f"{middle:.4f}", f"{1.2533 * deviation / len(pairs) ** 0.5:.4f}", f"{share:.4f}", system]
        calls = f"{int(kept[0]['likelihoods']):,}"
        last = [kept[-1]["mb_written"], "yes" if same else "NO", f"{min(loads):.0f} to {max(loads):.0f}"]
        shown.append([words, calls, str(len(pairs)), *figures, *last])
    return "\n\n".join(["## Cost of a checkpoint", common.table(header, shown)])


def _by_pair(rows: list[dict[str, str]]) -> list[list[dict[str, str]]]:
    """Complete pairs."""
    numbers = sorted({int(r["pair"]) for r in rows})
    return [pair for n in numbers if len(pair := [r for r in rows if int(r["pair"]) == n]) == 2]


def in_turns(case: str, n: int, repeats: int | None) -> None:
    """Pairs of runs, each in a process of its own."""
    there = list(csv.DictReader(ROWS.open())) if ROWS.exists() else []
    first = 1 + max((int(r["pair"]) for r in there if r["case"] == case), default=0)
    for pair in range(first, first + n):
        for turn in ("without", "with")[:: 1 if pair % 2 else -1]:
            more = [] if repeats is None else ["--repeats", str(repeats)]
            subprocess.run([sys.executable, __file__, "--case", case, "--pair", str(pair), "--turn", turn, *more], check=True)


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES, default="smc")
    parser.add_argument("--pairs", type=int, help="how many pairs of runs")
    parser.add_argument("--pair", type=int, default=0, help="one run, of this pair")
    parser.add_argument("--turn", choices=("without", "with"), default="without")
    parser.add_argument("--repeats", type=int, help="another number of repeats")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.pairs:
        in_turns(options.case, options.pairs, options.repeats)
    elif not options.report:
        common.one_core()
        row = measured(options.case, options.pair, options.turn, options.repeats)
        new = not ROWS.exists()
        with ROWS.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([*([COLUMNS] if new else []), row])
        return
    print(report())


if __name__ == "__main__":
    sys.exit(main())
