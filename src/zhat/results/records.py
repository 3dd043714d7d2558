"""What samplers leave for estimators: frozen records of NumPy arrays, and what a run cost.

A sampler writes one of these and knows nothing of evidences; an estimator is a pure function of one and knows
nothing of sampling. So an estimate can be remade with another formula, today or next year, without sampling
again, and its arithmetic can be tested on arrays written by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Draws from one distribution, with what was evaluated there.

    Attributes
    ----------
    position : (n, d) array
        Unconstrained coordinates, in the order of `zhat.model.space.Space`.
    log_prior, log_likelihood : (n,) arrays
        Values at those points; `log_prior` is the density of the *unconstrained* vector (Jacobian included).
    log_weight : (n,) array or None
        Importance weights when the draws do not stand for their distribution by themselves.
    n_drawn : int
        How many were drawn: the denominator of every mean, also when rows were left out.
    chain : (n,) int array or None
        Which chain a row belongs to, rows of a chain in order.
    parameters : dict of arrays
        The same draws as named, constrained parameters (leading axis n).
    """

    position: Array
    log_prior: Array
    log_likelihood: Array
    n_drawn: int
    log_weight: Array | None = None
    chain: NDArray[np.int64] | None = None
    parameters: dict[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class PathRun:
    """A tempered run from the prior (beta = 0) to the posterior (beta = 1).

    Rung k holds draws of the distribution proportional to prior x likelihood^beta_k. All tempering estimators
    read this one record: SMC sums the log-mean increments, stepping stones and power posteriors use the rung's
    log likelihoods, annealed importance sampling needs `resampled` to be False.

    Attributes
    ----------
    betas : (K + 1,) array
        From 0 to 1 (a run that was stopped ends earlier).
    log_likelihood : tuple of K or K + 1 (m_k, n) arrays
        Rung by rung, moves x particles: m_k states of each of the n particles. A population needs no draws at the last beta;
        chains up the ladder have them, and then there are as many rungs as betas.
    ancestors : tuple of K (n,) int arrays
        For each particle of the rung, which particle of rung 0 it descends from.
    n_islands : int
        Particles stand in that many equal blocks, which were resampled separately and tuned each other.
    acceptance, correlation, memory : (K,) arrays
        Mean acceptance of the moves at each rung; the largest correlation left, over coordinates, between where the
        particles started on the rung and where they ended; and that of their log likelihoods (rung 0 is drawn
        exactly: 1, 0 and 0).
    n_moves : (K,) int array
        Moves that all particles made at each rung; short ones of the idle among them are not counted.
    resampled : bool
        Whether particles were resampled between rungs.
    final : Draws
        The last rung's draws, weighted to the last beta.
    settled : bool
        Whether the draws of a rung stand for its distribution by themselves: resampled populations and chains that were
        given time at every rung do; the lineages of annealed importance sampling only with their weights.
    idle : (K,) array, optional
        Share of particles that no move of theirs has taken anywhere for improbably long, shorter moves included.
    """

    betas: Array
    log_likelihood: tuple[Array, ...]
    ancestors: tuple[NDArray[np.int64], ...]
    n_islands: int
    acceptance: Array
    correlation: Array
    memory: Array
    n_moves: NDArray[np.int64]
    resampled: bool
    final: Draws | None
    settled: bool = True
    idle: Array | None = None

    @property
    def complete(self) -> bool:
        """Whether the run reached the posterior."""
        return bool(self.betas[-1] == 1.0)


@dataclass(frozen=True)
class OrdinateRun:
    """What Chib's methods leave: at P points, the logs of what is averaged for the posterior density there.

    Attributes
    ----------
    points : (P, d) array
        Unconstrained coordinates; the first one gives the answer, the others check it.
    log_likelihood, log_prior : (P,) arrays
        Values at the points; `log_prior` is in the coordinates in which the posterior density is estimated (the parameters
        themselves for Chib, the unconstrained vector for Chib & Jeliazkov).
    log_exact : (P,) array
        Log of the factor of the posterior density that needs no average (the last conditional of Chib; zero otherwise).
    log_up : tuple of (P, n_chains, n_draws) arrays
        Entry j was made on run j: the full run is 0, run j has j blocks held at the point.
    log_down : tuple of (P, n_chains, n_draws) arrays
        Divisors; entry j was made on the draws of run j + 1. Empty for Gibbs output.
    final : Draws
        Posterior draws: the full run's chains.
    """

    points: Array
    log_likelihood: Array
    log_prior: Array
    log_exact: Array
    log_up: tuple[Array, ...]
    log_down: tuple[Array, ...]
    final: Draws


@dataclass(frozen=True)
class MeasuredMasses:
    """All evaluated points of a nested run as an importance sample: draws from regions whose prior masses were measured.

    Attributes
    ----------
    log_weight : (N,) array
        Log of likelihood / density of the mixture of all regions, relative to the prior; the mean of the weights is Z.
    stratum : (N,) int array
        The region of each point, 0 for draws from the prior.
    mass_variance : float
        The variance of log Z that comes from the measurement of the masses.
    vanished : float
        Share of the evidence in separate parts of a region that lost all their live points at once.
    draws : Draws or None
        The points themselves, until they become the posterior draws of the run.
    """

    log_weight: Array
    stratum: NDArray[np.int64]
    mass_variance: float
    vanished: float = 0.0
    draws: Draws | None = None


@dataclass(frozen=True)
class NestedRun:
    """A run of nested sampling: points in the order in which they died, the last live ones at the end.

    Attributes
    ----------
    log_likelihood : (n,) array
        Of all points, in order of death, so non-decreasing.
    n_alive : (n,) int array
        How many were alive when each died, itself included; the last live points die without being replaced.
    ancestors : (n,) int array
        From which of the first live points each descends; -1 for one that was drawn from the prior or a region afresh.
    n_live : int
        Live points after each batch of replacements; the last `n_live` rows are the last of them.
    threshold : (B,) array
        The log likelihood that each batch of replacements had to exceed.
    n_survivors, n_dead : (B,) int arrays
        How many live points were above it, and how many were not, and were replaced.
    insertion_rank : (sum of n_dead,) int array
        For each replacement, batch by batch, how many of the survivors lie below it.
    n_moves : (B,) int array
        Moves made by each replacement.
    acceptance, memory, correlation : (B,) arrays
        Moves or points accepted per evaluation; what is left of the start after the moves, of the likelihood's rank and of
        the coordinate that remembers most.
    complete : bool
        Whether the run ended by its own rule.
    final : Draws
        All points with the weights that make them posterior draws; the log of the weights' mean is log Z.
    measured : MeasuredMasses or None
        Where the last new points were drawn from a region of measured prior mass.
    """

    log_likelihood: Array
    n_alive: NDArray[np.int64]
    ancestors: NDArray[np.int64]
    n_live: int
    threshold: Array
    n_survivors: NDArray[np.int64]
    n_dead: NDArray[np.int64]
    insertion_rank: NDArray[np.int64]
    n_moves: NDArray[np.int64]
    acceptance: Array
    memory: Array
    correlation: Array
    complete: bool
    final: Draws | None
    measured: MeasuredMasses | None = None


@dataclass(frozen=True)
class Cost:
    """What a run took. `seconds` is wall time and includes `compile_seconds` (tracing and compiling).

    `seconds_per_likelihood` is what one evaluation took at the first prior draws, many at a time where the model allows; 0 where it was
    not measured.
    """

    n_likelihood: int = 0
    n_gradient: int = 0
    n_hessian: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
    seconds_per_likelihood: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        """Sum of two costs."""
        return Cost(
            self.n_likelihood + other.n_likelihood,
            self.n_gradient + other.n_gradient,
            self.n_hessian + other.n_hessian,
            self.seconds + other.seconds,
            self.compile_seconds + other.compile_seconds,
            self.seconds_per_likelihood or other.seconds_per_likelihood,
        )

    def since(self, before: Cost) -> Cost:
        """What was added to an earlier state of the same count."""
        return Cost(
            self.n_likelihood - before.n_likelihood,
            self.n_gradient - before.n_gradient,
            self.n_hessian - before.n_hessian,
            self.seconds - before.seconds,
            self.compile_seconds - before.compile_seconds,
            self.seconds_per_likelihood,
        )
