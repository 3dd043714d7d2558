"""dynesty's static nested sampler at its defaults on one problem: one JSON line with log Z and CPU seconds of every seed."""

from __future__ import annotations

import json
from typing import Any

import common

common.one_core()

import dynesty  # noqa: E402
import numpy as np  # noqa: E402
from nested_problems import PROBLEMS  # noqa: E402


def main() -> None:
    """Run the seeds."""
    options = common.options_of(__doc__, PROBLEMS, ["default"])
    given = PROBLEMS[options.problem]()
    problem = given.problem
    stated: list[float] = []
    evaluations: list[int] = []

    def log_likelihood(u: Any) -> float:
        return float(problem.log_likelihood(np, u))

    def run(seed: int) -> float:
        sampler = dynesty.NestedSampler(log_likelihood, given.from_cube, problem.d, rstate=np.random.default_rng(seed))
        sampler.run_nested(print_progress=False)
        stated.append(float(sampler.results.logzerr[-1]))
        evaluations.append(int(np.sum(sampler.results.ncall)))
        return float(sampler.results.logz[-1])

    timed = common.time_seeds(run, options.seeds)
    more = {"stated_se": stated[1:], "evaluations": evaluations[1:], "truth": problem.log_evidence}
    print(json.dumps({**timed, **more, "version": dynesty.__version__}))


if __name__ == "__main__":
    main()
