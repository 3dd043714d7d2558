"""BlackJAX's nested slice sampling in the comparison with peers (`peers.py`).

BlackJAX has no default for live points and inner moves. Here it has 500 live points, as dynesty has, the max(5, 2 d) slice
moves that its documentation asks for, and its documentation's end: the live points hold less than e^-3 of the evidence. One
point dies at a time (its default), or fifty do. The loop is compiled, a hundred deaths a call.

Calls are counted from what its moves report: both ends of an interval, each expansion, each shrinkage.
"""

from __future__ import annotations

from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from peer_blackjax_smc import softplus
from problems import Problem
from serve import Answer, Run, serve

N_LIVE = 500
SETTINGS = {"default": 1, "50-at-once": 50}


def prepare(problem: Problem, setting: str) -> Run:
    """The compiled sampler."""
    jax.config.update("jax_enable_x64", True)
    n_delete = SETTINGS[setting]
    n_moves = max(5, 2 * problem.d)
    algorithm = blackjax.nss(
        lambda u: problem.log_prior(jnp, u),
        lambda u: problem.log_likelihood(jnp, u, softplus),
        num_inner_steps=n_moves,
        num_delete=n_delete,
    )

    def one(carry: Any, key: Any) -> Any:
        state, calls = carry
        state, info = algorithm.step(key, state)
        moves = info.update_info
        return (state, calls + 2 * n_moves * n_delete + jnp.sum(moves.num_expansions) + jnp.sum(moves.num_shrink)), None

    @jax.jit
    def some(key: Any, carry: Any) -> Any:
        return jax.lax.scan(one, carry, jax.random.split(key, max(1, 100 // n_delete)))[0]

    start = jax.jit(lambda points, key: algorithm.init(points, rng_key=key))

    def run(seed: int) -> Answer:
        key = jax.random.key(seed)
        points = jnp.asarray(problem.sample_prior(np.random.default_rng(seed), N_LIVE))
        state, calls = start(points, key), jnp.asarray(N_LIVE)
        while not float(state.integrator.logZ_live - state.integrator.logZ) < -3.0:
            key, now = jax.random.split(key)
            state, calls = some(now, (state, calls))
        log_evidence = jnp.logaddexp(state.integrator.logZ, state.integrator.logZ_live)
        return Answer(float(log_evidence), calls=int(calls))

    return run


if __name__ == "__main__":
    serve(prepare, SETTINGS)
