"""What a checkpoint costs: runs of about a minute with and without one, in turns, in one process.

    python benchmarks/checkpoint_overhead.py --case smc
    python benchmarks/checkpoint_overhead.py --report

Two figures for each case. The ratio of CPU seconds is what a user pays; on a machine with other work it is noisy, so runs take turns, and
`apart` is how far two runs without a checkpoint lie apart. The share is the CPU time inside the checkpoint itself (keys, copies, states, writing,
fingerprints), measured where it is spent.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common

ROWS = common.RESULTS / "checkpoint_overhead.csv"
COLUMNS = ["case", "likelihoods", "cpu_without", "cpu_with", "ratio", "apart", "inside", "share", "mb_written", "same_digits"]
CASES = {
    "smc": "SMC of 800,000 particles, compiled (E8)",
    "nested": "nested sampling of 40,000 live points, compiled (E8)",
    "ladder": "power posteriors, compiled (E8)",
    "box": "importance sampling of a black box of 0.3 ms of computing",
}


def call_of(case: str) -> Callable[..., Any]:
    """The call, by the name of its checkpoint and perhaps the number of repeats."""
    import numpy as np
    import numpyro.distributions as dist

    import zhat
    from zhat import zoo

    grid = np.linspace(0.0, 1.0, 30_000)

    def computing(p: Any) -> float:
        return float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / 0.04 + 1e-9 * np.sin(grid).sum())

    model, method, repeats = {
        "smc": (zoo.example("E8").model, zhat.SMC(n_particles=800_000), 7),
        "nested": (zoo.example("E8").model, zhat.NestedSampling(n_live=40_000), 40),
        "ladder": (zoo.example("E8").model, zhat.PowerPosterior(), 200),
        "box": (
            zhat.Model.black_box(computing, {"x": dist.Uniform(-5.0, 5.0).expand([3]).to_event(1)}, name="box"),
            zhat.Importance(n_draws=200_000),
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


def measured(case: str, pairs: int, *repeats: int) -> list[Any]:
    """One row."""
    call, inside = call_of(case), Inside()
    without, kept, shares, digits = [], [], [], set()
    call(None, 1)  # compiles
    for _ in range(pairs):
        for times, folder in ((without, False), (kept, True)):
            with tempfile.TemporaryDirectory() as there:
                inside.seconds, begun = 0.0, time.process_time()
                found = call(str(Path(there) / "run") if folder else None, *repeats)
                times.append(time.process_time() - begun)
                digits.add((found.log_evidence, found.log_evidence_se))
                if folder:
                    shares.append(inside.seconds)
                    size = sum(path.stat().st_size for path in (Path(there) / "run").iterdir())
    mean = sum(without) / pairs
    row = [case, found.cost.n_likelihood + found.cost.n_gradient, f"{mean:.1f}", f"{sum(kept) / pairs:.1f}"]
    row += [f"{sum(kept) / sum(without):.3f}", f"{(max(without) - min(without)) / mean:.3f}"]
    spent = sum(shares) / pairs
    return [*row, f"{spent:.2f}", f"{spent / mean:.4f}", f"{size / 1e6:.1f}", "yes" if len(digits) == 1 else "NO"]


def report() -> str:
    """The table."""
    with ROWS.open() as file:
        rows = list(csv.DictReader(file))
    header = ["run", "evaluations", "CPU s", "with checkpoint", "ratio", "apart", "CPU s inside", "share", "MB", "same digits"]
    shown = [[CASES[row["case"]], f"{int(row['likelihoods']):,}", *(row[name] for name in COLUMNS[2:])] for row in rows]
    return "\n\n".join(["## Cost of a checkpoint", common.table(header, shown)])


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", choices=CASES, action="append")
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--repeats", type=int, nargs=1, help="another number of repeats than that which takes about a minute")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if not options.report:
        common.one_core()
        for case in options.case or CASES:
            row = measured(case, options.pairs, *(options.repeats or ()))
            before = list(csv.reader(ROWS.open()))[1:] if ROWS.exists() else []
            with ROWS.open("w", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([COLUMNS, *(r for r in before if r[0] != case), row])
    print(report())


if __name__ == "__main__":
    sys.exit(main())
