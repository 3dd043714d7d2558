"""The figures of docs/peers.md are those of the result files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_that_of_the_result_files():
    checked = subprocess.run([sys.executable, ROOT / "benchmarks" / "page.py", "--check"], check=False)
    assert checked.returncode == 0, "run benchmarks/page.py"
