"""UltraNest's reactive nested sampler at its defaults on one problem: one JSON line with log Z and CPU seconds of every seed.

The likelihood and the prior's map are given in their vectorised form, which is the quicker one.
"""

from __future__ import annotations

import json
import logging

import common

common.one_core()

import numpy as np  # noqa: E402
import ultranest  # noqa: E402
from nested_problems import PROBLEMS  # noqa: E402


def main() -> None:
    """Run the seeds."""
    options = common.options_of(__doc__, PROBLEMS, ["default"])
    logging.getLogger("ultranest").setLevel(logging.ERROR)
    given = PROBLEMS[options.problem]()
    problem = given.problem
    stated: list[float] = []
    evaluations: list[int] = []

    def run(seed: int) -> float:
        np.random.seed(seed)  # UltraNest draws from the global state
        sampler = ultranest.ReactiveNestedSampler(
            [f"u{i}" for i in range(problem.d)],
            lambda u: problem.log_likelihood(np, u),
            given.from_cube,
            vectorized=True,
        )
        result = sampler.run(show_status=False, viz_callback=False)
        stated.append(float(result["logzerr"]))
        evaluations.append(int(result["ncall"]))
        return float(result["logz"])

    timed = common.time_seeds(run, options.seeds)
    more = {"stated_se": stated[1:], "evaluations": evaluations[1:], "truth": problem.log_evidence}
    print(json.dumps({**timed, **more, "version": ultranest.__version__}))


if __name__ == "__main__":
    main()
