"""What a checkpoint costs: runs of a minute with and without one, in turns, each in a process of its own.

    python benchmarks/checkpoint_overhead.py --case smc --turn without     # then with, with, without: one row each
    python benchmarks/checkpoint_overhead.py --report

Two figures for each case. The ratio of CPU seconds is what a user pays; on a machine with other work it is noisy, so runs take turns, and
`apart` is how far two runs without a checkpoint lie apart. The share is the CPU time inside the checkpoint itself (keys, copies, states, writing,
fingerprints), measured where it is spent. System seconds are apart because most of them are the clearing of new pages, a tenth of the time of a
large population: how many there are depends on what was allocated before. In one process the runs without a checkpoint, which came first, had
fewer, and a checkpoint seemed to cost five hundredths.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common

ROWS = common.RESULTS / "checkpoint_overhead.csv"
COLUMNS = ["case", "turn", "likelihoods", "cpu", "system", "wall", "inside", "mb_written", "log_evidence", "se", "load"]
CASES = {
    "smc": "SMC of 800,000 particles, compiled (E8)",
    "nested": "nested sampling of 40,000 live points, compiled (E8)",
    "ladder": "power posteriors, compiled (E8)",
    "box": "importance sampling of a black box of a millisecond of computing",
}


def call_of(case: str) -> Callable[..., Any]:
    """The call, by the name of its checkpoint and perhaps the number of repeats."""
    import numpy as np
    import numpyro.distributions as dist

    import zhat
    from zhat import zoo

    grid = np.linspace(0.0, 1.0, 150_000)

    def computing(p: Any) -> float:
        return float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / 0.04 + 1e-9 * np.sin(grid).sum())

    model, method, repeats = {
        "smc": (zoo.example("E8").model, zhat.SMC(n_particles=800_000), 5),
        "nested": (zoo.example("E8").model, zhat.NestedSampling(n_live=40_000), 40),
        "ladder": (zoo.example("E8").model, zhat.PowerPosterior(), 200),
        "box": (
            zhat.Model.black_box(computing, {"x": dist.Uniform(-5.0, 5.0).expand([3]).to_event(1)}, name="box"),
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


def measured(case: str, turn: str, repeats: int | None) -> list[Any]:
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
    row = [case, turn, found.cost.n_likelihood + found.cost.n_gradient, f"{user + system:.2f}", f"{system:.2f}", f"{wall:.1f}"]
    row += ["" if inside is None else f"{inside.seconds:.3f}", f"{size / 1e6:.1f}"]
    return [*row, repr(found.log_evidence), repr(found.log_evidence_se), f"{os.getloadavg()[0]:.1f}"]


def report() -> str:
    """The table."""
    with ROWS.open() as file:
        rows = list(csv.DictReader(file))
    header = [
        "run",
        "evaluations",
        "runs",
        "CPU s",
        "with checkpoint",
        "ratio",
        "apart",
        "share inside",
        "system s",
        "MB",
        "same digits",
    ]
    shown = []
    for case, words in CASES.items():
        without, kept = ([r for r in rows if (r["case"], r["turn"]) == (case, turn)] for turn in ("without", "with"))
        if not without or not kept:
            continue
        one, other = ([float(r["cpu"]) for r in some] for some in (without, kept))
        mean, after = sum(one) / len(one), sum(other) / len(other)
        share = sum(float(r["inside"]) for r in kept) / sum(other)
        system = " and ".join(f"{sum(float(r['system']) for r in some) / len(some):.1f}" for some in (without, kept))
        same = len({(r["log_evidence"], r["se"]) for r in (*without, *kept)}) == 1
        figures = [
            f"{mean:.1f}",
            f"{after:.1f}",
            f"{after / mean:.3f}",
            f"{(max(one) - min(one)) / mean:.3f}",
            f"{share:.4f}",
            system,
        ]
        runs = f"{len(one)} and {len(other)}"
        calls = f"{int(kept[0]['likelihoods']):,}"
        shown.append([words, calls, runs, *figures, kept[-1]["mb_written"], "yes" if same else "NO"])
    return "\n\n".join(["## Cost of a checkpoint", common.table(header, shown)])


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES, default="smc")
    parser.add_argument("--turn", choices=("without", "with"), default="without")
    parser.add_argument("--repeats", type=int, help="another number of repeats than that which takes about a minute")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if not options.report:
        common.one_core()
        row = measured(options.case, options.turn, options.repeats)
        new = not ROWS.exists()
        with ROWS.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([*([COLUMNS] if new else []), row])
    print(report())


if __name__ == "__main__":
    sys.exit(main())
