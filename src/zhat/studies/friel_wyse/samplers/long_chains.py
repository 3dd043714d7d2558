"""The review's long chains: one chain a run, all runs side by side in the lanes of one compiled sweep.

A run of the review is one chain of hundreds of thousands of sweeps, and a table needs eighteen. A lane is such a chain: it meets
no other, is resampled by nobody and is tuned by nothing. Sweeps go through a few thousand at a time; what a run must remember
is added up on the way.
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
from zhat.sampling.backend.evaluation import log_densities, prior_draws
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import Kernel, State
from zhat.sampling.kernels.tuning import tuning_of
from zhat.sampling.tempering.lineages import walk
from zhat.sampling.tempering.path_survey import untuned_plan
from zhat.sampling.tempering.sweep import Swept, sweep
from zhat.seeding import Key

# Sweeps in one compiled call; all calls are of this size, so that one program serves.
AT_ONCE = 250


@dataclass(frozen=True)
class Lanes:
    """Where n chains stand: (n, d) positions and what is known there."""

    position: Array
    log_prior: Array
    log_likelihood: Array

    @staticmethod
    def at(model: Model, position: Array, loop: Loop) -> Lanes:
        """Chains at these points."""
        return Lanes(position, *log_densities(model, position, loop))

    def after(self, parts: Iterable[Swept]) -> Lanes:
        """Where the chains stand after these sweeps, such as a burn-in."""
        here = self
        for part in parts:
            here = Lanes.end_of(part)
        return here

    @staticmethod
    def end_of(part: Swept) -> Lanes:
        """The last of some sweeps."""
        return Lanes(part.position[-1], part.log_prior[-1], part.log_likelihood[-1])


def sweeps(
    model: Model,
    kernel: Kernel,
    start: Lanes,
    n_moves: int,
    beta: float,
    rng: np.random.Generator,
    loop: Loop,
    scale: float = 1.0,
) -> Iterator[Swept]:
    """All sweeps of a run, some at a time; the last part may be shorter."""
    d = model.n_dimensions
    tuning = tuning_of(np.zeros(d), np.eye(d), scale)
    state = State(start.position, start.log_prior, start.log_likelihood, None)
    left = n_moves
    while left > 0:
        part = sweep(model, kernel, state, AT_ONCE, beta, tuning, rng, loop)
        kept = Swept(part.position[:left], part.log_prior[:left], part.log_likelihood[:left], part.acceptance)
        state = State(kept.position[-1], kept.log_prior[-1], kept.log_likelihood[-1], None)
        left -= AT_ONCE
        loop.tick(f"beta {beta:.3g}  {n_moves - max(left, 0):,} of {n_moves:,} sweeps")
        yield kept


def harmonic_of(parts: Iterable[Swept]) -> Array:
    """Log of the harmonic mean of the likelihoods of each chain, from the parts of a run."""
    logs, n = [], 0
    for part in parts:
        logs.append(log_mean_exp(-part.log_likelihood, axis=0) + np.log(len(part.log_likelihood)))
        n += len(part.log_likelihood)
    return np.asarray(-(log_mean_exp(np.stack(logs), axis=0) + np.log(len(logs)) - np.log(n)))


# -- posterior draws: the harmonic mean, and Laplace's formula at the best of them -----------------------------------


@dataclass(frozen=True)
class Posterior:
    """What long posterior chains leave: per lane the harmonic mean, and the best draw with its log density."""

    harmonic: Array
    best: Array
    density: Array
    widths: Array
    lowest: float
    highest: float
    acceptance: float


def posterior_lanes(
    model: Model,
    kernel: Kernel,
    start: Lanes,
    n_burn: int,
    n_draws: int,
    rng: np.random.Generator,
    loop: Loop,
    log_jacobian: Callable[[Array], Array] | None = None,
) -> Posterior:
    """Run the chains, and read both estimates from the same draws, as the review did.

    With `log_jacobian` (of positions) the best draw is that of the density in the parameters, not in the unconstrained vector.
    """
    here = start.after(sweeps(model, kernel, start, n_burn, 1.0, rng, loop))
    watch = Watch(len(start.position), model.n_dimensions, log_jacobian)
    harmonic = harmonic_of(watch.seeing(sweeps(model, kernel, here, n_draws, 1.0, rng, loop)))
    widths = np.asarray(np.mean(watch.spreads, axis=0))
    accepted = float(np.mean(watch.accepted))
    return Posterior(harmonic, watch.best, watch.density, widths, watch.lowest, watch.highest, accepted)


class Watch:
    """Looks at the parts of a run as they pass: each chain's best draw, and how far likelihoods reach."""

    def __init__(self, n: int, d: int, log_jacobian: Callable[[Array], Array] | None = None) -> None:
        self.log_jacobian = log_jacobian
        self.density, self.best = np.full(n, -np.inf), np.zeros((n, d))
        self.lowest, self.highest = np.inf, -np.inf
        self.spreads: list[Array] = []
        self.accepted: list[float] = []

    def seeing(self, parts: Iterable[Swept]) -> Iterator[Swept]:
        """The same parts, looked at."""
        lanes = np.arange(len(self.density))
        for part in parts:
            density = part.log_prior + part.log_likelihood
            if self.log_jacobian is not None:
                density = density - self.log_jacobian(part.position)
            at = np.argmax(density, axis=0)
            better = density[at, lanes] > self.density
            self.density = np.where(better, density[at, lanes], self.density)
            self.best = np.where(better[:, None], part.position[at, lanes], self.best)
            self.lowest = min(self.lowest, float(part.log_likelihood.min()))
            self.highest = max(self.highest, float(part.log_likelihood.max()))
            self.spreads.append(part.position.std(axis=(0, 1)))
            self.accepted.append(part.acceptance)
            yield part


# -- power posteriors -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ladder:
    """Mean and variance of the log likelihood at every rung (K + 1, n), and the integrals of each lane."""

    betas: Array
    means: Array
    variances: Array

    @property
    def plain(self) -> Array:
        """The review's trapezoid, lane by lane."""
        return np.array([trapezoid(self.betas, lane) for lane in self.means.T])

    @property
    def corrected(self) -> Array:
        """With the second-order correction, on the same draws."""
        pairs = zip(self.means.T, self.variances.T, strict=True)
        return np.array([corrected_trapezoid(self.betas, mean, variance) for mean, variance in pairs])


def power_lanes(
    model: Model,
    kernels: Callable[[float], Kernel],
    betas: Array,
    n_lanes: int,
    n_moves: int,
    burn_share: float,
    key: Key,
    loop: Loop,
) -> Ladder:
    """One chain a lane up the ladder, each rung begun where the last ended; `burn_share` of a rung's sweeps is thrown away.

    At beta = 0 the draws are those of the prior itself.
    """
    n_burn = round(burn_share * n_moves)
    n_kept = n_moves - n_burn
    prior = prior_draws(model, n_lanes * n_kept, key.child("prior"), loop)
    values = prior.log_likelihood.reshape(n_kept, n_lanes)
    means, variances = [values.mean(axis=0)], [values.var(axis=0)]
    here = Lanes(prior.position[-n_lanes:], prior.log_prior[-n_lanes:], prior.log_likelihood[-n_lanes:])
    for i, beta in enumerate(betas[1:], start=1):
        rng, kernel = key.child("rung", i).generator(), kernels(float(beta))
        here = here.after(sweeps(model, kernel, here, n_burn, float(beta), rng, loop))
        kept = []
        for part in sweeps(model, kernel, here, n_kept, float(beta), rng, loop):
            kept.append(part.log_likelihood)
            here = Lanes.end_of(part)
        values = np.concatenate(kept)
        means.append(values.mean(axis=0))
        variances.append(values.var(axis=0))
    return Ladder(np.asarray(betas), np.stack(means), np.stack(variances))


# -- annealed importance sampling --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Annealed:
    """Log evidence and its own error for every run, and how uneven the weights were."""

    log_evidence: Array
    se: Array
    sd_log_weight: float


def annealed_runs(
    model: Model, kernel: Kernel, betas: Array, n_runs: int, n_samples: int, n_sweeps: int, key: Key, loop: Loop
) -> Annealed:
    """All lineages of all runs together, `n_samples` at a time: lineages never meet, so a run is any `n_samples` of them."""
    start = prior_draws(model, n_runs * n_samples, key.child("prior"), loop)
    run = walk(model, untuned_plan(betas, kernel, n_sweeps), start, n_samples, key.child("walk"), loop)
    weights = [Weights.of(row) for row in run.log_weights.reshape(n_runs, n_samples)]
    possible = run.log_weights[run.log_weights > -np.inf]
    return Annealed(np.array([w.log_mean for w in weights]), np.array([w.log_mean_se for w in weights]), float(np.std(possible)))
