"""Independent chains of one tempered posterior, with warm-up, and how well they agree (R-hat, effective draws).

Chains start from the particles of a short tempered run, which come from the prior and so stand in every mode in about its
share; they are tuned on those particles before any draw is kept, and not afterwards. All chains move together, one compiled
call at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.numerics.resampling import systematic
from zhat.numerics.series import effective_sample_size, r_hat
from zhat.results.records import Array, Draws
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import Kernel, State
from zhat.sampling.kernels.crank_nicolson import CrankNicolson
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.tuning import fit_tuning
from zhat.sampling.observer import Observer
from zhat.sampling.tempering.population import Moves, run_along_path
from zhat.sampling.tempering.schedules import AdaptiveESS
from zhat.sampling.tempering.sweep import sweep
from zhat.seeding import Key

AT_ONCE = 25
# Particles of the tempered population that finds the chains their starts.
N_STARTS = 1000


@dataclass(frozen=True)
class Chains:
    """Posterior draws in chains, the worst R-hat and the smallest effective number over coordinates and log likelihood."""

    draws: Draws
    r_hat: float
    ess: float
    acceptance: float


def run_chains(
    model: Model,
    key: Key,
    loop: Loop,
    n_chains: int = 8,
    n_warmup: int = 200,
    n_draws: int = 1000,
    kernel: Kernel | None = None,
    observer: Observer | None = None,
    n_starts: int = N_STARTS,
) -> Chains:
    """Posterior draws from `n_chains` chains of `n_draws` each, after `n_warmup` moves that are thrown away.

    A tempered population of `n_starts` particles finds the chains their starts; the `observer` sees its rungs.
    """
    if n_chains < 2 or n_draws < 4 or n_warmup < 0:
        raise BadInput(f"n_chains={n_chains}, n_draws={n_draws}, n_warmup={n_warmup}: needs 2 chains of 4 draws at least.")
    kernel = kernel or (CrankNicolson() if model.is_black_box else HMC())
    kernels: tuple[Kernel, ...] = (CrankNicolson(),) if model.is_black_box else (CrankNicolson(), HMC())
    walk = key.child("path")
    path = run_along_path(model, n_starts, 4, AdaptiveESS(0.5), kernels, Moves(0.3, 2, 40), False, walk, loop, observer=observer)
    final = path.final
    assert final is not None and final.log_weight is not None
    rng = key.child("start").generator()
    chosen = rng.permutation(systematic(final.log_weight, float(rng.random()), n_chains))
    state = State(final.position[chosen], final.log_prior[chosen], final.log_likelihood[chosen], None)
    weights = np.exp(final.log_weight - final.log_weight.max())
    tuning = fit_tuning(final.position, weights, kernel.first_scale(model.n_dimensions))
    kept: list[list[Array]] = []
    accepted, scale, n_left = [], float(tuning.scale), n_draws
    for k in range(-(-n_warmup // AT_ONCE) + -(-n_draws // AT_ONCE)):
        warming = k < -(-n_warmup // AT_ONCE)
        part = sweep(model, kernel, state, AT_ONCE, 1.0, tuning._replace(scale=np.float64(scale)), rng, loop)
        loop.tick(f"{'warm-up' if warming else 'chains'}  acceptance {part.acceptance:.2f}")
        state = State(part.position[-1], part.log_prior[-1], part.log_likelihood[-1], None)
        if warming:
            scale = kernel.next_scale(scale, part.acceptance)
            continue
        kept.append([array[:n_left] for array in (part.position, part.log_prior, part.log_likelihood)])
        n_left -= AT_ONCE
        accepted.append(part.acceptance)
    position, log_prior, log_likelihood = (np.concatenate([part[i] for part in kept]).swapaxes(0, 1) for i in range(3))
    draws = Draws(
        position.reshape(-1, model.n_dimensions),
        log_likelihood.reshape(-1),
        log_prior.reshape(-1),
        n_drawn=n_chains * n_draws,
        chain=np.repeat(np.arange(n_chains), n_draws),
    )
    series = [log_likelihood, *np.moveaxis(position, 2, 0)]
    return Chains(
        draws,
        max(r_hat(one) for one in series),
        min(effective_sample_size(one) for one in series),
        float(np.mean(accepted)),
    )
