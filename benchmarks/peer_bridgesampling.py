"""R's bridgesampling from NUTS draws in the comparison with peers (`peers.py`).

NumPyro's NUTS makes 4 chains of 1,000 draws after 1,000 of warm-up, from prior draws, on unconstrained coordinates; R evaluates the same
log posterior in vectorised R. A run's time is that of NUTS and of `bridge_sampler`, without the start of R, as no import is counted; its
calls are the gradients of NUTS and R's evaluations. NUTS does not move between modes far apart.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpyro.infer import MCMC, NUTS
from problems import Problem
from serve import Answer, Run, serve

N_CHAINS, N_WARM_UP, N_DRAWS = 4, 1000, 1000
R_CODE = Path(__file__).with_name("peer_bridgesampling.R")


def log_posterior(problem: Problem) -> tuple[Any, Any]:
    """The log posterior on unconstrained coordinates, and the map from them."""
    if problem.box is None:
        return lambda v: problem.log_prior(jnp, v) + problem.log_likelihood(jnp, v, jax.nn.softplus), lambda v: v
    low, high = problem.box

    def constrain(v: Any) -> Any:
        return low + (high - low) * jax.nn.sigmoid(v)

    def log_density(v: Any) -> Any:
        log_jacobian = jnp.sum(jax.nn.log_sigmoid(v) + jax.nn.log_sigmoid(-v))
        return problem.log_likelihood(jnp, constrain(v)) + log_jacobian

    return log_density, constrain


def prepare(problem: Problem, method: str) -> Run:
    """The sampler, and a folder with the arrays that R reads."""
    jax.config.update("jax_enable_x64", True)
    log_density, constrain = log_posterior(problem)
    chains = MCMC(
        NUTS(potential_fn=lambda v: -log_density(v)), num_warmup=N_WARM_UP, num_samples=N_DRAWS, num_chains=N_CHAINS,
        chain_method="sequential", progress_bar=False,
    )  # fmt: skip
    folder = Path(tempfile.mkdtemp(prefix="bridgesampling-"))
    for name, array in problem.arrays.items():
        np.savetxt(folder / f"{name}.csv", array, delimiter=",")

    def run(seed: int) -> Answer:
        start = problem.sample_prior(np.random.default_rng(seed), N_CHAINS)
        if problem.box is not None:
            share = (start - problem.box[0]) / (problem.box[1] - problem.box[0])
            start = np.log(share / (1.0 - share))
        warm, later = jax.random.split(jax.random.key(seed))
        chains.warmup(warm, init_params=jnp.asarray(start), extra_fields=("num_steps",), collect_warmup=True)
        calls = int(np.sum(chains.get_extra_fields()["num_steps"]))
        chains.run(later, extra_fields=("num_steps",))
        calls += int(np.sum(chains.get_extra_fields()["num_steps"]))
        draws = np.asarray(constrain(chains.get_samples()))
        draws.astype("<f8").tofile(folder / "draws.bin")
        command = ["Rscript", R_CODE, folder, problem.name, str(seed), method, str(problem.d), *map(str, problem.box or ())]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        log_evidence, relative, evaluations, seconds, all_seconds = (float(x) for x in done.stdout.split()[-5:])
        # What R took as a whole is already in this process's account of its children.
        return Answer(
            log_evidence, None if np.isnan(relative) else relative, calls + int(evaluations), more_seconds=seconds - all_seconds
        )

    return run


if __name__ == "__main__":
    serve(prepare, ("normal", "warp3"))
