"""Adaptive tempering of the package `particles` on one problem: one JSON line with log Z and CPU seconds of every seed.

Its defaults: waste-free, chains of 10, random walk tuned on the particles, tempering to an ESS of one half. Needs only
NumPy and `particles`, so it can run in an interpreter of its own.
"""

from __future__ import annotations

import json
from typing import Any

import common

common.one_core()

import numpy as np  # noqa: E402
from problems import PROBLEMS, Problem  # noqa: E402

SETTINGS: dict[str, tuple[int, dict[str, Any]]] = {
    "waste-free": (1000, {}),
    "waste-free-long": (200, {"len_chain": 100}),  # the numbers of its documentation
    "standard": (2000, {"wastefree": False}),
}


def static_model(problem: Problem) -> Any:
    """The problem in the form that `particles` takes."""
    from particles import smc_samplers

    class Prior:
        def rvs(self, size: int = 1) -> np.ndarray:
            return problem.sample_prior(np.random.default_rng(np.random.randint(2**31)), size)

        def logpdf(self, theta: np.ndarray) -> np.ndarray:
            return problem.log_prior(np, theta)

    class Static(smc_samplers.StaticModel):
        def loglik(self, theta: np.ndarray, t: int | None = None) -> np.ndarray:
            return problem.log_likelihood(np, theta)

    return Static(prior=Prior())


def main() -> None:
    """Run the seeds; a run that raises counts as none."""
    options = common.options_of(__doc__, PROBLEMS, SETTINGS, "waste-free")
    problem = PROBLEMS[options.problem]()
    n, settings = SETTINGS[options.setting]
    messages: list[str] = []

    def run(seed: int) -> float:
        import particles
        from particles import smc_samplers

        np.random.seed(seed)
        try:
            fk = smc_samplers.AdaptiveTempering(model=static_model(problem), **settings)
            algorithm = particles.SMC(fk=fk, N=n)
            algorithm.run()
        except (ValueError, np.linalg.LinAlgError) as error:
            messages.append(str(error))
            return float("nan")
        return float(algorithm.logLt)

    print(json.dumps({**common.time_seeds(run, options.seeds), "truth": problem.log_evidence, "messages": messages}))


if __name__ == "__main__":
    main()
