"""Likelihood calls of zhat on one problem as a black box: one JSON line with log Z, standard error and calls of every seed."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import common

common.one_core()

import numpyro.distributions as dist  # noqa: E402
from calls_problems import PROBLEMS, BoxProblem  # noqa: E402

import zhat  # noqa: E402

TOOLS: dict[str, Any] = {"zhat nested": zhat.NestedSampling(), "zhat importance": zhat.Importance(), "zhat": None}


def model_of(problem: BoxProblem) -> zhat.Model:
    """The problem as a black box."""
    prior = {"x": dist.Uniform(problem.low, problem.high).expand([problem.d]).to_event(1)}
    return zhat.Model.black_box(lambda params: problem.log_likelihood(params["x"]), prior, batched=True, name=problem.name)


def main() -> None:
    """Run the seeds; a run that is not ok has no standard error and counts as refused."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", choices=PROBLEMS, required=True)
    parser.add_argument("--tool", choices=TOOLS, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    problem = PROBLEMS[options.problem]()
    model, begin = model_of(problem), time.process_time()
    runs = [zhat.evidence(model, TOOLS[options.tool], seed=seed, progress=False) for seed in range(options.seeds)]
    ok = [run for run in runs if run.status.is_ok]
    row = {
        "log_evidence": [run.log_evidence for run in ok],
        "se": [run.log_evidence_se for run in ok],
        "calls": [run.cost.n_likelihood for run in runs],
        "refused": len(runs) - len(ok),
        "truth": problem.log_evidence,
        "seconds": (time.process_time() - begin) / len(runs),
    }
    print(json.dumps({options.tool: row}))


if __name__ == "__main__":
    main()
