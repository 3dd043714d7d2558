"""Our default and our methods beside other packages: one run, on one core of one machine, at one commit.

    python benchmarks/peers.py --peers-python OTHER/bin/python      # `make bench` does it: most of an hour
    python benchmarks/peers.py --seeds 1 --problem eggbox --tool dynesty --into /tmp/try.jsonl

Problem by problem and seed by seed the tools take turns, each in a process of its own with an empty compile cache of its own, all pinned
to one core. The first run of a process is *cold*: it compiles. A tool runs ten seeds, or fewer where it has used its CPU seconds on
a problem; a run that takes longer than the limit is ended and is the tool's last on that problem.

Each run is appended to results/peers.jsonl when it ends, with the commit. A run that was interrupted goes on where it stopped; rows of
another commit are dropped. `page.py` makes docs/peers.md from this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import common
from peer_tools import PROBLEMS, TOOLS, Tool

RESULT = common.RESULTS / "peers.jsonl"
PACKAGES = ("zhat", "jax", "numpyro", "numpy", "scipy", "blackjax", "pymc")
APART = ("numpy", "scipy", "dynesty", "ultranest", "nautilus-sampler", "particles")
VERSIONS = "import sys, json; from importlib.metadata import version; print(json.dumps({p: version(p) for p in sys.argv[1:]}))"


class Child:
    """A tool on a problem, in its process."""

    def __init__(self, tool: Tool, problem: str, options: argparse.Namespace) -> None:
        self.limit = options.limit
        self.folder = tempfile.TemporaryDirectory(prefix="bench-cache-")
        caches = {"JAX_COMPILATION_CACHE_DIR": self.folder.name, "ZHAT_COMPILE_CACHE": self.folder.name}
        caches["PYTENSOR_FLAGS"] = f"base_compiledir={self.folder.name}"  # C that PyMC compiles
        python = options.peers_python if tool.apart else sys.executable
        command = [python, str(common.HERE / tool.script), "--problem", problem, "--setting", tool.setting]
        self.process = subprocess.Popen(
            [*command, "--limit", str(self.limit)], env={**os.environ, **caches},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        # Of its first row.
        self.more: dict[str, Any] = {"cold": True, "imports": self._read().get("imports")}

    def run(self, seed: int) -> dict[str, Any]:
        """One seed: a row of results."""
        assert self.process.stdin is not None
        more, self.more = self.more, {"cold": False}
        try:
            self.process.stdin.write(f"{seed}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return {**more, **self._read()}

    def close(self) -> None:
        """End the process, and forget its cache."""
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def _read(self) -> dict[str, Any]:
        """What the process says, or how it ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        if self.process.wait() == -signal.SIGPROF:
            return {"failed": f"not done in {self.limit:.0f} CPU seconds", "cpu_seconds": self.limit, "over": True}
        return {"failed": "the process ended", "over": True}


def take_turns(problem: str, tools: list[Tool], options: argparse.Namespace, rows: list[dict[str, Any]]) -> None:
    """All tools on one problem; what they say is appended to the file and to the rows."""
    children: dict[str, Child] = {}
    try:
        for seed in range(options.seeds):
            for tool in tools:
                had = [row for row in rows if row["tool"] == tool.name and row["problem"] == problem]
                spent = sum(row.get("cpu_seconds", 0.0) for row in had)
                if any(row["seed"] == seed or row.get("over") for row in had) or spent > options.seconds:
                    continue
                if tool.name not in children:
                    children[tool.name] = Child(tool, problem, options)
                row = {"problem": problem, "tool": tool.name, "seed": seed, **children[tool.name].run(seed)}
                row |= {"commit": commit(), "load": round(os.getloadavg()[0], 1)}
                append(options.into, row)
                rows.append(row)
                print(*(f"{key}={value}" for key, value in row.items()), flush=True)
    finally:
        for child in children.values():
            child.close()


def commit() -> str:
    """The commit of the source, with a plus if it has been changed since; result files and documents aside."""
    root = str(common.HERE.parent)
    name = _output("git", "-C", root, "rev-parse", "--short=10", "HEAD")
    changed = _output("git", "-C", root, "status", "--porcelain", "--", "src", "benchmarks/*.py", "benchmarks/*.R")
    return name + ("+" if changed else "")


def surroundings(options: argparse.Namespace) -> dict[str, Any]:
    """Commit, date, machine and versions; no names, no paths."""
    apart = json.loads(_output(options.peers_python, "-c", VERSIONS, *APART))
    processor = Path("/proc/cpuinfo")
    models = [line.split(":")[1].strip() for line in processor.read_text().splitlines() if line.startswith("model name")]
    r_version = 'cat(as.character(getRversion()), as.character(packageVersion("bridgesampling")))'
    try:
        r, bridgesampling = _output("Rscript", "-e", r_version).split()
    except (OSError, subprocess.CalledProcessError):
        r = bridgesampling = "not installed"
    return {
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d"),
        "processor": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": [round(x, 1) for x in os.getloadavg()],
        "versions": json.loads(_output(sys.executable, "-c", VERSIONS, *PACKAGES)),
        "versions_apart": apart,
        "r": {"R": r, "bridgesampling": bridgesampling},
        "seeds": options.seeds,
        "seconds": options.seconds,
        "limit": options.limit,
    }


def append(path: Path, row: dict[str, Any]) -> None:
    """One line more."""
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def kept(path: Path) -> list[dict[str, Any]]:
    """The rows of this commit that are there; others are dropped from the file."""
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    lines = [line for line in lines if line["commit"] == commit()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return [line for line in lines if "tool" in line]


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    """Run what is asked, and is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="CPU seconds after which a tool gets no further seed on a problem"
    )
    parser.add_argument("--limit", type=float, default=120.0, help="CPU seconds after which a run is ended")
    parser.add_argument("--problem", choices=PROBLEMS, action="append")
    parser.add_argument("--tool", choices=TOOLS, action="append")
    parser.add_argument(
        "--peers-python", default=sys.executable, help="a Python with dynesty, ultranest, nautilus-sampler, particles"
    )
    parser.add_argument("--into", type=Path, default=RESULT)
    options = parser.parse_args()
    common.one_core()
    rows = kept(options.into)
    append(options.into, surroundings(options))
    for problem in options.problem or PROBLEMS:
        tools = [TOOLS[name] for name in options.tool or TOOLS]
        take_turns(problem, [tool for tool in tools if tool.takes(problem)], options, rows)


if __name__ == "__main__":
    main()
