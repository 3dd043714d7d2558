"""Independent chains of one tempered posterior, with warm-up, and how well they agree (R-hat, effective sample size).

Chains start from the particles of a short tempered run, which starts from the prior, so that each mode gets about its
share of the chains. Where modes are given, every second chain starts at one of them instead, in shares of the masses that
Laplace's method gives them: a mode that no particle enters is then one from which a chain starts, and R-hat shows it. The kernel is tuned on these particles and during warm-up, and not afterwards. All chains move together, one
compiled call at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.numerics.resampling import systematic
from zhat.numerics.series import effective_sample_sizes, r_hats
from zhat.results.records import Array, Draws, PathRun
from zhat.sampling.backend.evaluation import state_at
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Mode
from zhat.sampling.kernels._base import Kernel, TunedKernel
from zhat.sampling.kernels.defaults import chain_kernel, kernels_for
from zhat.sampling.kernels.sweep import Swept, sweep
from zhat.sampling.mixing import Moves
from zhat.sampling.observer import Observer
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.tempering.population import Population, run_along_path
from zhat.sampling.tuning import fit_tuning
from zhat.seeding import Key

AT_ONCE = 25
# R-hat above which chains are in different modes, and no length would make them agree.
APART = 1.2
# The factor of shorter steps: a chain that enters a region narrower than the rest by about this factor leaves it again. (E15n, the
# non-centred eight schools: with one batch in four of these, chains disagree in 1 of 40 runs instead of 6, for a seventh more
# gradients.)
SHORT = 0.25
# Particles of the tempered run from which the chains start.
N_STARTS = 1000


@dataclass(frozen=True)
class Chains:
    """Posterior draws in chains, the worst R-hat and the smallest effective sample size over coordinates and log likelihood.

    `fit_ess` is the effective sample size by which a covariance is known: the harmonic mean over the principal components.
    """

    draws: Draws
    r_hat: float
    ess: float
    fit_ess: float
    acceptance: float
    path: PathRun | None = None  # the tempered run from whose last particles they started


@dataclass(frozen=True)
class ChainSettings:
    """`n_chains` chains of `n_draws` each, after `n_warmup` moves that are thrown away; started from `n_starts` particles.

    Where `modes` are given, every second chain starts at one of them. A batch of moves in every `short_every` has steps that are
    shorter by the factor `SHORT` (0: none). Chains that are not `enough` are made twice as long, up to `longer` times, and every second of their
    draws is kept: as many as before, less correlated.
    """

    n_chains: int = 8
    n_warmup: int = 200
    n_draws: int = 1000
    kernel: Kernel | None = None
    n_starts: int = N_STARTS
    modes: tuple[Mode, ...] = ()
    short_every: int = 0
    longer: int = 1

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.n_chains < 2 or self.n_draws < 4 or self.n_warmup < 0:
            raise BadInput(
                f"n_chains={self.n_chains}, n_draws={self.n_draws}, n_warmup={self.n_warmup}: needs 2 chains of 4 draws at least."
            )


def run_chains(
    model: Model,
    key: Key,
    loop: Loop,
    settings: ChainSettings | None = None,
    observer: Observer | None = None,
    enough: Callable[[Chains], bool] = lambda chains: True,
) -> Chains:
    """Posterior draws in chains; the `observer` is called with the rungs of the tempered run from which they start.

    Chains for which `enough` is false are made longer, where the settings allow it.
    """
    settings = settings or ChainSettings()
    n_chains, n_warmup, n_draws = settings.n_chains, settings.n_warmup, settings.n_draws
    kernel = chain_kernel(model, settings.kernel)
    population = Population(settings.n_starts, kernels_for(model, gibbs=False), moves=Moves(0.3, 2, 40))
    path = run_along_path(model, population, key.child("path"), loop, observer=observer)
    final = path.final
    assert final is not None and final.log_weight is not None
    rng = key.child("start").generator()
    chosen = rng.permutation(systematic(final.log_weight, float(rng.random()), n_chains))
    state = State.of_draws(final).take(chosen)
    if settings.modes:
        state = _every_second_at_a_mode(model, state, settings.modes, key.child("modes").generator(), loop)
    weights = np.exp(final.log_weight - final.log_weight.max())
    scale = kernel.first_scale(model.n_dimensions)
    moving = TunedKernel(kernel, Tempered(1.0), fit_tuning(final.position, weights, 1.0))
    kept: list[Swept] = []
    n_warm, times, n_moves = -(-n_warmup // AT_ONCE), 1, 0
    k = 0
    while True:
        warming = k < n_warm
        short = settings.short_every > 0 and k % settings.short_every == settings.short_every - 1
        part = sweep(model, moving.scaled(SHORT * scale if short else scale), state, AT_ONCE, rng, loop)
        loop.tick(f"{'warm-up' if warming else 'chains'}  acceptance {part.acceptance.mean:.2f}")
        state, k = part.last, k + 1
        if warming and not short:
            scale = kernel.next_scale(scale, part.acceptance.for_scale(scale))
        if warming:
            continue
        # Of moves 0, 1, 2, ... every `times`-th is kept.
        kept.append(part._replace(states=part.states.take(slice(-n_moves % times, None, times))))
        n_moves += AT_ONCE
        if n_moves < times * n_draws:
            continue
        states = State.joined([part.states for part in kept]).take(slice(0, n_draws))
        found = replace(_in_chains(states, model.n_dimensions, kept), path=path)
        if 2 * times > settings.longer or enough(found) or found.r_hat > APART:
            return found
        rest = State.joined([part.states for part in kept]).take(slice(None, None, 2))
        kept = [kept[-1]._replace(states=rest)]
        times *= 2


def _in_chains(states: State, n_dimensions: int, kept: list[Swept]) -> Chains:
    """States after moves (leading axis) of several chains as draws, one chain after another."""
    n_draws, n_chains = states.log_likelihood.shape
    position, log_prior, log_likelihood = (field.swapaxes(0, 1) for field in states[:3])
    draws = Draws(
        position=position.reshape(-1, n_dimensions),
        log_prior=log_prior.reshape(-1),
        log_likelihood=log_likelihood.reshape(-1),
        n_drawn=n_chains * n_draws,
        chain=np.repeat(np.arange(n_chains), n_draws),
    )
    return chains_of(draws, float(np.mean([part.acceptance.mean for part in kept])))


def chains_of(draws: Draws, acceptance: float) -> Chains:
    """Draws in chains of one length, with the R-hat and effective sample size of what moves worst."""
    assert draws.chain is not None
    n_chains = len(np.unique(draws.chain))
    series = np.concatenate([draws.log_likelihood[None], draws.position.T]).reshape(1 + draws.position.shape[1], n_chains, -1)
    smallest, largest = float(effective_sample_sizes(series).min()), float(r_hats(series).max())
    return Chains(draws, largest, smallest, _fit_ess(draws.position, n_chains), acceptance)


def _fit_ess(position: Array, n_chains: int) -> float:
    """Harmonic mean of the effective sample sizes of the principal components.

    The divergence of a normal fitted to draws is about (d + 1) / 2 times the sum over components of one over their effective sample
    sizes: one slow component among many costs little.
    """
    centred = (position - position.mean(axis=0)) / np.maximum(position.std(axis=0), 1e-300)
    axes = np.linalg.eigh(np.atleast_2d(centred.T @ centred))[1]
    components = np.ascontiguousarray((centred @ axes).T).reshape(-1, n_chains, len(position) // n_chains)
    sizes = np.minimum(effective_sample_sizes(components), float(len(position)))
    return float(len(sizes) / np.sum(1.0 / sizes))


def _every_second_at_a_mode(model: Model, state: State, modes: tuple[Mode, ...], rng: np.random.Generator, loop: Loop) -> State:
    """The state with chains 1, 3, ... at draws of a normal at a mode, or at the mode itself where that draw is impossible."""
    rows = np.arange(1, len(state.position), 2)
    masses = np.array([mode.log_mass for mode in modes])
    chosen = rng.permutation(systematic(masses, float(rng.random()), len(rows)))
    at = np.stack([modes[k].position for k in chosen])
    drawn = np.stack([rng.multivariate_normal(modes[k].position, modes[k].covariance, method="cholesky") for k in chosen])
    near, there = state_at(model, drawn, loop), state_at(model, at, loop)
    possible = np.isfinite(near.log_likelihood + near.log_prior)
    out = {}
    for name in ("position", "log_prior", "log_likelihood"):
        old, a, b = np.array(getattr(state, name)), getattr(near, name), getattr(there, name)
        old[rows] = np.where(possible.reshape(-1, *[1] * (a.ndim - 1)), a, b)
        out[name] = old
    return state._replace(**out)
