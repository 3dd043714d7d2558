"""Our default and our named methods in the comparison with peers (`peers.py`).

python benchmarks/ours.py --check       # are our models the problems that the peers get?
"""

from __future__ import annotations

import sys
from typing import Any

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
from problems import PROBLEMS, Problem
from serve import Answer, Run, serve

import zhat
from zhat import zoo

SETTINGS: dict[str, Any] = {
    "default": {},
    "coarse": {"precision": 0.1},  # what the default aims at by itself where a likelihood takes a millisecond or more
    "smc": {"method": zhat.SMC()},
    "nested": {"method": zhat.NestedSampling()},
    "importance": {"method": zhat.Importance()},
    "bridge": {"method": zhat.Bridge()},
}


def model_of(problem: Problem) -> Any:
    """The zoo's model, or the problem's own function on its box, as a black box where it has no gradients."""
    if problem.zoo_id:
        return zoo.example(problem.zoo_id).model
    prior = {"x": dist.Uniform(*problem.box).expand([problem.d]).to_event(1)}
    if problem.black_box:
        return zhat.Model.black_box(
            lambda params: problem.log_likelihood(np, params["x"]), prior, batched=True, name=problem.name
        )
    return zhat.Model(lambda params: problem.log_likelihood(jnp, params["x"]), lambda: prior, name=problem.name)


def check_same(problem: Problem) -> None:
    """Stop unless our model is the problem that the peers get."""
    model = model_of(problem)
    for u in problem.sample_prior(np.random.default_rng(0), 3):
        if problem.name == "eight-schools":
            params, jacobian = {"mu": u[0], "tau": np.exp(u[1]), "z": u[2:]}, u[1]
        else:
            params, jacobian = {model.space.names[0]: u}, 0.0
        log_prior, log_likelihood = model.evaluate(**params)
        np.testing.assert_allclose(log_prior + jacobian, problem.log_prior(np, u), rtol=1e-9)
        np.testing.assert_allclose(log_likelihood, problem.log_likelihood(np, u), rtol=1e-9)


def prepare(problem: Problem, setting: str) -> Run:
    """The method on the model."""
    model, how = model_of(problem), SETTINGS[setting]

    def run(seed: int) -> Answer:
        result = zhat.evidence(model, **how, seed=seed, progress=False)
        cost, status = result.cost, result.status
        calls = cost.n_likelihood + cost.n_gradient + problem.d * cost.n_hessian
        refused = "" if status.is_ok else ", ".join(reason.code for reason in status.reasons)
        return Answer(result.log_evidence, result.log_evidence_se, calls, refused)

    return run


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        for make in PROBLEMS.values():
            check_same(make())
    else:
        serve(prepare, SETTINGS)
