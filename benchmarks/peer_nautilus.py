"""nautilus' importance nested sampler at its defaults in the comparison with peers (`peers.py`).

It runs to 10,000 effective draws, and states no error of log Z; one over the root of their number is shown as it. The likelihood is given
in its vectorised form, which is the quicker one.
"""

from __future__ import annotations

import math

import nautilus
import numpy as np
from problems import Problem
from serve import Answer, Run, serve


def prepare(problem: Problem, setting: str) -> Run:
    """The sampler, which is made anew for each seed."""

    def run(seed: int) -> Answer:
        sampler = nautilus.Sampler(
            problem.from_cube,
            lambda u: problem.log_likelihood(np, u),
            n_dim=problem.d,
            vectorized=True,
            pass_dict=False,
            seed=seed,
        )
        sampler.run(verbose=False)
        return Answer(float(sampler.log_z), 1.0 / math.sqrt(float(sampler.n_eff)), int(sampler.n_like))

    return run


if __name__ == "__main__":
    serve(prepare)
