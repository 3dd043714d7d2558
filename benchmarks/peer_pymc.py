"""PyMC's sequential Monte Carlo at its defaults in the comparison with peers (`peers.py`).

2,000 draws and two chains, one after the other on the one core; log Z is the logarithm of the mean of their evidences, and no error is
stated. Calls are counted by the kernel. PyTensor compiles the model's functions at every call of `sample_smc`, so this is part of a run.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from problems import Problem
from scipy.special import logsumexp
from serve import Answer, Run, serve


def model_of(problem: Problem) -> Any:
    """The problem with PyMC's priors and the common likelihood."""
    with pm.Model() as model:
        if problem.scale is not None:
            u = pm.Normal("u", 0.0, problem.scale, shape=problem.d)
        elif problem.box is not None:
            u = pm.Uniform("u", *problem.box, shape=problem.d)
        else:  # eight schools
            mu, tau, z = pm.Normal("mu", 0.0, 5.0), pm.HalfCauchy("tau", 5.0), pm.Normal("z", shape=8)
            u = pt.concatenate([mu[None], pt.log(tau)[None], z])
        pm.Potential("log_likelihood", problem.log_likelihood(pt, u, pt.softplus))
    return model


class Counting(pm.smc.IMH):
    """PyMC's default kernel, which here counts its likelihoods."""

    calls = 0

    def _initialize_kernel(self) -> None:
        super()._initialize_kernel()
        Counting.calls += self.draws

    def mutate(self) -> None:
        super().mutate()
        Counting.calls += self.draws * (self.n_steps - 1)


def prepare(problem: Problem, setting: str) -> Run:
    """The model, built once."""
    logging.getLogger("pymc").setLevel(logging.ERROR)
    model = model_of(problem)

    def run(seed: int) -> Answer:
        Counting.calls = 0
        found = pm.sample_smc(
            model=model, kernel=Counting, cores=1, random_seed=seed, progressbar=False, compute_convergence_checks=False
        )
        stages = found.sample_stats["log_marginal_likelihood"].values  # of each chain, as many as it took
        each = np.array([np.ravel(np.asarray(chain, object))[-1] for chain in stages], float)
        return Answer(float(logsumexp(each) - np.log(len(each))), calls=Counting.calls)

    return run


if __name__ == "__main__":
    serve(prepare)
