"""The speeds in docs/cluster.md are those of benchmarks/results/workers.csv."""

from __future__ import annotations

import csv
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
NAMES = {"importance": "importance (10,000 draws)", "smc": "SMC (200 particles)", "nested": "nested"}


def test_the_table_of_speeds():
    with (ROOT / "benchmarks" / "results" / "workers.csv").open() as file:
        seconds = {(row["method"], row["how"]): float(row["seconds"]) for row in csv.DictReader(file)}
    for method, name in NAMES.items():
        times = [
            f"{seconds[method, 'one'] / seconds[method, how]:.1f}" if (method, how) in seconds else "–"
            for how in ("eight", "killed", "dask", "dask killed")
        ]
        assert f"| {name} | {' | '.join(times)} |" in PAGE
