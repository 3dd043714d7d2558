"""What does the default take on models of 2 to 101 parameters whose likelihood takes microseconds?

Each problem and seed in a process of its own: CPU seconds, of which compiling (the compile cache is the user's, so mostly reading from
it), standard error, distance from the truth where it is known, status, evaluations, and what each family of methods said.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

import common

NAMES = (
    "ridge", "ridge-normal", "local-level", "logistic-100", "two-normals", "two-bananas", "gaussian-process", "mirrored-signs",
)  # fmt: skip


def child(name: str, seed: int) -> dict[str, Any]:
    """One run of the default."""
    from heavy_problems import PROBLEMS

    import zhat

    model, truth = PROBLEMS[name]()
    begin = time.process_time()
    result = zhat.evidence(model, seed=seed, progress=False)
    seconds, cost = time.process_time() - begin, result.cost
    views = result.diagnostics.get("views", [result.method])
    return {
        "problem": name,
        "parameters": model.n_dimensions,
        "seed": seed,
        "cpu_seconds": seconds,
        "compile_seconds": cost.compile_seconds,
        "log_evidence": result.log_evidence,
        "log_evidence_se": result.log_evidence_se,
        "truth": truth,
        "status": str(result.status.level.value),
        "codes": [reason.code for reason in result.status.reasons],
        "n_likelihood": cost.n_likelihood,
        "n_gradient": cost.n_gradient,
        "n_hessian": cost.n_hessian,
        "method": result.method,
        "views": views,
        "why": result.why_this_method,
    }


def report(rows: list[dict[str, Any]]) -> str:
    """One line a run."""
    lines = []
    for row in rows:
        se, truth = row["log_evidence_se"], row["truth"]
        off = "" if truth is None or se is None else f"{(row['log_evidence'] - truth) / se:.1f}"
        lines.append(
            [
                f"{row['problem']} ({row['parameters']}), seed {row['seed']}",
                f"{row['cpu_seconds']:.1f}",
                f"{row['compile_seconds']:.1f}",
                f"{row['log_evidence']:.3f}",
                "none" if se is None else f"{se:.4f}",
                off,
                row["status"],
                f"{row['n_likelihood']:,}",
                f"{row['n_gradient']:,}",
                f"{row['n_hessian']:,}",
                ", ".join(row["views"]),
            ]
        )
    header = [
        "problem (parameters)",
        "CPU s",
        "compiling",
        "log Z",
        "s.e.",
        "z",
        "status",
        "likelihoods",
        "gradients",
        "Hessians",
    ]
    return "## The default on models that are cheap to evaluate and hard\n\n" + common.table([*header, "families"], lines)


def main() -> None:
    """Measure and write, or be a child."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--child", nargs=2, metavar=("PROBLEM", "SEED"), help="one measurement")
    parser.add_argument("--problem", choices=NAMES, action="append")
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    if options.child:
        common.one_core()
        print(json.dumps(child(options.child[0], int(options.child[1]))))
        return
    for name in options.problem or NAMES:
        for seed in range(options.seeds):
            row = common.run_child("heavy_tails.py", ["--child", name, str(seed)], dict(os.environ))
            print(report([row]).splitlines()[-1], flush=True)
            keep(row)


def keep(row: dict[str, Any]) -> None:
    """Write the row into the result file, in place of one of the same problem and seed: a run of all problems takes most of an hour."""
    path = common.RESULTS / "heavy_tails.json"
    rows = json.loads(path.read_text())["runs"] if path.exists() else []
    rows = [other for other in rows if (other["problem"], other["seed"]) != (row["problem"], row["seed"])]
    rows = sorted([*rows, row], key=lambda row: (NAMES.index(row["problem"]), row["seed"]))
    common.write("heavy_tails", {"runs": rows}, report(rows))


if __name__ == "__main__":
    main()
