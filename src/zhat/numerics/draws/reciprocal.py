"""Reciprocal importance sampling: one over the evidence as a mean over posterior draws.

    1 / Z = E_posterior[ phi / p~ ],     log Z = -log mean(w),   w = phi / p~,

for any normalised density phi (Gelfand & Dey 1994), p~ being prior x likelihood. The variance of w is finite if phi has lighter tails
than the posterior, and smallest, zero, if phi is the posterior.

*Its standard error.* The delta method with the effective sample size of w along the chains. phi is fitted on one half of the chains
and w averaged over the other, both ways, and the two answers are averaged; their correlation is positive and below one half on the
targets where it was measured, so the variance of the mean is taken as (s1^2 + s2^2 + s1 s2) / 4.

A draw outside of phi's support has w = 0: it is divided by, and counted in the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import FloatArray, log_weights
from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.series import effective_sample_size, log_mean_se_correlated
from zhat.numerics.weights import Weights


@dataclass(frozen=True)
class OneHalf:
    """One over the mean of the weights of one half of the chains.

    Attributes
    ----------
    log_ratio, se : float
        log Z and its standard error.
    ess : float
        Effective sample size of the weights along the chains.
    pareto_k : float
        Tail index of the weights.
    inside : float
        Share of draws with a weight above zero.
    """

    log_ratio: float
    se: float
    ess: float
    pareto_k: float
    inside: float


@dataclass(frozen=True)
class BothHalves:
    """The mean of two answers, each with a density fitted to the draws that the other averages over."""

    first: OneHalf
    second: OneHalf

    @property
    def log_ratio(self) -> float:
        """Mean of the two."""
        return 0.5 * (self.first.log_ratio + self.second.log_ratio)

    @property
    def se(self) -> float:
        """Standard error of the mean, for a correlation of one half."""
        s1, s2 = self.first.se, self.second.se
        return 0.5 * math.sqrt(s1 * s1 + s2 * s2 + s1 * s2)

    @property
    def joint_errors_apart(self) -> float:
        """Difference of the two in standard errors; their correlation is left out, so this errs on the small side."""
        gap, joint = abs(self.first.log_ratio - self.second.log_ratio), math.hypot(self.first.se, self.second.se)
        return gap / joint if joint > 0.0 else (0.0 if gap <= 1e-10 * max(1.0, abs(self.log_ratio)) else math.inf)


def one_half(log_weights_by_chain: ArrayLike) -> OneHalf:
    """log Z from log w of shape (n_chains, n_draws); infinite where all weights are zero."""
    values = np.atleast_2d(log_weights(log_weights_by_chain, "log_weights_by_chain"))
    if not np.isfinite(values).any():
        return OneHalf(math.inf, math.inf, 0.0, math.inf, 0.0)
    return OneHalf(
        log_ratio=-log_mean_exp(values),
        se=log_mean_se_correlated(values),
        ess=effective_sample_size(np.exp(values - values.max())),
        pareto_k=float(Weights.of(values.ravel()).pareto_k),
        inside=float(np.isfinite(values).mean()),
    )


def paired_difference(first: ArrayLike, second: ArrayLike) -> tuple[float, float]:
    """Difference of two log means of weights at the same draws (n_chains, n_draws), and its standard error.

    Each draw's influence on the difference is w1 / mean(w1) - w2 / mean(w2); their mean is zero, and its error is that of the
    difference.
    """
    a, b = (np.atleast_2d(log_weights(x, "weights")) for x in (first, second))
    log_a, log_b = log_mean_exp(a), log_mean_exp(b)
    if not (math.isfinite(log_a) and math.isfinite(log_b)):
        return math.nan, math.inf
    influence: FloatArray = np.asarray(np.exp(a - log_a) - np.exp(b - log_b))
    if np.ptp(influence) == 0.0:
        return log_a - log_b, 0.0
    return log_a - log_b, float(influence.std(ddof=1)) / math.sqrt(effective_sample_size(influence))
