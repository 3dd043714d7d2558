"""BlackJAX's nested slice sampling on one problem: one JSON line with log Z and CPU seconds of every seed.

BlackJAX has no default for live points and inner moves. Here it has 500 live points, as dynesty has, the max(5, 2 d) slice
moves that its documentation asks for, and its documentation's end: the live points hold less than e^-3 of the evidence. One
point dies at a time (its default), or fifty do. The loop is compiled, a hundred deaths a call.
"""

from __future__ import annotations

import json
from typing import Any

import common

common.one_core()

import blackjax  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from nested_problems import PROBLEMS  # noqa: E402
from peer_blackjax import softplus  # noqa: E402

N_LIVE = 500
SETTINGS = {"default": 1, "50-at-once": 50}


def main() -> None:
    """Run the seeds."""
    options = common.options_of(__doc__, PROBLEMS, SETTINGS)
    jax.config.update("jax_enable_x64", True)
    n_delete = SETTINGS[options.setting]
    problem = PROBLEMS[options.problem]().problem
    algorithm = blackjax.nss(
        lambda u: problem.log_prior(jnp, u),
        lambda u: problem.log_likelihood(jnp, u, softplus),
        num_inner_steps=max(5, 2 * problem.d),
        num_delete=n_delete,
    )

    @jax.jit
    def some(key: Any, state: Any) -> Any:
        keys = jax.random.split(key, max(1, 100 // n_delete))
        return jax.lax.scan(lambda s, k: (algorithm.step(k, s)[0], None), state, keys)[0]

    start = jax.jit(lambda points, key: algorithm.init(points, rng_key=key))

    def run(seed: int) -> float:
        key = jax.random.key(seed)
        state = start(jnp.asarray(problem.sample_prior(np.random.default_rng(seed), N_LIVE)), key)
        while not float(state.integrator.logZ_live - state.integrator.logZ) < -3.0:
            key, now = jax.random.split(key)
            state = some(now, state)
        return float(jnp.logaddexp(state.integrator.logZ, state.integrator.logZ_live))

    timed = common.time_seeds(run, options.seeds)
    print(json.dumps({**timed, "truth": problem.log_evidence, "version": blackjax.__version__}))


if __name__ == "__main__":
    main()
