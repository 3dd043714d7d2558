"""What every benchmark script shares: one core, one compile cache, child processes, one JSON line.

Nothing here imports JAX or NumPy, so that a script can call `one_core` before anything heavy is loaded.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def one_core() -> None:
    """Pin this process to one core, and tell the libraries so; call it before importing them."""
    for name in THREADS:
        os.environ[name] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


@contextmanager
def compile_cache() -> Iterator[dict[str, str]]:
    """Environment with an empty compile cache of its own, the same for every tool that uses JAX."""
    with tempfile.TemporaryDirectory(prefix="bench-cache-") as folder:
        yield {**os.environ, "JAX_COMPILATION_CACHE_DIR": folder, "ZHAT_COMPILE_CACHE": folder}


def run_child(script: str, arguments: Sequence[str], environment: dict[str, str], python: str | None = None) -> Any:
    """Run a script of this folder in a process of its own and return the JSON of its last line."""
    command = [python or sys.executable, str(HERE / script), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{script} {' '.join(arguments)}: {last}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def machine() -> dict[str, Any]:
    """Cores and versions; no names, no paths."""
    found: dict[str, Any] = {"cores": os.cpu_count(), "system": platform.system(), "python": platform.python_version()}
    for package in ("zhat", "jax", "numpyro", "numpy", "scipy", "blackjax"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns are aligned for the eye; all but the first to the right."""
    widths = [max(len(str(row[i])) for row in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        pairs = zip(cells, widths, strict=True)
        padded = [str(c).rjust(w) if i else str(c).ljust(w) for i, (c, w) in enumerate(pairs)]
        return "| " + " | ".join(padded) + " |"

    rule = "| " + " | ".join("-" * w if i == 0 else "-" * (w - 1) + ":" for i, w in enumerate(widths)) + " |"
    return "\n".join([line(header), rule, *(line(row) for row in rows)])


def write(name: str, result: dict[str, Any], text: str) -> None:
    """Save a part's numbers (JSON) and its table (Markdown), and print the table."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": machine(), **result}, indent=1) + "\n")
    (RESULTS / f"{name}.md").write_text(text.rstrip() + "\n")
    print(text)
