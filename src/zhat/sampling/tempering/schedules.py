"""The path from prior to posterior, and the schedules that choose its rungs.

    p_beta(theta)  proportional to  prior(theta) x likelihood(theta)^beta,      beta from 0 to 1.

A rung is one inverse temperature beta. It is an ordinary argument of compiled code, so a new rung compiles nothing. A schedule is
a small frozen object that chooses the next beta.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np

from zhat.errors import BadInput
from zhat.kinds import checked_kinds
from zhat.numerics.rootfind import find_root
from zhat.results.records import Array

# The first rung of a path whose likelihood is zero on part of the prior: small enough to change no finite
# likelihood of practice, large enough that a point of zero likelihood (-inf, or -1e100 used for it) has weight zero.
ON_SUPPORT = 1e-50
# Tolerance on the share of the effective sample size, which need not be met exactly.
NEAR_ENOUGH = 0.005
# Steps of a fixed-point iteration from the variance of the weights, before a bracketing search.
QUICK_STEPS = 3


class Schedule(Protocol):
    """Chooses the next rung from the log likelihoods of the draws at the present one."""

    def next_beta(self, log_likelihood: Array, beta: float) -> float:
        """The next beta, at most 1."""
        ...


@dataclass(frozen=True)
@checked_kinds
class AdaptiveESS:
    """The next beta is that at which the effective sample size of the weights is this share of the draws.

    The effective sample size (sum w)^2 / sum w^2 of w = L^(beta' - beta) falls from all draws to few as beta' grows,
    so a bracketing search finds the step (Jasra et al. 2011, Schaefer & Chopin 2013).
    """

    fraction: float = 0.5

    def __post_init__(self) -> None:
        """Check the share."""
        if not 0.0 < self.fraction < 1.0:
            raise BadInput(f"AdaptiveESS(fraction={self.fraction}): give a share between 0 and 1, for example 0.5.")

    def next_beta(self, log_likelihood: Array, beta: float) -> float:
        """See `Schedule`."""
        shifted = log_likelihood - log_likelihood.max()

        @cache  # the ends of the bracket are evaluated repeatedly, each time by a sum over all particles
        def surplus(log_step: float) -> float:
            return _ess_share(shifted, np.exp(log_step)) - self.fraction

        # On the log scale, since the first steps of a sharp likelihood are many orders of magnitude below one. Near the answer
        # ESS share = 1 / (1 + step^2 variance), from which each trial step gives the next.
        high = float(np.log1p(-beta))
        if beta == 0.0 and (surplus(high) >= 0.0 or surplus(np.log(ON_SUPPORT)) < 0.0):
            return 1.0 if surplus(high) >= 0.0 else ON_SUPPORT
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            spread = float(np.std(shifted[shifted > -np.inf]))
            guess = float(np.log(np.sqrt(1.0 / self.fraction - 1.0) / spread))
        log_step = guess
        for _ in range(QUICK_STEPS):
            if not np.log(ON_SUPPORT) < log_step < high:
                break
            share = surplus(log_step) + self.fraction
            if abs(share - self.fraction) <= NEAR_ENOUGH:
                return _above(beta, beta + np.exp(log_step))
            if share == 1.0:
                break
            log_step += 0.5 * float(np.log((1.0 / self.fraction - 1.0) / (1.0 / share - 1.0)))
        # Evaluated last: the ESS falls with the step, so where a shorter step was near enough this one is too long.
        if surplus(high) >= 0.0:
            return 1.0
        low = max(min(guess - 0.7 if np.isfinite(guess) else high - 1.0, high - 0.1), float(np.log(ON_SUPPORT)))
        if np.isfinite(guess) and low < guess + 1.4 < high and surplus(guess + 1.4) < 0.0:
            high = guess + 1.4
        while surplus(low) < 0.0 and low > np.log(ON_SUPPORT):
            low = max(low - 20.0, float(np.log(ON_SUPPORT)))
        if surplus(low) < 0.0:  # no step keeps enough: take the smallest; the verdict on the weights shows it
            return _above(beta, beta + np.exp(low))
        log_step = find_root(surplus, low, high, 1e-3, 60, value_tolerance=NEAR_ENOUGH)
        return _above(beta, beta + np.exp(log_step))


@dataclass(frozen=True)
@checked_kinds
class PowerLadder:
    """beta_i = (i / n_rungs)^power for i = 0 ... n_rungs (Friel & Pettitt 2008), as in Friel & Wyse (2012)."""

    n_rungs: int = 40
    power: float = 5.0

    def __post_init__(self) -> None:
        """Check both numbers."""
        if self.n_rungs < 1 or self.power <= 0:
            raise BadInput(f"PowerLadder({self.n_rungs}, {self.power}): needs at least one rung and a positive power.")

    @property
    def betas(self) -> tuple[float, ...]:
        """All rungs, from 0 to 1."""
        # Without duplicates, which a high power of a small number may give.
        return tuple(np.unique((np.arange(self.n_rungs + 1) / self.n_rungs) ** self.power).tolist())

    def next_beta(self, log_likelihood: Array, beta: float) -> float:
        """See `Schedule`."""
        return min((b for b in self.betas if b > beta), default=1.0)


@dataclass(frozen=True)
class FixedLadder:
    """Rungs given one by one, from 0 to 1."""

    betas: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse a ladder that is not one."""
        from zhat.numerics.quadrature import check_ladder

        try:
            check_ladder(np.asarray(self.betas, np.float64))
        except (ValueError, TypeError) as error:
            raise BadInput(f"FixedLadder: {error}") from error

    def next_beta(self, log_likelihood: Array, beta: float) -> float:
        """See `Schedule`."""
        return min(b for b in self.betas if b > beta)


def rungs_in_all(betas: Sequence[float]) -> int | None:
    """The approximate final number of rungs of a ladder that has these so far; None while it cannot be predicted.

    Adaptive ladders rise by a nearly constant factor after the first rungs; the remaining rungs are predicted with the last
    factor.
    """
    if len(betas) < 4 or not betas[-1] > betas[-2] > 0.0:
        return None
    left = math.log(1.0 / betas[-1]) / math.log(betas[-1] / betas[-2])
    return len(betas) - 1 + math.ceil(left)


def progress_of(betas: Sequence[float]) -> tuple[str, float | None]:
    """``rung 7 of ~14  beta 0.03`` and the share of the ladder that is done."""
    done, in_all = len(betas) - 1, rungs_in_all(betas)
    if in_all is None:
        return f"rung {done}  beta {betas[-1]:.3g}", None
    return f"rung {done} of ~{in_all}  beta {betas[-1]:.3g}", done / in_all


def _above(beta: float, proposed: float) -> float:
    """The proposed rung, at most 1 and at least the next number above the present one."""
    return float(min(1.0, max(proposed, np.nextafter(beta, 2.0))))


def _ess_share(shifted: Array, step: float) -> float:
    """Effective share of the draws under weights exp(step x shifted), shifted <= 0."""
    with np.errstate(invalid="ignore"):
        weights = np.exp(step * shifted)
    total = weights.sum()
    return float(total * total / (weights @ weights) / weights.size)
