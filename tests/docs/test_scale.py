"""The figures of docs/scale.md are those of benchmarks/results/latencies.json."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
FOUND = json.loads((ROOT / "benchmarks" / "results" / "latencies.json").read_text())
SHOWN = {"0.001": "1 ms", "0.01": "10 ms", "0.1": "100 ms"}


def test_shares_of_the_workers_time():
    for where, name in (("pool", "`workers=8`"), ("dask", "Dask")):
        for seconds, words in SHOWN.items():
            shares = " | ".join(f"{100 * share:.0f} %" for share in FOUND[where]["busy"][seconds].values())
            assert f"| {name} | {words} | {shares} |" in PAGE


def test_tasks_a_second():
    for where, words in (
        ("dask", "{} tasks a second with 10 bytes each, {} with 100 kB, {} with 1 MB"),
        ("pool", "{:,}, {:,} and {}"),
    ):
        assert words.format(*FOUND[where]["tasks_a_second"].values()) in PAGE


def test_hundreds_of_parameters():
    table = (ROOT / "benchmarks" / "results" / "many_dimensions.md").read_text(encoding="utf-8")
    assert "\n".join(line for line in table.splitlines() if line.startswith("|")) in PAGE
