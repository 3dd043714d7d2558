"""Estimates in a loop in one process, each of a new model: memory, memory maps, open files, threads and child processes over time.

    python benchmarks/soak.py --hours 2
    python benchmarks/soak.py --report          # the table and the curve of a recorded run

Every model has functions of its own, which JAX has never seen, so that nothing compiled for one serves the next. Models, methods and
numbers of data take turns; every tenth estimate keeps a checkpoint, every twentieth has two workers. A row is recorded once a minute.
"""

from __future__ import annotations

import argparse
import csv
import gc
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import common

ROWS = common.RESULTS / "soak.csv"
COLUMNS = ["minutes", "estimates", "refused", "rss_mb", "maps", "files", "threads", "children", "objects", "cache_mb"]
BLOCKS = "▁▂▃▄▅▆▇█"


def models(turn: int) -> tuple[Any, list[Any]]:
    """A model with new functions, and the methods that take turns on it."""
    import jax.numpy as jnp
    import numpy as np
    import numpyro
    import numpyro.distributions as dist

    import zhat

    rng = np.random.default_rng(turn)
    shift = float(rng.normal())
    n = int(rng.choice([8, 16, 24, 40]))
    kind = turn % 4
    if kind in (0, 3):  # a black box

        def box(p):
            return float(-0.5 * np.sum((p["x"] - shift) ** 2) / 0.3)

        prior = {"x": dist.Normal(0.0, 2.0).expand([2]).to_event(1)}
        return zhat.Model.black_box(box, prior, name=f"box {turn}"), [
            "importance",
            "nested",
            "prior-mean",
            zhat.SMC(n_particles=200),
        ]
    if kind == 1:  # a line through n points
        x, y = rng.normal(size=n), shift + rng.normal(size=n)

        def line(p, data):
            return jnp.sum(dist.Normal(p["a"] + p["b"] * data["x"] + shift, 1.0).log_prob(data["y"]))

        prior = {"a": dist.Normal(0.0, 3.0), "b": dist.Normal(0.0, 3.0)}
        methods = ["laplace", "importance", None, "prior-mean", "smc", "bridge"]
        return zhat.Model(line, prior, data={"x": x, "y": y}, name=f"line {turn}"), methods

    def counts(y):  # a NumPyro model
        rate = numpyro.sample("rate", dist.Gamma(2.0, 1.0 + shift**2))
        numpyro.sample("y", dist.Poisson(rate), obs=y)

    methods = ["importance", "prior-mean", "smc", "laplace", "nested", "ais"]
    return zhat.Model.from_numpyro(counts, rng.poisson(3.0, n), name=f"counts {turn}"), methods


def estimate(turn: int, folder: str) -> str:
    """One estimate; the status of its answer."""
    import zhat

    model, methods = models(turn)
    method = methods[(turn // 4) % len(methods)]
    how: dict[str, Any] = {"seed": turn, "progress": False}
    if turn % 20 == 10:
        how["workers"], how["repeats"] = 2, 3
    if turn % 10 == 5:
        how["checkpoint"] = os.path.join(folder, f"{turn}.ckpt")
    try:
        return str(zhat.evidence(model, method, **how).status.level.value)
    finally:
        if "checkpoint" in how:
            shutil.rmtree(how["checkpoint"])


def row(begun: float, turn: int, refused: int, cache: str) -> list[Any]:
    """What is recorded."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    children = sum(len(Path(f"/proc/self/task/{task}/children").read_text().split()) for task in os.listdir("/proc/self/task"))
    return [
        round((time.time() - begun) / 60, 2),
        turn,
        refused,
        round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6, 1),
        len(Path("/proc/self/maps").read_text().splitlines()),
        len(os.listdir("/proc/self/fd")),
        len(os.listdir("/proc/self/task")),
        children,
        len(gc.get_objects()),
        round(sum(e.stat().st_size for e in os.scandir(cache)) / 1e6, 1),
    ]


def soak(hours: float, every: float, path: Path) -> None:
    """Run, and write a row every so many seconds."""
    begun, refused, last = time.time(), 0, 0.0
    with tempfile.TemporaryDirectory() as folder, path.open("w", newline="") as file:
        cache = os.environ["ZHAT_COMPILE_CACHE"]
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        turn = 0
        while time.time() - begun < 3600 * hours:
            refused += estimate(turn, folder) != "ok"
            turn += 1
            if time.time() - last >= every:
                last = time.time()
                gc.collect()
                writer.writerow(row(begun, turn, refused, cache))
                file.flush()


def curve(values: list[float]) -> str:
    """A line of blocks."""
    low, high = min(values), max(values)
    return "".join(BLOCKS[int((v - low) / ((high - low) or 1.0) * (len(BLOCKS) - 1))] for v in values)


def slope(x: list[float], y: list[float]) -> float:
    """Of the line of least squares; 0 where nothing varies."""
    middle = sum(x) / len(x)
    spread = sum((a - middle) ** 2 for a in x)
    return sum((a - middle) * b for a, b in zip(x, y, strict=True)) / spread if spread else 0.0


def report(path: Path) -> str:
    """The curves, and the growth over the second half."""
    with path.open() as file:
        rows = [{k: float(v) for k, v in r.items()} for r in csv.DictReader(file)]
    shown = rows[:: max(1, len(rows) // 60)]
    lines = []
    for name in COLUMNS[3:]:
        column = [r[name] for r in rows]
        middle = column[len(column) // 2]
        lines.append(
            [name, f"{column[0]:g}", f"{middle:g}", f"{column[-1]:g}", f"{max(column):g}", curve([r[name] for r in shown])]
        )
    last = rows[-1]
    late = [r for r in rows if r["estimates"] >= last["estimates"] / 2]
    grown = [slope([r["estimates"] for r in late], [r[name] for r in late]) for name in ("rss_mb", "objects")]
    text = f"{last['estimates']:.0f} estimates in {last['minutes']:.0f} minutes, {last['refused']:.0f} of them without an answer."
    text += (
        f" In the second half of the estimates, {last['estimates'] - late[0]['estimates']:.0f} of them, memory grew by {1e3 * grown[0]:.1f} MB and Python's "
        f"objects by {1e3 * grown[1]:.0f} for a thousand estimates (least squares)."
    )
    return "\n\n".join(["## Soak", text, common.table(["", "first", "half-way", "last", "largest", "curve"], lines)])


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument("--every", type=float, default=60.0, help="seconds between rows")
    parser.add_argument("--out", type=Path, default=ROWS)
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if not options.report:
        common.one_core()
        with tempfile.TemporaryDirectory() as cache:
            os.environ["ZHAT_COMPILE_CACHE"] = cache
            soak(options.hours, options.every, options.out)
    print(report(options.out))


if __name__ == "__main__":
    sys.exit(main())
