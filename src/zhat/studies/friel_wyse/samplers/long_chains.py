"""The long chains of Friel & Wyse (2012): one chain a run, all runs together in one compiled sweep.

A run of the paper is one chain of hundreds of thousands of sweeps, and a table needs eighteen. The
chains are independent, without resampling or tuning. Sweeps are made a few hundred at a time, and the sums that a run needs are
accumulated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from zhat.model.model import Model
from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.quadrature import corrected_trapezoid, trapezoid
from zhat.numerics.weights import Weights
from zhat.results.records import Array
from zhat.sampling.backend.evaluation import prior_draws
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import Kernel, TunedKernel
from zhat.sampling.kernels.sweep import Swept, sweep
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.tempering.lineages import anneal
from zhat.sampling.tempering.path_survey import Plan
from zhat.sampling.tuning import tuning_of
from zhat.seeding import Key

# Sweeps in one compiled call; all calls are of this size, so that one program serves.
AT_ONCE = 250


def untuned(model: Model, kernel: Kernel, beta: float = 1.0, scale: float = 1.0) -> TunedKernel:
    """A kernel without tuning at a beta; the kernel decides how it uses the scale."""
    d = model.n_dimensions
    return TunedKernel(kernel, Tempered(beta), tuning_of(np.zeros(d), np.eye(d), scale))


def sweeps(
    model: Model, moving: TunedKernel, start: State, n_moves: int, rng: np.random.Generator, loop: Loop
) -> Iterator[Swept]:
    """All sweeps of a run, some at a time; the last part may be shorter."""
    state, left = start, n_moves
    while left > 0:
        part = sweep(model, moving, state, AT_ONCE, rng, loop).first(left)
        state = part.last
        left -= AT_ONCE
        loop.tick(f"{n_moves - max(left, 0):,} of {n_moves:,} sweeps")
        yield part


def after(start: State, parts: Iterable[Swept]) -> State:
    """States of the chains after these sweeps, such as a burn-in."""
    state = start
    for part in parts:
        state = part.last
    return state


def harmonic_of(parts: Iterable[Swept]) -> Array:
    """Log of the harmonic mean of the likelihoods of each chain, from the parts of a run."""
    logs, n = [], 0
    for part in parts:
        logs.append(log_mean_exp(-part.states.log_likelihood, axis=0) + np.log(part.n_moves))
        n += part.n_moves
    return np.asarray(-(log_mean_exp(np.stack(logs), axis=0) + np.log(len(logs)) - np.log(n)))


# -- posterior draws: the harmonic mean, and Laplace's formula at the best of them -----------------------------------


@dataclass(frozen=True)
class Posterior:
    """Summaries of long posterior chains: per chain the harmonic mean, and the best draw with its log density."""

    harmonic: Array
    best: Array
    density: Array
    widths: Array
    lowest: float
    highest: float
    acceptance: float


@dataclass(frozen=True)
class Length:
    """How long chains run: sweeps that are thrown away, and sweeps that are kept."""

    n_burn: int
    n_draws: int


def posterior_chains(
    model: Model,
    kernel: Kernel,
    start: State,
    length: Length,
    rng: np.random.Generator,
    loop: Loop,
    log_jacobian: Callable[[Array], Array] | None = None,
) -> Posterior:
    """Run the chains, and compute both estimates from the same draws, as Friel & Wyse (2012) did.

    With `log_jacobian` (of positions) the best draw is that of the density in the parameters, not in the unconstrained vector.
    """
    moving = untuned(model, kernel)
    here = after(start, sweeps(model, moving, start, length.n_burn, rng, loop))
    watch = Watch(len(start.position), model.n_dimensions, log_jacobian)
    harmonic = harmonic_of(watch.seeing(sweeps(model, moving, here, length.n_draws, rng, loop)))
    widths = np.asarray(np.mean(watch.spreads, axis=0))
    accepted = float(np.mean(watch.accepted))
    return Posterior(harmonic, watch.best, watch.density, widths, watch.lowest, watch.highest, accepted)


class Watch:
    """Running summaries over the parts of a run: each chain's best draw, and the range of likelihoods."""

    def __init__(self, n: int, d: int, log_jacobian: Callable[[Array], Array] | None = None) -> None:
        self.log_jacobian = log_jacobian
        self.density, self.best = np.full(n, -np.inf), np.zeros((n, d))
        self.lowest, self.highest = np.inf, -np.inf
        self.spreads: list[Array] = []
        self.accepted: list[float] = []

    def seeing(self, parts: Iterable[Swept]) -> Iterator[Swept]:
        """The same parts, added to the summaries."""
        chains = np.arange(len(self.density))
        for part in parts:
            position, log_prior, log_likelihood = part.states[:3]
            density = log_prior + log_likelihood
            if self.log_jacobian is not None:
                density = density - self.log_jacobian(position)
            at = np.argmax(density, axis=0)
            better = density[at, chains] > self.density
            self.density = np.where(better, density[at, chains], self.density)
            self.best = np.where(better[:, None], position[at, chains], self.best)
            self.lowest = min(self.lowest, float(log_likelihood.min()))
            self.highest = max(self.highest, float(log_likelihood.max()))
            self.spreads.append(position.std(axis=(0, 1)))
            self.accepted.append(part.acceptance.mean)
            yield part


# -- power posteriors -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PowerMeans:
    """Mean and variance of the log likelihood at every rung (K + 1, n), and the integrals of each chain."""

    betas: Array
    means: Array
    variances: Array

    @property
    def plain(self) -> Array:
        """The trapezoid of Friel & Wyse (2012), chain by chain."""
        return np.array([trapezoid(self.betas, mean) for mean in self.means.T])

    @property
    def corrected(self) -> Array:
        """With the second-order correction, on the same draws."""
        pairs = zip(self.means.T, self.variances.T, strict=True)
        return np.array([corrected_trapezoid(self.betas, mean, variance) for mean, variance in pairs])


@dataclass(frozen=True)
class PowerLength:
    """Rungs, chains, sweeps at each rung, and the share of these that is thrown away."""

    betas: Array
    n_chains: int
    n_moves: int
    burn_share: float


def power_chains(model: Model, kernels: Callable[[float], Kernel], length: PowerLength, key: Key, loop: Loop) -> PowerMeans:
    """Chains along the ladder, each rung begun where the last ended. At beta = 0 the draws are those of the prior itself."""
    n, betas = length.n_chains, length.betas
    n_burn = round(length.burn_share * length.n_moves)
    n_kept = length.n_moves - n_burn
    prior = prior_draws(model, n * n_kept, key.child("prior"), loop)
    values = prior.log_likelihood.reshape(n_kept, n)
    means, variances = [values.mean(axis=0)], [values.var(axis=0)]
    here = State.of_draws(prior).take(slice(-n, None))
    for i, beta in enumerate(betas[1:], start=1):
        rng, moving = key.child("rung", i).generator(), untuned(model, kernels(float(beta)), float(beta))
        here = after(here, sweeps(model, moving, here, n_burn, rng, loop))
        kept = []
        for part in sweeps(model, moving, here, n_kept, rng, loop):
            kept.append(part.states.log_likelihood)
            here = part.last
        values = np.concatenate(kept)
        means.append(values.mean(axis=0))
        variances.append(values.var(axis=0))
    return PowerMeans(np.asarray(betas), np.stack(means), np.stack(variances))


# -- annealed importance sampling --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Annealed:
    """Log evidence and its standard error for every run, and how uneven the weights were."""

    log_evidence: Array
    se: Array
    sd_log_weight: float


def annealed_runs(model: Model, plan: Plan, n_runs: int, n_samples: int, key: Key, loop: Loop) -> Annealed:
    """All lineages of all runs together, `n_samples` at a time: lineages are independent, so a run is any `n_samples` of them."""
    start = prior_draws(model, n_runs * n_samples, key.child("prior"), loop)
    run = anneal(model, plan, start, n_samples, key.child("walk"), loop)
    weights = [Weights.of(row) for row in run.log_weights.reshape(n_runs, n_samples)]
    possible = run.log_weights[run.log_weights > -np.inf]
    return Annealed(np.array([w.log_mean for w in weights]), np.array([w.log_mean_se for w in weights]), float(np.std(possible)))
