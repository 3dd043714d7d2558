"""Bridge sampling: the ratio of two normalising constants from draws of both densities.

With N1 draws of the posterior p = p~/Z and N2 draws of a normalised proposal q, and the log ratios l = log p~ - log q at both sets,
Z is the root c = log Z of (Meng & Wong 1996)

    mean over q's draws of  e^a / (s1 e^a + s2),  a = l2 - c     =     mean over p's draws of  1 / (s1 e^b + s2),  b = l1 - c,

with shares s1 + s2 = 1. Any s1 is valid; s1 = n / (n + N2), with n the effective sample size of the right-hand terms, costs the
least. Both terms are bounded (by 1/s1 and 1/s2), so their variances exist, whatever the tails of p and q. The difference of the two
log means falls monotonically in c (it is the score of a logistic regression, Geyer 1994), so the root is unique.

The common value I of the two means is the *overlap*: the integral of p q / (s1 p + s2 q), one where p = q and zero where they are
disjoint. The relative variance of the root is

    s^2 = Var(left) / (N2 I^2) + Var(right) / (n I^2),

and log(1 + s^2) is taken as the variance of log Z (Micaletto & Vehtari 2025).

*Are these draws of p?* For any function f, s1 E_p[ f s2 q / (s1 p + s2 q) ] = s2 E_q[ f s1 p / (s1 p + s2 q) ], of which f = 1 is the equation
above. With f = l it says that the log odds of a point being a draw of p rise with l by a slope of one (Shirts 2013); draws of another density
that q was fitted to have a slope near zero. With f = 1 in a quarter of the values of l, and zero elsewhere, it says so there. A constant
is taken off f so that the error of c drops out. This needs no gradient, and no further point.

*Two ways.* The proposal is fitted to draws, and fitted draws must not be averaged over. So it is fitted on one half of the chains and
bridged to the other, then the other way round, and the two answers are averaged. To leading order the posterior part of both is the
same number, a product of both halves' deviations from the posterior, so these parts are not independent:

    s^2 = (left_1 + left_2) / 4 + (sqrt(right_1) + sqrt(right_2))^2 / 4.

*When it lies.* Where p's draws are not from all of p: chains that visit a share w of the posterior give log Z + log w. The overlap,
the effective sample sizes and the tail indices show a proposal that fits badly, not a mode without draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from zhat.numerics._checks import FloatArray, finite, log_weight_vector
from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.series import effective_sample_size, effective_sample_sizes
from zhat.numerics.weights import Weights

# Fixed-point steps before the root is bisected, and the size of a last step. The fixed point contracts by a factor of the overlap or
# faster: 200 steps suffice unless the overlap is below a few hundredths.
MOST_STEPS = 200
LAST_STEP = 1e-12
# Two starts end at one root; more than this apart is an error of arithmetic, not of sampling.
SAME_ROOT = 1e-10
# Nats up to which log ratios are taken out of their logs: products of two such numbers can be held.
PLAIN = 300.0


@dataclass(frozen=True)
class OneWay:
    """A bridge from one proposal to the draws of one set of chains.

    Attributes
    ----------
    log_ratio : float
        log Z.
    log_ratio_from_above : float
        The same from the other start of the iteration.
    overlap : float
        The common mean I.
    left, right : float
        Relative variances of the means over proposal draws and over posterior draws, the latter with its autocorrelation.
    ess : float
        Effective sample size of the posterior terms along their chains.
    weight_ess : float
        The smaller of the two sides' effective sample sizes by Kish's formula.
    pareto_k : float
        The larger of the two sides' tail indices.
    largest : float
        How many times the mean a term can be at most, on either side: 1 / (s I).
    odds_z : float
        Standard errors by which the odds of the draws are off those of the densities, in all or in a quarter of the log ratios.
    n_zero : int
        Proposal draws at which the posterior density is zero.
    """

    log_ratio: float
    log_ratio_from_above: float
    overlap: float
    left: float
    right: float
    ess: float
    weight_ess: float
    pareto_k: float
    largest: float
    odds_z: float
    n_zero: int

    @property
    def se(self) -> float:
        """Standard error of the log ratio."""
        return math.sqrt(math.log1p(self.left + self.right))


@dataclass(frozen=True)
class BothWays:
    """The mean of two bridges, each fitted on the draws that the other averages over."""

    first: OneWay
    second: OneWay

    @property
    def log_ratio(self) -> float:
        """Mean of the two."""
        return 0.5 * (self.first.log_ratio + self.second.log_ratio)

    @property
    def se(self) -> float:
        """Standard error of the mean; the posterior parts of the two are taken as fully correlated."""
        left = 0.25 * (self.first.left + self.second.left)
        right = 0.25 * (math.sqrt(self.first.right) + math.sqrt(self.second.right)) ** 2
        return math.sqrt(math.log1p(left + right))

    @property
    def joint_errors_apart(self) -> float:
        """Difference of the two in standard errors; their correlation is left out, so this errs on the small side."""
        gap = abs(self.first.log_ratio - self.second.log_ratio)
        joint = math.hypot(self.first.se, self.second.se)
        return gap / joint if joint > 0.0 else (0.0 if gap <= SAME_ROOT * max(1.0, abs(self.log_ratio)) else math.inf)


def one_way(posterior: ArrayLike, proposal: ArrayLike) -> OneWay:
    """The bridge from log ratios at posterior draws (n_chains, n_draws) and at independent proposal draws (n,)."""
    l1 = np.atleast_2d(finite(posterior, "posterior"))
    l2 = log_weight_vector(proposal, "proposal")
    share = l1.size / (l1.size + l2.size)
    root = bridge_root(l1.ravel(), l2, share)
    ess = min(_ess(_log_right(l1 - root, share)), float(l1.size))
    share = ess / (ess + l2.size)
    root = bridge_root(l1.ravel(), l2, share)
    other = bridge_root(l1.ravel(), l2, share, start=float(np.max(l1)))
    log_left, log_right = _log_left(l2 - root, share), _log_right(l1 - root, share)
    ess = _ess(log_right)
    sides = [Weights.of(log_left), Weights.of(log_right.ravel())]
    left, right = bridge_variances(log_left, log_right, ess)
    log_overlap = log_mean_exp(log_right)
    return OneWay(
        log_ratio=root,
        log_ratio_from_above=other,
        overlap=math.exp(log_overlap),
        left=left,
        right=right,
        ess=ess,
        weight_ess=min(side.ess for side in sides),
        pareto_k=max(float(side.pareto_k) for side in sides),
        largest=math.exp(min(-log_overlap - math.log(min(share, 1.0 - share)), 700.0)),
        odds_z=_odds_z(l1 - root, l2 - root, share),
        n_zero=int(np.count_nonzero(l2 == -np.inf)),
    )


def bridge_root(posterior: ArrayLike, proposal: ArrayLike, share: float, start: float | None = None) -> float:
    """log Z: the root of the two means, by the fixed-point iteration, or by bisection where that is slow.

    Parameters
    ----------
    posterior, proposal : array_like, shape (N1,), (N2,)
        Log ratios; -inf is legal for the proposal's draws only.
    share : float
        s1, between 0 and 1.
    start : float, optional
        Where the iteration starts; by default the median of the first. The root does not depend on it.
    """
    l1, l2 = finite(posterior, "posterior").ravel(), log_weight_vector(proposal, "proposal")
    if not 0.0 < share < 1.0:
        raise ValueError(f"share={share}: the share of posterior draws is between 0 and 1.")
    if not np.isfinite(l2).any():
        raise ValueError(f"proposal: all {l2.size} draws have posterior density zero, so nothing bridges the two densities.")
    # Ratios of a thousand nats would leave no digits for a step of 1e-12.
    shift = float(np.median(l1))
    l1, l2 = l1 - shift, l2 - shift
    c = 0.0 if start is None else start - shift
    plain = _PlainScore.of(l1, l2, share)
    for _ in range(MOST_STEPS):
        step = _score(l1, l2, share, c) if plain is None or abs(c) > PLAIN else plain.at(c)
        c += step
        if abs(step) < LAST_STEP:
            return c + shift
    return _bisected(l1, l2, share) + shift


def bridge_variances(log_left: ArrayLike, log_right: ArrayLike, ess: float) -> tuple[float, float]:
    """Relative variances of the mean over the proposal's terms and of the mean over the posterior's, from their logs."""
    a, b = (log_weight_vector(np.ravel(np.asarray(logs, np.float64)), "terms") for logs in (log_left, log_right))
    # In units of the mean: an overlap of e^-1000 has a relative variance all the same.
    left, right = np.exp(a - log_mean_exp(a)), np.exp(b - log_mean_exp(b))
    return float(left.var(ddof=1) / left.size), float(right.var(ddof=1) / ess)


@dataclass(frozen=True)
class _PlainScore:
    """`_score` from exponentials that were taken once, for log ratios that neither over- nor underflow; a sixth of its time.

    `right` is e^l1 times s1, `left` e^-l2 times s2.
    """

    right: FloatArray
    left: FloatArray
    share: float

    @classmethod
    def of(cls, l1: FloatArray, l2: FloatArray, share: float) -> _PlainScore | None:
        """None where a ratio is too large or too small; -inf is not."""
        if np.abs(l1).max() > PLAIN or np.abs(l2[np.isfinite(l2)]).max() > PLAIN:
            return None
        return cls(share * np.exp(l1), (1.0 - share) * np.exp(-l2), share)

    def at(self, c: float) -> float:
        left = (1.0 / (self.share + math.exp(c) * self.left)).mean()
        right = (1.0 / (math.exp(-c) * self.right + (1.0 - self.share))).mean()
        return math.log(left / right)


def _odds_z(b: FloatArray, a: FloatArray, share: float) -> float:
    """The largest score, in standard errors, of the slope of the log odds and of their level in each quarter of the log ratios.

    `b` (n_chains, n_draws) and `a` are log ratios less c at draws of p and of q.
    """
    possible = np.isfinite(a)
    a = np.where(possible, a, 0.0)
    at_p, at_q = expit(b + logit(share)), np.where(possible, expit(a + logit(share)), 0.0)  # zero where p is
    quarters = np.quantile(np.concatenate([b.ravel(), a[possible]]), [0.25, 0.5, 0.75])
    f_p, f_q = (np.stack([x, *(np.searchsorted(quarters, x) == k for k in range(4))]) for x in (b, a))
    w_p, w_q = share * at_p * (1.0 - at_p) / b.size, (1.0 - share) * at_q * (1.0 - at_q) / a.size
    total = float(w_p.sum() + w_q.sum())
    if not total > 0.0:
        return 0.0
    centre = ((f_p * w_p).sum(axis=(1, 2)) + (f_q * w_q).sum(axis=1)) / total
    terms_p = share * (f_p - centre[:, None, None]) * (1.0 - at_p)
    terms_q = (1.0 - share) * (f_q - centre[:, None]) * at_q
    gap = terms_p.mean(axis=(1, 2)) - terms_q.mean(axis=1)
    sizes = np.minimum(effective_sample_sizes(terms_p), float(b.size))
    variance = terms_p.var(axis=(1, 2)) / sizes + terms_q.var(axis=1) / a.size
    z = np.divide(gap, np.sqrt(variance), out=np.zeros_like(gap), where=np.abs(gap) > SAME_ROOT)
    return float(z[np.argmax(np.abs(z))])


def _score(l1: FloatArray, l2: FloatArray, share: float, c: float) -> float:
    """Difference of the two log means: positive below the root, negative above."""
    return log_mean_exp(_log_left(l2 - c, share)) - log_mean_exp(_log_right(l1 - c, share))


def _log_left(a: FloatArray, share: float) -> FloatArray:
    """Log of e^a / (s1 e^a + s2); -inf where a is."""
    with np.errstate(invalid="ignore"):
        value = a - np.logaddexp(math.log(share) + a, math.log1p(-share))
    return np.asarray(np.where(a == -np.inf, -np.inf, value))


def _log_right(b: FloatArray, share: float) -> FloatArray:
    """Log of 1 / (s1 e^b + s2)."""
    return np.asarray(-np.logaddexp(math.log(share) + b, math.log1p(-share)))


def _bisected(l1: FloatArray, l2: FloatArray, share: float) -> float:
    low, high, reach = -1.0, 1.0, 1.0
    while _score(l1, l2, share, low) < 0.0:
        reach *= 2.0
        low -= reach
    while _score(l1, l2, share, high) > 0.0:
        reach *= 2.0
        high += reach
    while high - low > LAST_STEP * max(1.0, abs(low), abs(high)):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if _score(l1, l2, share, middle) > 0.0 else (low, middle)
    return 0.5 * (low + high)


def _ess(log_terms: FloatArray) -> float:
    return effective_sample_size(np.exp(log_terms - log_terms.max()))
