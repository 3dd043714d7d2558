"""Importance weights: their mean, its standard error, and the tail index that says whether to trust it.

An evidence by importance sampling is the mean of the weights of N draws,

    log Ẑ = log( Σ_i w_i / N ),

and its error by the delta method is the relative error of that mean, sd(w) / (√N mean(w)). Because
the logarithm is concave, log Ẑ is low by about half the squared error on average.

When it lies: the formula uses the variance of the sample. With heavy-tailed weights the draws that
carry the variance may not be in it, so mean and standard error are both too small. The tail index k of
the largest weights shows it: the variance of the mean is finite only for
k < 1/2. With N = 1000 log-normal weights the nominal 95 % interval covers 0.94, 0.86 and 0.65 when
the standard deviation of log w is 1, 2 and 3. No statistic of the weights can see a region that no
draw has entered.

A weight of zero is a draw like any other: it is divided by, and counted in the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import FloatArray, log_weight_vector
from zhat.numerics.logspace import log_sum_exp

# Weights that differ by less than this, relatively, move no reported digit: their differences are
# rounding, and a tail fitted to rounding would be an alarm about nothing.
_EQUAL_WITHIN = 1e-10
_FEWEST_TAIL_POINTS = 5


@dataclass(frozen=True, eq=False)
class Weights:
    """Independent importance weights, in logs, and the number of draws they came from.

    Parameters
    ----------
    log_weights : ndarray, shape (m,)
        Finite or -inf.
    n_drawn : int
        At least m, and at least one. Draws not listed have weight zero.

    Notes
    -----
    Where a quantity cannot be known from what is here, its value is the one that fails every
    threshold: an error, spread or tail index of infinity, an effective sample size of zero, a largest
    share of one.
    """

    log_weights: FloatArray
    n_drawn: int

    def __post_init__(self) -> None:
        """Check the logs once, and freeze them."""
        values = log_weight_vector(self.log_weights).copy()
        values.flags.writeable = False
        object.__setattr__(self, "log_weights", values)
        _check_count(values.size, self.n_drawn)

    @classmethod
    def of(cls, log_weights: ArrayLike, n_drawn: int | None = None) -> Weights:
        """Weights of all draws, or of those among `n_drawn` that are not zero."""
        values = log_weight_vector(log_weights)
        return cls(values, values.size if n_drawn is None else n_drawn)

    @cached_property
    def log_mean(self) -> float:
        """Logarithm of the mean weight over everything drawn: the evidence, if these are its weights."""
        return log_sum_exp(self.log_weights) - math.log(self.n_drawn)

    @cached_property
    def log_mean_se(self) -> float:
        """Standard error of `log_mean` by the delta method, for independent draws.

        Exactly zero when all draws weigh the same; infinite for a single draw or when all are zero.
        """
        if self.n_drawn < 2 or self.n_zero == self.n_drawn:
            return math.inf
        n_missing = self.n_drawn - self.log_weights.size
        mean = float(self._relative.sum()) / self.n_drawn
        squares = float(np.sum((self._relative - mean) ** 2)) + n_missing * mean**2
        return math.sqrt(squares / (self.n_drawn - 1) / self.n_drawn) / mean

    @cached_property
    def ess(self) -> float:
        """Effective sample size (Σw)² / Σw² (Kish 1965); between one and n_drawn, zero if all are zero."""
        if self.n_zero == self.n_drawn:
            return 0.0
        return float(self._relative.sum() ** 2 / np.sum(self._relative**2))

    @cached_property
    def pareto_k(self) -> float:
        """Tail index of the largest weights; see the function of the same name."""
        return pareto_k(self.log_weights, self.n_drawn)

    @cached_property
    def largest_share(self) -> float:
        """Share of the largest weight in the total."""
        if self.n_zero == self.n_drawn:
            return 1.0
        return 1.0 / float(self._relative.sum())

    @cached_property
    def n_zero(self) -> int:
        """Number of draws of weight zero, listed or not."""
        return self.n_drawn - int(np.count_nonzero(np.isfinite(self.log_weights)))

    @cached_property
    def sd_log(self) -> float:
        """Standard deviation of the finite log weights; infinite with fewer than two of them."""
        positive = self.log_weights[np.isfinite(self.log_weights)]
        if positive.size < 2:
            return math.inf
        with np.errstate(over="ignore"):
            return float(np.std(positive - positive.max(), ddof=1))

    def normalised(self) -> FloatArray:
        """Log weights shifted so that the weights sum to one."""
        if self.n_zero == self.n_drawn:
            raise ValueError(
                f"All {self.n_drawn} weights are zero: they cannot be made to sum to one; draw from a "
                "proposal that reaches the target."
            )
        return self.log_weights - log_sum_exp(self.log_weights)

    @cached_property
    def _relative(self) -> FloatArray:
        """Weights divided by the largest; only asked for when one is positive."""
        return np.asarray(np.exp(self.log_weights - self.log_weights.max()), dtype=np.float64)


def pareto_k(log_weights: ArrayLike, n_drawn: int | None = None) -> float:
    """Tail index of importance weights: the shape k of a generalised Pareto law fitted to the largest.

    A law with tail index k has finite moments of order below 1/k. So the mean of the weights exists
    for k < 1, its variance for k < 1/2: demand k < 1/2 before a standard error is believed.

    Of S draws the largest M = min(S/5, 3√S) are fitted above the next one, by the quasi-Bayesian
    estimate of Zhang & Stephens (2009, *Technometrics* 51), shrunk towards 1/2 as if by ten further
    observations, (k M + 5) / (M + 10), as in Pareto smoothed importance sampling (Vehtari, Simpson,
    Gelman, Yao & Gabry 2024, *JMLR* 25).

    When it lies: k is estimated from S draws and cannot exceed what S draws show. A mode that was
    never visited leaves a light tail.

    Parameters
    ----------
    log_weights : array_like, shape (m,)
        Finite or -inf.
    n_drawn : int, optional
        S, where zeros were left out of `log_weights`.

    Returns
    -------
    float
        -inf when the largest weights are all equal: such a tail is bounded. +inf when it cannot be
        estimated: all weights zero, or fewer than five distinct steps above the cut, as with less than
        25 draws. Never NaN.
    """
    values = log_weight_vector(log_weights)
    n_draws = values.size if n_drawn is None else n_drawn
    _check_count(values.size, n_draws)
    positive = values[np.isfinite(values)]
    if positive.size == 0 or n_draws < 2:
        return math.inf
    if positive.size == n_draws and _all_equal(np.array([positive.min(), positive.max()])):
        return -math.inf

    n_tail = math.floor(min(n_draws / 5.0, 3.0 * math.sqrt(n_draws)))
    if n_tail < _FEWEST_TAIL_POINTS:
        return math.inf
    # Only the tail and the cut below it need an order.
    positive = np.sort(np.partition(positive, -n_tail - 1)[-n_tail - 1 :] if positive.size > n_tail else positive)
    tail = np.exp(positive[-n_tail:] - positive[-1])
    cut = math.exp(positive[-n_tail - 1] - positive[-1]) if positive.size > n_tail else 0.0
    if positive.size >= n_tail and _all_equal(positive[-n_tail:]):
        return -math.inf
    # Draws that tie with the cut (repeats of a Markov chain, zeros) do not exceed it.
    excess = tail[tail > cut] - cut
    if excess.size < _FEWEST_TAIL_POINTS:
        return math.inf
    if excess[-1] - excess[0] <= _EQUAL_WITHIN * excess[-1]:
        return -math.inf
    n = int(excess.size)
    return (_pareto_shape(excess / excess[-1]) * n + 5.0) / (n + 10.0)


def efficiency_elsewhere(log_weight: FloatArray, log_target: FloatArray, log_proposal: FloatArray) -> float:
    """The share of effective draws that a proposal q would have, from weights w = p / m of draws from another density m.

    It is (E_m w)^2 / E_m[w p / q], which draws of q alone overstate where q hardly reaches a part of p.
    """
    with np.errstate(invalid="ignore"):
        second = np.where(np.isneginf(log_weight), -np.inf, log_weight + log_target - log_proposal)
    first, second_moment = log_sum_exp(log_weight), log_sum_exp(second)
    if not np.isfinite(first) or not np.isfinite(second_moment):
        return 0.0
    return float(np.exp(2.0 * first - second_moment - np.log(len(log_weight))))


def _pareto_shape(excess: FloatArray) -> float:
    """Zhang & Stephens' estimate of k from sorted positive excesses, the largest of which is one.

    With θ = -k/σ the likelihood profiled over k depends on θ alone, and k(θ) is the mean of
    log(1 - θ x). The posterior mean of θ is taken on a grid of their data-dependent prior.
    """
    n = excess.size
    n_grid = 30 + int(math.sqrt(n))
    # The floor keeps θ finite when most excesses are next to nothing; such a tail is hopeless anyway.
    quartile = max(float(excess[int(n / 4 + 0.5) - 1]), 1e-200)
    steps = np.arange(1, n_grid + 1) - 0.5
    theta = 1.0 + (1.0 - np.sqrt(n_grid / steps)) / (3.0 * quartile)
    theta = theta[theta != 0.0]
    shape = np.mean(np.log1p(-theta[:, None] * excess), axis=1)
    profile = n * (np.log(-theta / shape) - shape - 1.0)
    share = np.exp(profile - profile.max())
    return float(np.mean(np.log1p(-np.sum(theta * share) / share.sum() * excess)))


def _all_equal(ascending: FloatArray) -> bool:
    rounding = 64.0 * np.finfo(np.float64).eps * abs(float(ascending[-1]))
    return bool(ascending[-1] - ascending[0] <= _EQUAL_WITHIN + rounding)


def _check_count(n_listed: int, n_drawn: int) -> None:
    if n_drawn < 1:
        raise ValueError(
            f"n_drawn={n_drawn}: a mean needs at least one draw; give the weights, or say how many draws had weight zero."
        )
    if n_drawn < n_listed:
        raise ValueError(
            f"n_drawn={n_drawn}: {n_listed} weights are listed, and each of them was drawn; n_drawn counts "
            "these and the draws of weight zero."
        )
