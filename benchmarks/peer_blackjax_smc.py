"""BlackJAX's adaptive tempered SMC in the comparison with peers (`peers.py`).

The loop is the one of its documentation (a jitted `while_loop` until the tempering parameter is one), with the log
likelihood increments summed. Between rungs the kernel is tuned on the particles with BlackJAX's own functions: the
random walk's covariance is 2.38^2 / d times that of the particles; HMC's inverse mass matrix is their covariance, or
their variances alone (with longer trajectories), and its step size follows the acceptance rate (target 0.65).

BlackJAX has no default for ESS, step size or leaps, so these settings are ours. A dozen were tried on the two Gaussians
with one to five seeds each, and the better ones kept; on the other two problems nothing was searched. Leaps matter:
with the full matrix, 4 or 10 instead of 5 end 0.4 to 2 nats off in 20 dimensions. In a hundred dimensions a full matrix of 2,000
particles is tens of nats off, and the variances alone, with 20 leaps, half a nat.

BlackJAX counts no calls. They follow from its code: for each particle and rung, one for the weights, one to start the moves, and one a
move or a leap.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import blackjax
import blackjax.smc.resampling as resampling
import jax
import jax.numpy as jnp
import numpy as np
from blackjax.smc import adaptive_tempered, extend_params
from blackjax.smc.tuning.from_kernel_info import update_scale_from_acceptance_rate
from blackjax.smc.tuning.from_particles import inverse_mass_matrix_from_particles, particles_covariance_matrix
from problems import Problem
from serve import Answer, Run, serve

N_PARTICLES = 2000


@dataclass(frozen=True)
class Setting:
    """How BlackJAX is run."""

    kernel: str
    target_ess: float = 0.5
    n_moves: int = 10
    n_leaps: int = 5
    diagonal: bool = False


SETTINGS = {
    "rw-ess0.9": Setting("rw", target_ess=0.9),
    "hmc": Setting("hmc", n_moves=5),
    "hmc-ess0.9": Setting("hmc", target_ess=0.9, n_moves=2),
    "hmc-diagonal": Setting("hmc", n_moves=5, n_leaps=20, diagonal=True),
}


@jax.custom_jvp
def softplus(x: Any) -> Any:
    """The quick form, with its derivative given, as our own models have it."""
    return jnp.log1p(jnp.exp(-jnp.abs(x))) + jnp.maximum(x, 0.0)


@softplus.defjvp
def _softplus_jvp(primals: Any, tangents: Any) -> Any:
    return softplus(primals[0]), jax.nn.sigmoid(primals[0]) * tangents[0]


def random_walk(d: int) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Step, init, and parameters from the particles and the last acceptance rate."""
    kernel = blackjax.additive_step_random_walk.build_kernel()

    def step(key: Any, state: Any, log_density: Any, factor: Any) -> Any:
        return kernel(key, state, log_density, lambda k, x: factor @ jax.random.normal(k, x.shape, x.dtype))

    def parameters(particles: Any, old: Any, acceptance: Any) -> Any:
        factor = jnp.linalg.cholesky(particles_covariance_matrix(particles))
        return extend_params({"factor": 2.38 / jnp.sqrt(d) * factor})

    return step, blackjax.additive_step_random_walk.init, parameters


def hamiltonian(d: int, n_leaps: int, diagonal: bool) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """The same for HMC."""
    kernel = blackjax.hmc.build_kernel()
    step = functools.partial(kernel, num_integration_steps=n_leaps)

    def parameters(particles: Any, old: Any, acceptance: Any) -> Any:
        if old is None:
            size = jnp.full((1,), 1.0 / d**0.25, particles.dtype)
        else:
            size = update_scale_from_acceptance_rate(old["step_size"], acceptance[None], 0.65)
        if diagonal:
            matrix = jnp.diagonal(inverse_mass_matrix_from_particles(particles))
        else:
            matrix = particles_covariance_matrix(particles)
        return {"step_size": size, **extend_params({"inverse_mass_matrix": matrix})}

    return step, blackjax.hmc.init, parameters


def sampler(problem: Problem, setting: Setting) -> Callable[[Any, Any], Any]:
    """A compiled function of a key and prior draws that returns log Z and the number of rungs."""
    step, init, parameters = (
        random_walk(problem.d) if setting.kernel == "rw" else hamiltonian(problem.d, setting.n_leaps, setting.diagonal)
    )
    kernel = adaptive_tempered.build_kernel(
        lambda u: problem.log_prior(jnp, u),
        lambda u: problem.log_likelihood(jnp, u, softplus),
        step,
        init,
        resampling.systematic,
        setting.target_ess,
    )

    def one_rung(carry: Any) -> Any:
        state, params, key, log_evidence, rungs = carry
        key, now = jax.random.split(key)
        state, info = kernel(now, state, setting.n_moves, params)
        acceptance = info.update_info.acceptance_rate.mean()
        log_evidence = log_evidence + info.log_likelihood_increment
        return state, parameters(state.particles, params, acceptance), key, log_evidence, rungs + 1

    @jax.jit
    def run(key: Any, particles: Any) -> Any:
        state = adaptive_tempered.init(particles)
        state = state._replace(tempering_param=jnp.zeros((), particles.dtype))
        start = (state, parameters(particles, None, None), key, jnp.zeros((), particles.dtype), 0)
        return jax.lax.while_loop(lambda carry: carry[0].tempering_param < 1, one_rung, start)[3:]

    return run


def prepare(problem: Problem, name: str) -> Run:
    """The compiled sampler."""
    jax.config.update("jax_enable_x64", True)
    setting = SETTINGS[name]
    compiled = sampler(problem, setting)
    each = 2 + setting.n_moves * (1 if setting.kernel == "rw" else setting.n_leaps)

    def run(seed: int) -> Answer:
        particles = problem.sample_prior(np.random.default_rng(seed), N_PARTICLES)
        log_evidence, rungs = compiled(jax.random.key(seed), particles)
        return Answer(float(log_evidence), calls=N_PARTICLES * int(rungs) * each)

    return run


if __name__ == "__main__":
    serve(prepare, SETTINGS)
