"""What does an evidence cost from 10 to 1,000 dimensions, and what memory?

A Gaussian, a logistic regression with five rows a coefficient, and latent fields of counts, as plain NumPyro models and declared
(`dimension_problems.py`): the default, SMC and Importance; nested sampling on the Gaussian up to 100. Each run in a process of its own
on one core, compiling included. A run that is made again takes the place of the earlier one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from typing import Any

import common

PROBLEMS = ("gaussian", "logistic", "cox", "field", "declared-field")
DIMENSIONS = (10, 30, 100, 300, 1000)
METHODS = ("default", "smc", "importance", "nested")
GIB = 2**30


def child(problem: str, d: int, method: str, seed: int) -> dict[str, Any]:
    """One run."""
    from dimension_problems import PROBLEMS as MODELS

    import zhat

    model, truth = MODELS[problem](d)
    before, begin = time.process_time(), time.perf_counter()
    named = {} if method == "default" else {"method": method}
    result = zhat.evidence(model, seed=seed, progress=False, **named)
    seconds, cost = time.process_time() - before, result.cost
    return {
        "problem": problem,
        "dimensions": d,
        "method": method,
        "seed": seed,
        "cpu_seconds": seconds,
        "wall_seconds": time.perf_counter() - begin,
        "compile_seconds": cost.compile_seconds,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "log_evidence": result.log_evidence,
        "log_evidence_se": result.log_evidence_se,
        "truth": truth,
        "status": str(result.status.level.value),
        "codes": [reason.code for reason in result.status.reasons],
        "n_likelihood": cost.n_likelihood,
        "n_gradient": cost.n_gradient,
        "n_hessian": cost.n_hessian,
        "views": result.diagnostics.get("views", [result.method]),
        "from_chains": result.diagnostics.get("from_chains_log_evidence"),
        "from_chains_se": result.diagnostics.get("from_chains_se"),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
    }


def report(rows: list[dict[str, Any]]) -> str:
    """One line a run, in the order of problems, methods and dimensions."""
    order = sorted(rows, key=lambda r: (PROBLEMS.index(r["problem"]), METHODS.index(r["method"]), r["dimensions"], r["seed"]))
    header = ["problem", "by", "d", "CPU s", "GiB", "log Z", "s.e.", "off by, in s.e.", "gradients", "status"]
    return "## From 10 to 1,000 dimensions\n\n" + common.table(header, [line(row) for row in order])


def line(row: dict[str, Any]) -> list[str]:
    """One line of the table."""
    se, truth = row["log_evidence_se"], row["truth"]
    # A standard error of rounding has no z.
    off = "" if truth is None or not se or se < 1e-6 else f"{(row['log_evidence'] - truth) / se:+.1f}"
    return [
        row["problem"],
        row["method"],
        str(row["dimensions"]),
        f"{row['cpu_seconds']:.1f}",
        f"{row['peak_bytes'] / GIB:.2f}",
        f"{row['log_evidence']:.3f}" if row["log_evidence"] == row["log_evidence"] else "none",
        "none" if se is None else f"{se:.2g}",
        off,
        f"{row['n_gradient']:,}",
        row["status"] + (f" ({', '.join(row['codes'])})" if row["codes"] else ""),
    ]


def main() -> None:
    """Measure and write, or be a child."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--child", nargs=4, metavar=("PROBLEM", "D", "METHOD", "SEED"), help="one measurement")
    parser.add_argument("--problem", choices=PROBLEMS, nargs="+", default=list(PROBLEMS))
    parser.add_argument("--method", choices=METHODS, nargs="+", default=["default", "smc", "importance"])
    parser.add_argument("--dimensions", type=int, nargs="+", default=list(DIMENSIONS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    options = parser.parse_args()
    if options.child:
        problem, d, method, seed = options.child
        common.one_core()
        print(json.dumps(child(problem, int(d), method, int(seed))))
        return
    saved = common.RESULTS / "many_dimensions.json"
    rows = json.loads(saved.read_text())["runs"] if saved.exists() else []
    for problem in options.problem:
        for method in options.method:
            for d in options.dimensions:
                for seed in options.seeds:
                    arguments = ["--child", problem, str(d), method, str(seed)]
                    with common.compile_cache() as environment:
                        row = common.run_child("many_dimensions.py", arguments, environment)
                    key = (problem, d, method, seed)
                    rows = [r for r in rows if (r["problem"], r["dimensions"], r["method"], r["seed"]) != key] + [row]
                    print(" | ".join(line(row)), flush=True)
                    saved.write_text(json.dumps({"runs": rows}))
    common.write("many_dimensions", {"runs": rows}, report(rows))


if __name__ == "__main__":
    main()
