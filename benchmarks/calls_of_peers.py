"""Likelihood calls of dynesty, UltraNest or nautilus on one problem: one JSON line with log Z, standard error and calls of every seed.

Every tool runs at its defaults. nautilus runs to 10,000 effective draws by default, which is a standard error near 0.01. Every run of it
is first read when it has a hundred, which is one of 0.1 (its exploration is done then): the tool `nautilus, to 0.1`.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import time
from collections.abc import Callable, Sequence

import common

common.one_core()

import numpy as np  # noqa: E402
from calls_problems import PROBLEMS, BoxProblem  # noqa: E402

# Log Z, standard error, calls.
Run = tuple[float, float, int]


def with_dynesty(problem: BoxProblem, seed: int) -> Run:
    """The static nested sampler."""
    import dynesty

    sampler = dynesty.NestedSampler(
        lambda x: float(problem.log_likelihood(x)), problem.from_cube, problem.d, rstate=np.random.default_rng(seed)
    )
    sampler.run_nested(print_progress=False)
    results = sampler.results
    return float(results.logz[-1]), float(results.logzerr[-1]), int(np.sum(results.ncall))


def with_ultranest(problem: BoxProblem, seed: int) -> Run:
    """The reactive nested sampler, vectorised; it draws from NumPy's global state."""
    import ultranest

    logging.getLogger("ultranest").setLevel(logging.ERROR)
    np.random.seed(seed)
    sampler = ultranest.ReactiveNestedSampler(
        [f"x{i}" for i in range(problem.d)], problem.log_likelihood, problem.from_cube, vectorized=True
    )
    result = sampler.run(show_status=False, viz_callback=False)
    return float(result["logz"]), float(result["logzerr"]), int(result["ncall"])


def with_nautilus(problem: BoxProblem, seed: int) -> tuple[Run, Run]:
    """The importance nested sampler, when it has 100 effective draws and at its default; its error is one over their root."""
    import nautilus

    sampler = nautilus.Sampler(
        problem.from_cube, problem.log_likelihood, n_dim=problem.d, vectorized=True, pass_dict=False, seed=seed
    )
    reads = []
    for n_effective in (100, 10_000):
        sampler.run(n_eff=n_effective, verbose=False)
        reads.append((float(sampler.log_z), 1.0 / math.sqrt(float(sampler.n_eff)), int(sampler.n_like)))
    return reads[0], reads[1]


TOOLS: dict[str, Callable[[BoxProblem, int], Sequence[Run]]] = {
    "dynesty": lambda problem, seed: (with_dynesty(problem, seed),),
    "UltraNest": lambda problem, seed: (with_ultranest(problem, seed),),
    "nautilus": with_nautilus,
}


def main() -> None:
    """Run the seeds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", choices=PROBLEMS, required=True)
    parser.add_argument("--tool", choices=TOOLS, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    problem, begin = PROBLEMS[options.problem](), time.process_time()
    runs = [TOOLS[options.tool](problem, seed) for seed in range(options.seeds)]
    seconds = (time.process_time() - begin) / options.seeds
    names = [options.tool] if len(runs[0]) == 1 else [f"{options.tool}, to 0.1", options.tool]
    rows = {}
    for i, name in enumerate(names):
        log_evidence, se, calls = zip(*(run[i] for run in runs), strict=True)
        rows[name] = {
            "log_evidence": log_evidence, "se": se, "calls": calls, "truth": problem.log_evidence, "seconds": seconds,
        }  # fmt: skip
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
