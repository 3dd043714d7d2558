"""Run the benchmarks and put their tables together.

    python benchmarks/run.py                 # everything, most of an hour on one quiet core
    python benchmarks/run.py --part overhead --part cold_start
    python benchmarks/run.py --quick         # few seeds and sizes: does it run?

Each part is a script of its own in a process of its own and writes results/PART.json and results/PART.md; the summary
is results/README.md. The comparison with other packages is a run of its own: `peers.py`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import common

PARTS = ("overhead", "scaling", "cold_start", "gibbs_sweeps", "spread", "subsets", "jumps", "search")
QUICK = {
    "subsets": ["--repeats", "1", "--no-check"],
    "jumps": ["--seeds", "1"],
    "search": ["--moves", "100"],
    "gibbs_sweeps": ["--repeats", "3"],
    "overhead": ["--repeats", "3", "--bare-repeats", "5"],
    "scaling": ["--rows", "500", "5000", "--particles", "200", "--dimensions", "20", "--memory-particles", "1000"],
    "cold_start": ["--repeats", "1"],
    "spread": ["--n", "40"],
}


def run(part: str, quick: bool) -> bool:
    """Run one part; whether it ended well."""
    command = [sys.executable, str(common.HERE / f"{part}.py"), *(QUICK[part] if quick else [])]
    print(f"--- {part}", flush=True)
    return subprocess.run(command, check=False).returncode == 0


def summarise() -> None:
    """All tables there are, under the machine they were made on."""
    texts = [path.read_text() for part in PARTS if (path := common.RESULTS / f"{part}.md").exists()]
    written = [path for part in PARTS if (path := common.RESULTS / f"{part}.json").exists()]
    known = json.loads(max(written, key=lambda path: path.stat().st_mtime).read_text())["machine"]
    machine = ", ".join(f"{name} {value}" for name, value in known.items())
    head = f"# Benchmarks\n\nWritten by `benchmarks/run.py`. {machine}.\n"
    (common.RESULTS / "README.md").write_text("\n".join([head, *texts]))


def main() -> int:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    failed = [part for part in options.part or PARTS if not run(part, options.quick)]
    if len(failed) < len(options.part or PARTS):
        summarise()
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
