"""dynesty's static nested sampler at its defaults in the comparison with peers (`peers.py`)."""

from __future__ import annotations

from typing import Any

import dynesty
import numpy as np
from problems import Problem
from serve import Answer, Run, serve


def prepare(problem: Problem, setting: str) -> Run:
    """The likelihood as dynesty takes it: one point at a time."""

    def log_likelihood(u: Any) -> float:
        return float(problem.log_likelihood(np, u))

    def run(seed: int) -> Answer:
        sampler = dynesty.NestedSampler(log_likelihood, problem.from_cube, problem.d, rstate=np.random.default_rng(seed))
        sampler.run_nested(print_progress=False)
        found = sampler.results
        return Answer(float(found.logz[-1]), float(found.logzerr[-1]), int(np.sum(found.ncall)))

    return run


if __name__ == "__main__":
    serve(prepare)
