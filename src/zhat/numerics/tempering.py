"""From log likelihoods at the rungs of a ladder to the log evidence: sums, and what each draw contributes to their error.

Rung k holds draws x = log L of the distribution proportional to prior x likelihood^beta_k. Several sums of functions of
these draws estimate the same log Z:

    thermodynamic    sum_k a_k mean(x_k) - sum_k c_k var(x_k)           a, c: a quadrature rule on E_beta[log L]
    forward stones   sum_k log mean_k(L^(b_{k+1} - b_k))                 Xie, Lewis, Fan, Kuo & Chen 2011
    reverse stones   -sum_k log mean_{k+1}(L^-(b_{k+1} - b_k))
    bridged stones   sum_k of the optimal bridge between rungs k and k+1   Bennett 1976; Meng & Wong 1996

The last three are exact for any ladder as the draws grow in number; the first has a discretisation error too. Each function
gives the estimate and, for every draw, its *influence*: to first order the error of the estimate is the sum over rungs of the
mean influence. So one rule gives the standard error of all of them, and of their differences, from how the draws came about:

- islands that never met (`independent_islands_se`): the sums of influences over each island are independent;
- a population that was resampled: rungs are correlated as far as the moves have not mixed (`carried_se`), and share ancestors
  (`genealogical_se`, which includes modes between which no move goes);
- few chains (`within_rungs_se`): autocorrelation within each rung, rungs taken as independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from zhat.numerics._checks import FloatArray, IntArray
from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.quadrature import corrected_trapezoid, trapezoid, trapezoid_weights
from zhat.numerics.rootfind import find_root
from zhat.numerics.series import effective_sample_size

Rungs = Sequence[FloatArray]  # one (m, n) array a rung: m states of each of n chains or particles


class Sum(NamedTuple):
    """An estimate, and the influence of every draw on it, rung by rung."""

    value: float
    influence: tuple[FloatArray, ...]

    def minus(self, other: Sum) -> Sum:
        """The difference of two estimates from the same draws."""
        pairs = zip(self.influence, other.influence, strict=True)
        return Sum(self.value - other.value, tuple(a - b for a, b in pairs))

    def plus(self, other: Sum) -> Sum:
        """The sum of two estimates from the same draws."""
        pairs = zip(self.influence, other.influence, strict=True)
        return Sum(self.value + other.value, tuple(a + b for a, b in pairs))


def thermodynamic(betas: ArrayLike, rungs: Rungs, corrected: bool) -> Sum:
    """The trapezoid rule over the rungs' mean log likelihoods, with the second-order correction or without.

    One rung for every beta; the rules themselves are those of `numerics.quadrature`.
    """
    steps = np.diff(np.asarray(betas, np.float64))
    means = np.array([rung.mean() for rung in rungs])
    variances = np.array([rung.var() for rung in rungs])
    c = np.zeros(len(rungs))
    value = trapezoid(betas, means)
    if corrected:
        value = corrected_trapezoid(betas, means, variances)
        c = (np.append(0.0, steps**2) - np.append(steps**2, 0.0)) / 12.0
    influence = []
    for k, a in enumerate(trapezoid_weights(betas)):
        off = rungs[k] - means[k]
        influence.append(a * off - c[k] * (off * off - variances[k]))
    return Sum(value, tuple(influence))


def forward_stones(betas: ArrayLike, rungs: Rungs) -> Sum:
    """Each rung reweighted to the next; the last of `rungs` is not used when it stands at the last beta."""
    return _stones(np.asarray(betas, np.float64), rungs, forward=True)


def reverse_stones(betas: ArrayLike, rungs: Rungs) -> Sum:
    """Each rung reweighted to the one before; one rung for every beta, and no zero likelihoods after the first."""
    return _stones(np.asarray(betas, np.float64), rungs, forward=False)


def bridged_stones(betas: ArrayLike, rungs: Rungs) -> Sum:
    """The optimal bridge between neighbours; one rung for every beta.

    The log ratio l of an interval solves  sum_k s(x d - l + c) = sum_{k+1} s(-(x d - l + c)),  s the logistic function,
    c = log(n_{k+1} / n_k): monotone in l, so a bracket finds it (Bennett 1976).
    """
    ladder = np.asarray(betas, np.float64)
    shift = _top(rungs)
    value = (ladder[-1] - ladder[0]) * shift
    influence = [np.zeros(rung.shape) for rung in rungs]
    for k, step in enumerate(np.diff(ladder)):
        low, high = _times(step, rungs[k] - shift), _times(step, rungs[k + 1] - shift)
        log_ratio, up, down = _bridge(low, high)
        share = high.size / (low.size + high.size)
        slope = (1.0 - share) * np.mean(up * (1.0 - up)) + share * np.mean(down * (1.0 - down))
        influence[k] = influence[k] + (1.0 - share) * (up - up.mean()) / slope
        influence[k + 1] = influence[k + 1] - share * (down - down.mean()) / slope
        value += log_ratio
    return Sum(float(value), tuple(influence))


def with_stones_at_ends(betas: ArrayLike, rungs: Rungs, inner: Callable[[FloatArray, Rungs], Sum], n_first: int) -> Sum:
    """`inner` over the rungs that are there; what it cannot or should not do at the ends by forward stones.

    The first `n_first` steps: near the prior the log likelihood's mean may be enormous, and is infinite where the likelihood can
    be zero, while a stone needs neither. The last step: when there are no draws at the last beta.
    """
    ladder, n = np.asarray(betas, np.float64), len(rungs)
    start = min(n_first, n)
    none = tuple(np.zeros(rung.shape) for rung in rungs)
    total = Sum(0.0, none)
    if start:
        stone = forward_stones(ladder[: start + 1], rungs[:start])
        total = total.plus(Sum(stone.value, stone.influence + none[start:]))
    if n - start > 1:
        middle = inner(ladder[start:n], rungs[start:])
        total = total.plus(Sum(middle.value, none[:start] + middle.influence))
    if len(ladder) > n and n > start:
        stone = forward_stones(ladder[n - 1 :], rungs[-1:])
        total = total.plus(Sum(stone.value, none[:-1] + stone.influence))
    return total


def _bridge(low: FloatArray, high: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """The log ratio of two neighbours from log weights at both, and the logistic terms of each at the solution."""
    share = high.size / (low.size + high.size)
    offset = math.log(share / (1.0 - share))

    def surplus(log_ratio: float) -> float:
        up = (1.0 - share) * float(np.mean(expit(low - log_ratio + offset)))
        return up - share * float(np.mean(expit(log_ratio - high - offset)))

    # The forward and the reverse mean usually enclose the bridge.
    edges = (log_mean_exp(low.ravel()), -log_mean_exp(-high.ravel()))
    left, right = min(edges) - 0.1, max(edges) + 0.1
    while surplus(left) < 0.0:
        left -= 2.0 * (right - left)
    while surplus(right) > 0.0:
        right += 2.0 * (right - left)
    log_ratio = find_root(surplus, left, right, 1e-13 * max(1.0, abs(left), abs(right)), 200)
    return log_ratio, expit(low - log_ratio + offset), expit(log_ratio - high - offset)


def _top(rungs: Rungs) -> float:
    """The largest log likelihood: sums are made relative to it, so that a constant in the likelihood costs no digits."""
    return float(max(rung.max() for rung in rungs))


def _stones(ladder: FloatArray, rungs: Rungs, forward: bool) -> Sum:
    shift = _top(rungs)
    value = (ladder[-1] - ladder[0]) * shift
    influence = [np.zeros(rung.shape) for rung in rungs]
    for k, step in enumerate(np.diff(ladder)):
        rung, sign = (k, 1.0) if forward else (k + 1, -1.0)
        log_weights = sign * _times(step, rungs[rung] - shift)
        log_mean = log_mean_exp(log_weights.ravel())
        value += sign * log_mean
        influence[rung] = sign * (np.exp(log_weights - log_mean) - 1.0)
    return Sum(float(value), tuple(influence))


def _times(step: float, log_likelihood: FloatArray) -> FloatArray:
    """Log weights L^step; zero likelihood weighs nothing for every step."""
    return np.where(log_likelihood == -np.inf, -np.inf, step * log_likelihood)


def discretisation_error(betas: ArrayLike, rungs: Rungs, corrected: bool) -> float:
    """About how far the quadrature over these rungs is from the integral, were the rungs' means exact.

    Of the plain trapezoid: what the correction changes. Of the corrected rule, whose error falls with the fourth power of the
    steps: a fifteenth of what changes when every other rung is left out.
    """
    full = thermodynamic(betas, rungs, corrected=True).value
    if not corrected:
        return abs(thermodynamic(betas, rungs, corrected=False).value - full)
    ladder = np.asarray(betas, np.float64)
    if len(ladder) < 3:  # nothing to leave out: the correction itself is the measure
        return abs(thermodynamic(betas, rungs, corrected=False).value - full)
    every_other = [*range(0, len(ladder) - 1, 2), len(ladder) - 1]
    half = thermodynamic(ladder[every_other], [rungs[k] for k in every_other], corrected=True).value
    return abs(half - full) / 15.0


def steps_of_steep_variance(rungs: Rungs, factor: float) -> int:
    """How many steps from the prior on to leave to stones: those over which the variance falls by more than `factor`, or is
    not a number, without a gap.
    """
    steep = 0
    for low, high in pairwise(rungs):
        with np.errstate(invalid="ignore", over="ignore"):
            if low.var() <= factor * high.var():
                break
        steep += 1
    return steep


def steps_corrected_too_far(betas: ArrayLike, rungs: Rungs) -> int:
    """How many steps from the prior on to leave to stones: up to the last whose second-order correction is impossible.

    E_beta[log L] never falls, so a step's integral lies between those of its two means, and a correction of the trapezoid of more
    than half of what is between them is none: the curve bends too much within the step. (Three errors of the means are granted.)
    """
    steps, last = np.diff(np.asarray(betas, np.float64)), 0
    for k, (low, high) in enumerate(pairwise(rungs)):
        with np.errstate(invalid="ignore", over="ignore"):
            noise = 3.0 * math.sqrt(low.var() / low.size + high.var() / high.size)
            allowed = 0.5 * abs(high.mean() - low.mean()) + noise
            if not steps[k] * abs(high.var() - low.var()) / 12.0 <= allowed:
                last = k + 1
    return last


def steps_of_zero_likelihood(rungs: Rungs) -> int:
    """How many steps from the prior on to leave to stones because some draw there has likelihood zero: its logarithm has no mean.

    Never the last rung's own, as a stone from there leads nowhere.
    """
    possible = [bool(np.isfinite(rung).all()) for rung in rungs]
    return min(len(possible) - possible[::-1].index(False) if False in possible else 0, len(rungs) - 1)


def identity_z(betas: ArrayLike, rungs: Rungs) -> FloatArray:
    """How badly each interval breaks dE/dbeta = Var, in Monte Carlo errors of independent columns.

    The slope of the means between two rungs is the average of the variance in between, and so lies between the variances at the
    ends where that is monotone. Zero inside; outside, the distance to the nearer end over its error, found from the columns.
    """
    ladder = np.asarray(betas, np.float64)
    out = []
    for k, step in enumerate(np.diff(ladder)):
        left, right = rungs[k] - rungs[k].mean(), rungs[k + 1] - rungs[k + 1].mean()
        slope = (rungs[k + 1].mean() - rungs[k].mean()) / step
        ends = (left.var(), right.var())
        nearest = int(np.argmin([abs(slope - end) for end in ends]))
        if min(ends) <= slope <= max(ends):
            out.append(0.0)
            continue
        off = (left, right)[nearest]
        squares = (off * off - ends[nearest]).mean(axis=0)
        columns = (right.mean(axis=0) - left.mean(axis=0)) / step - squares
        error = float(columns.std(ddof=1) / math.sqrt(columns.size)) if columns.size > 1 else math.inf
        out.append((slope - ends[nearest]) / error if error > 0.0 else 0.0)
    return np.asarray(out)


# -- errors ------------------------------------------------------------------------------------------------------


def independent_islands_se(influence: Rungs, n_islands: int) -> tuple[float, float]:
    """Error and its degrees of freedom, for equal blocks of columns that have never met: the scatter of the blocks' sums."""
    islands = np.sum([rung.mean(axis=0).reshape(n_islands, -1).mean(axis=1) for rung in influence], axis=0)
    return float(islands.std(ddof=1) / math.sqrt(n_islands)), float(n_islands - 1)


def genealogical_se(influence: Rungs, ancestors: Sequence[IntArray]) -> float:
    """Error from what the descendants of each first particle say together (Chan & Lai 2013; Olsson & Douc 2019)."""
    total = np.zeros(influence[0].shape[1])
    for rung, own in zip(influence, ancestors, strict=True):
        total += np.bincount(own, weights=rung.mean(axis=0) / rung.shape[1], minlength=total.size)
    return float(np.sqrt(np.sum(total**2)))


def carried_se(influence: Rungs, memory: ArrayLike) -> float:
    """Error for rungs whose draws are correlated by `memory[k]` with those of the rung before: see `carried_error`."""
    spread = []
    for rung in influence:
        columns = rung.mean(axis=0)
        spread.append(float(columns.std(ddof=1) / math.sqrt(columns.size)) if columns.size > 1 else 0.0)
    return carried_error(spread, memory)


def carried_error(spread: Sequence[float], memory: ArrayLike) -> float:
    """The error of a sum whose terms have errors s_k, the k-th correlated by its memory r_k with the one before:

    se^2 = sum_k s_k^2 + 2 sum_{j<k} s_j s_k r_{j+1} ... r_k.
    """
    known = np.asarray(memory, np.float64)
    variance, carried = spread[0] ** 2, 0.0
    for k in range(1, len(spread)):
        carried = (carried + spread[k - 1]) * (known[k] if k < known.size else 1.0)
        variance += spread[k] ** 2 + 2.0 * spread[k] * carried
    return math.sqrt(max(variance, 0.0))


def within_rungs_se(influence: Rungs) -> float:
    """Error for few chains: each rung's variance over its effective number of draws, rungs taken as independent."""
    variance = 0.0
    for rung in influence:
        spread = float(rung.var())
        if spread > 0.0:
            variance += spread / max(effective_sample_size(rung.T), 1.0)
    return math.sqrt(variance)
