"""Adaptive tempering of the package `particles` in the comparison with peers (`peers.py`).

Its defaults: waste-free, chains of 10, random walk tuned on the particles, tempering to an ESS of one half. Calls are counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import particles
from particles import smc_samplers
from problems import Problem
from serve import Answer, Run, serve

SETTINGS: dict[str, tuple[int, dict[str, Any]]] = {"waste-free": (1000, {}), "standard": (2000, {"wastefree": False})}


def prepare(problem: Problem, setting: str) -> Run:
    """The problem in the form that `particles` takes."""
    n, settings = SETTINGS[setting]
    calls: list[int] = []

    class Prior:
        def rvs(self, size: int = 1) -> np.ndarray:
            return problem.sample_prior(np.random.default_rng(np.random.randint(2**31)), size)

        def logpdf(self, theta: np.ndarray) -> np.ndarray:
            return problem.log_prior(np, theta)

    class Static(smc_samplers.StaticModel):
        def loglik(self, theta: np.ndarray, t: int | None = None) -> np.ndarray:
            calls.append(len(theta))
            return problem.log_likelihood(np, theta)

    def run(seed: int) -> Answer:
        np.random.seed(seed)
        calls.clear()
        algorithm = particles.SMC(fk=smc_samplers.AdaptiveTempering(model=Static(prior=Prior()), **settings), N=n)
        algorithm.run()
        return Answer(float(algorithm.logLt), calls=sum(calls))

    return run


if __name__ == "__main__":
    serve(prepare, SETTINGS)
