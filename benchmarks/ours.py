"""SMC of zhat on one problem: one JSON line with log Z and CPU seconds of every seed."""

from __future__ import annotations

import json
from typing import Any

import common

common.one_core()

import numpy as np  # noqa: E402
from problems import PROBLEMS, Problem  # noqa: E402

import zhat  # noqa: E402
from zhat import zoo  # noqa: E402

SETTINGS = {"default": zhat.SMC(), "2000": zhat.SMC(n_particles=2000), "auto": None}


def check_same(problem: Problem, model: Any) -> None:
    """Stop unless the zoo's model is the problem that the peers get."""
    for u in problem.sample_prior(np.random.default_rng(0), 3):
        if problem.name == "eight-schools":
            params = {"mu": u[0], "tau": np.exp(u[1]), "z": u[2:]}
            jacobian = u[1]
        else:
            params, jacobian = {model.space.names[0]: u}, 0.0
        log_prior, log_likelihood = model.evaluate(**params)
        np.testing.assert_allclose(log_prior + jacobian, problem.log_prior(np, u), rtol=1e-9)
        np.testing.assert_allclose(log_likelihood, problem.log_likelihood(np, u), rtol=1e-9)


def main() -> None:
    """Run the seeds."""
    options = common.options_of(__doc__, PROBLEMS, SETTINGS)
    problem = PROBLEMS[options.problem]()
    model, method = zoo.example(problem.zoo_id).model, SETTINGS[options.setting]
    stated: list[float | None] = []

    def run(seed: int) -> float:
        result = zhat.evidence(model, method, seed=seed, progress=False)
        stated.append(result.log_evidence_se)
        return result.log_evidence

    timed = common.time_seeds(run, options.seeds)
    check_same(problem, model)
    print(json.dumps({**timed, "stated_se": stated[1:], "truth": problem.log_evidence}))


if __name__ == "__main__":
    main()
