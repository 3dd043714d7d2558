"""The example problems of dynesty's documentation: the same two Python functions in dynesty and in zhat, at both tools' defaults.

    python benchmarks/prior_transform.py --peers-python OTHER/bin/python --seeds 5

For each problem: log Z with the stated standard errors, calls of the likelihood, CPU seconds; and by how many joint standard errors the two
tools differ, and each from the truth. Every likelihood here takes microseconds, so that CPU seconds are those of the tools.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
TOOLS = ("dynesty", "zhat", "zhat nested")


def run_dynesty(problem: Any, seed: int) -> dict[str, Any]:
    import dynesty

    sampler = dynesty.NestedSampler(
        problem.log_likelihood, problem.prior_transform, problem.n_dim, rstate=np.random.default_rng(seed)
    )
    sampler.run_nested(print_progress=False)
    found = sampler.results
    return {"log_z": float(found.logz[-1]), "se": float(found.logzerr[-1]), "calls": int(np.sum(found.ncall)), "ok": True}


def run_zhat(problem: Any, seed: int, method: str | None) -> dict[str, Any]:
    import zhat

    model = zhat.Model.from_prior_transform(problem.log_likelihood, problem.prior_transform, problem.n_dim, problem.names)
    found = zhat.evidence(model, method, seed=seed)
    calls = found.cost.n_likelihood
    return {"log_z": found.log_evidence, "se": found.log_evidence_se, "calls": calls, "ok": found.status.is_ok}


def cell(tool: str, name: str, seeds: int) -> dict[str, Any]:
    """All seeds of one tool on one problem, after one run that is not counted."""
    from dynesty_problems import PROBLEMS

    problem = PROBLEMS[name]
    rows = []
    for seed in range(seeds + 1):
        begun = time.process_time()
        row = (
            run_dynesty(problem, seed)
            if tool == "dynesty"
            else run_zhat(problem, seed, "nested" if tool == "zhat nested" else None)
        )
        rows.append({**row, "seconds": time.process_time() - begun})
    return {"first_seconds": rows[0]["seconds"], "runs": rows[1:], "truth": problem.truth()}


def report(cells: dict[str, dict[str, dict[str, Any]]], seeds: int) -> str:
    """One table."""
    lines = [
        "# Prior transforms: dynesty's own examples, the same functions in both tools",
        "",
        f"Written by `benchmarks/prior_transform.py`; both tools at their defaults, {seeds} seeds each, one core. *z* is the root mean square "
        "of (estimate - truth) / stated standard error; *apart* is the largest difference from dynesty of the same seed in joint standard errors. "
        "CPU seconds are without compilation; the first run, with it, stands in brackets.",
        "",
        "| problem | tool | mean log Z | truth | stated s.e. | z | apart | ok | calls | CPU s |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, tools in cells.items():
        for tool, found in tools.items():
            good = [run for run in found["runs"] if run["se"] is not None]
            z = [(run["log_z"] - found["truth"]) / run["se"] for run in good]
            pairs = zip(found["runs"], tools["dynesty"]["runs"], strict=True)
            apart = [abs(a["log_z"] - b["log_z"]) / np.hypot(a["se"], b["se"]) for a, b in pairs if a["se"] is not None]
            lines.append(
                f"| {name} | {tool} | {np.mean([run['log_z'] for run in found['runs']]):.4f} | {found['truth']:.4f} "
                f"| {np.mean([run['se'] for run in good]):.4f} | {np.sqrt(np.mean(np.square(z))):.2f} "
                f"| {'' if tool == 'dynesty' else f'{max(apart):.1f}'} | {sum(run['ok'] for run in found['runs'])} of {len(found['runs'])} "
                f"| {np.mean([run['calls'] for run in found['runs']]):,.0f} "
                f"| {np.mean([run['seconds'] for run in found['runs']]):.2f} ({found['first_seconds']:.1f}) |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers-python", default=".venv-peers/bin/python")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--problems", nargs="+", help="only these; the others keep their last results, of as many seeds")
    parser.add_argument("--cell", nargs=2, metavar=("TOOL", "PROBLEM"), help="one cell, as a line of JSON")
    options = parser.parse_args()
    if options.cell:
        print(json.dumps(cell(*options.cell, options.seeds)))
        return
    from dynesty_problems import PROBLEMS

    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
    results = HERE / "results" / "prior_transform.json"
    cells: dict[str, dict[str, dict[str, Any]]] = json.loads(results.read_text()) if options.problems and results.exists() else {}
    for name in options.problems or PROBLEMS:
        for tool in TOOLS:
            python = options.peers_python if tool == "dynesty" else sys.executable
            command = [python, str(HERE / "prior_transform.py"), "--seeds", str(options.seeds), "--cell", tool, name]
            done = subprocess.run(command, env=alone, capture_output=True, text=True, check=True)
            cells.setdefault(name, {})[tool] = json.loads(done.stdout.strip().splitlines()[-1])
        results.write_text(json.dumps(cells, indent=1) + "\n")
        results.with_suffix(".md").write_text(report(cells, options.seeds))


if __name__ == "__main__":
    main()
