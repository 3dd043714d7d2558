"""The figures of docs/peers.md and of the README are those of one result file, which was made by one run at one commit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
LINES = [json.loads(line) for line in (BENCHMARKS / "results" / "peers.jsonl").read_text().splitlines()]


def _ends_well(*command: str) -> bool:
    return subprocess.run([sys.executable, *command], cwd=BENCHMARKS, check=False).returncode == 0


def test_the_pages_are_those_of_the_result_file():
    assert _ends_well("page.py", "--check"), "run benchmarks/page.py"


def test_the_file_is_of_one_run():
    assert len({line["commit"] for line in LINES}) == 1
    starts = [line for line in LINES if "tool" not in line]
    for what in ("processor", "versions", "versions_apart", "r"):
        assert all(start[what] == starts[0][what] for start in starts), what


def test_every_tool_ran_on_every_problem_that_it_takes():
    ran = {(line["problem"], line["tool"]) for line in LINES if "tool" in line}
    code = "import json, peer_tools as p; print(json.dumps([(q, t.name) for q in p.PROBLEMS for t in p.TOOLS.values() if t.takes(q)]))"
    listed = subprocess.run([sys.executable, "-c", code], cwd=BENCHMARKS, check=True, capture_output=True, text=True).stdout
    assert {tuple(pair) for pair in json.loads(listed)} == ran


def test_our_models_are_the_problems_that_peers_get():
    assert _ends_well("ours.py", "--check")
