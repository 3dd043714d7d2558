"""Nested sampling of zhat on one problem: one JSON line with log Z and CPU seconds of every seed."""

from __future__ import annotations

import json
from typing import Any

import common

common.one_core()

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import numpyro.distributions as dist  # noqa: E402
from nested_problems import PROBLEMS, NestedProblem  # noqa: E402

import zhat  # noqa: E402
from zhat import zoo  # noqa: E402

SETTINGS = {"default": zhat.NestedSampling(), "500": zhat.NestedSampling(n_live=500), "auto": None}


def model_of(given: NestedProblem) -> Any:
    """The zoo's model, or the problem's own function on its box."""
    problem = given.problem
    if problem.zoo_id:
        return zoo.example(problem.zoo_id).model
    low, high = (given.from_cube(np.full(problem.d, x)) for x in (0.0, 1.0))
    return zhat.Model(
        lambda params: problem.log_likelihood(jnp, params["x"]),
        lambda: {"x": dist.Uniform(low, high).to_event(1)},
        name=problem.name,
    )


def check_same(given: NestedProblem, model: Any) -> None:
    """Stop unless the model is the problem that the peers get."""
    problem = given.problem
    for u in given.from_cube(np.random.default_rng(0).random((3, problem.d))):
        if problem.name == "eight-schools":
            params = {"mu": u[0], "tau": np.exp(u[1]), "z": u[2:]}
        else:
            params = {model.space.names[0]: u}
        np.testing.assert_allclose(model.evaluate(**params)[1], problem.log_likelihood(np, u), rtol=1e-9)


def main() -> None:
    """Run the seeds."""
    options = common.options_of(__doc__, PROBLEMS, SETTINGS)
    given = PROBLEMS[options.problem]()
    model, method = model_of(given), SETTINGS[options.setting]
    check_same(given, model)
    results: list[Any] = []

    def run(seed: int) -> float:
        results.append(zhat.evidence(model, method, seed=seed, progress=False))
        return results[-1].log_evidence

    timed = common.time_seeds(run, options.seeds)
    more = {
        "stated_se": [r.log_evidence_se for r in results[1:]],
        "evaluations": [r.cost.n_likelihood for r in results[1:]],
        "truth": given.problem.log_evidence,
    }
    print(json.dumps({**timed, **more}))


if __name__ == "__main__":
    main()
