"""UltraNest's reactive nested sampler at its defaults in the comparison with peers (`peers.py`).

The likelihood and the prior's map are given in their vectorised form, which is the quicker one.
"""

from __future__ import annotations

import logging

import numpy as np
import ultranest
from problems import Problem
from serve import Answer, Run, serve


def prepare(problem: Problem, setting: str) -> Run:
    """The sampler, which is made anew for each seed."""
    logging.getLogger("ultranest").setLevel(logging.ERROR)

    def run(seed: int) -> Answer:
        np.random.seed(seed)  # UltraNest draws from the global state
        sampler = ultranest.ReactiveNestedSampler(
            [f"u{i}" for i in range(problem.d)],
            lambda u: problem.log_likelihood(np, u),
            problem.from_cube,
            vectorized=True,
        )
        found = sampler.run(show_status=False, viz_callback=False)
        return Answer(float(found["logz"]), float(found["logzerr"]), int(found["ncall"]))

    return run


if __name__ == "__main__":
    serve(prepare)
