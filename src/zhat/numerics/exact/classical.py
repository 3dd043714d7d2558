"""Bayes factors of classical tests with the default priors of the field: t, correlation, contingency table, proportion.

Every function returns the log Bayes factor of the alternative against the null hypothesis, with its numerical error. One-sided
alternatives have the same prior, cut to one side and doubled.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaln, gammaln, log_expit

from zhat.numerics._checks import FloatArray
from zhat.numerics.exact.g_priors import log_bf_one_g
from zhat.numerics.exact.integrals import ROUNDING, Integral, log_integral

# Of the logarithm of an effect size, of log-odds and of arctanh(rho): nothing that data could show lies beyond.
REACH = 40.0
# Points of an inner trapezoid rule, in standard deviations around its peak: twelve above, thirty below, where it falls more slowly.
STEP = 0.15
STEPS = STEP * np.arange(-200, 81)


def t_test(t: float, n: float, df: float, scale: float, side: int = 0) -> Integral:
    """JZS t test (Rouder et al. 2009): effect size ~ Cauchy(0, scale); `n` is the sample size, or n1 n2 / (n1 + n2) for two samples.

    `side` is 1 for positive effects alone, -1 for negative ones, 0 for both. For both sides g is integrated, as in a regression with one
    column; a side needs the effect size itself (`_t_one_side`).
    """
    if side == 0:
        # A regression with df + 1 rows and one column: R squared = t^2 / (t^2 + df), and the prior variance in units of n.
        r2 = t * t / (t * t + df)
        return log_bf_one_g(n, df + 1.0, 1, r2, scale) if math.isfinite(t) else Integral(math.inf, 0.0)
    return _t_one_side(side * t, n, df, scale)


def _t_one_side(t: float, n: float, df: float, scale: float) -> Integral:
    """Effects above zero: a half Cauchy prior, and the ratio of noncentral to central t densities.

    That ratio is exp(-n delta^2 / 2) E[exp(b w)] with b = delta sqrt(n) t / sqrt(df + t^2) and w^2 ~ chi-squared with df + 1 degrees of
    freedom. The mean is an integral over v = log w with one peak, at w = (b + sqrt(b^2 + 4 (df + 1))) / 2, which a trapezoid rule around
    the peak gives to rounding.
    """
    slope = t / math.sqrt(df + t * t) * math.sqrt(n)
    constant = math.log(2.0) - 0.5 * (df + 1.0) * math.log(2.0) - float(gammaln(0.5 * (df + 1.0)))
    prior = math.log(2.0 / math.pi) - math.log(scale)

    def log_integrand(s: FloatArray) -> FloatArray:
        delta = np.exp(s)
        b = delta * slope
        # For b < 0 the root is written without a difference of large numbers.
        root = np.sqrt(b * b + 4.0 * (df + 1.0))
        w = np.where(b >= 0.0, 0.5 * (b + root), 2.0 * (df + 1.0) / (root - b))
        width = 1.0 / np.sqrt(2.0 * w * w - b * w)
        v = np.log(w)[:, None] + width[:, None] * STEPS
        inner = (df + 1.0) * v + b[:, None] * np.exp(v) - 0.5 * np.exp(2.0 * v)
        mean = _log_sum_rows(inner) + np.log(width) + math.log(STEP)
        return mean + constant - 0.5 * n * delta * delta + prior - np.log1p((delta / scale) ** 2) + s

    return log_integral(log_integrand, -REACH, math.log(1e3 + 4.0 * abs(t) / math.sqrt(n)))


def correlation(r: float, n: int, kappa: float, side: int = 0) -> Integral:
    """Ly, Verhagen & Wagenmakers (2016): rho ~ beta(1/kappa, 1/kappa) stretched to (-1, 1).

    With the reference priors of means and variances the likelihood of rho is (1 - rho^2)^((n-1)/2) times the integral of
    (cosh x - rho r)^-(n-1) over x, relative to that of rho = 0.
    """
    a = 1.0 / kappa
    prior = -float(betaln(a, a)) + (1.0 - 2.0 * a) * math.log(2.0)

    def log_integrand(z: FloatArray) -> FloatArray:
        rho = np.tanh(z)
        left = -2.0 * (np.logaddexp(z, -z) - math.log(2.0))  # log(1 - rho^2), without cancellation
        return 0.5 * (n - 1) * left + _log_inner(rho * r, n) + prior + a * left

    null = float(_log_inner(np.zeros(1), n)[0])
    if side == 0:
        return log_integral(log_integrand, -REACH, REACH).plus(-null)
    found = log_integral(lambda s: log_integrand(side * np.exp(s)) + s, -REACH, math.log(REACH))
    return found.plus(math.log(2.0) - null)


def _log_inner(c: FloatArray, n: int) -> FloatArray:
    """Log of the integral of (cosh x - c)^-(n-1) over x, up to where it has fallen by 40 nats."""
    end = np.arccosh(1.0 + (1.0 - c) * np.expm1(40.0 / (n - 1)))
    x = end[:, None] * np.linspace(-1.0, 1.0, 801)
    # cosh x - c = 2 sinh(x/2)^2 + (1 - c)
    values = -(n - 1) * np.log(2.0 * np.sinh(0.5 * x) ** 2 + (1.0 - c)[:, None])
    return np.asarray(_log_sum_rows(values) + np.log(end / 400.0))


def proportion_logistic(successes: int, trials: int, null: float, scale: float, side: int = 0) -> Integral:
    """Log odds ~ logistic around those of the null value, as R's BayesFactor has it."""
    centre = math.log(null / (1.0 - null))
    failures = trials - successes
    at_null = successes * math.log(null) + failures * math.log1p(-null)

    def log_integrand(eta: FloatArray) -> FloatArray:
        z = (eta - centre) / scale
        prior = log_expit(z) + log_expit(-z) - math.log(scale)
        return np.asarray(prior + successes * log_expit(eta) + failures * log_expit(-eta) - at_null)

    if side == 0:
        return log_integral(log_integrand, centre - 60.0 * scale - REACH, centre + 60.0 * scale + REACH)
    # One side, over the logarithm of the distance from the null.
    found = log_integral(lambda s: log_integrand(centre + side * np.exp(s)) + s, -REACH, math.log(60.0 * scale + REACH))
    return found.plus(math.log(2.0))


def proportion_beta(successes: int, trials: int, null: float, a: float, b: float) -> Integral:
    """A beta(a, b) prior of the proportion: a ratio of beta functions."""
    failures = trials - successes
    value = betaln(a + successes, b + failures) - betaln(a, b) - successes * math.log(null) - failures * math.log1p(-null)
    return Integral.closed_form(float(value))


# -- contingency tables: Gunel & Dickey (1974), in the form of Jamil et al. (2017) ---------------------------------------------


def table_joint(y: FloatArray, a: float) -> Integral:
    """Only the grand total is fixed: one multinomial over all cells."""
    rows, columns = _independent(y, a)
    return Integral.closed_form(_dirichlet(y.ravel(), a) - rows - columns)


def table_independent(y: FloatArray, a: float) -> Integral:
    """The totals of the rows are fixed: one multinomial a row."""
    _, columns = _independent(y, a)
    within = sum(_dirichlet(row, a) for row in y)
    return Integral.closed_form(within - columns)


def table_poisson(y: FloatArray, a: float) -> Integral:
    """Nothing is fixed: every cell is a Poisson count, with gamma priors whose rate is that of the table's mean."""
    r, c = y.shape
    n, cells = float(y.sum()), a * y.size
    lost = (r - 1) * (c - 1)
    rate = a * y.size / n
    totals = gammaln(cells) - gammaln(cells - lost) + gammaln(n + cells - lost) - gammaln(n + cells)
    rows, columns = _independent(y, a)
    null = float(totals) + lost * math.log1p(1.0 / rate) + rows + columns
    return Integral.closed_form(_dirichlet(y.ravel(), a) - null)


def table_hypergeometric(y: FloatArray, a: float) -> Integral:
    """Both margins of a 2 x 2 table are fixed: the probability of the table among all with these margins."""
    (p, q), (s, _) = y
    row, column = p + q, p + s
    n = float(y.sum())
    first = np.arange(max(0.0, row + column - n), min(row, column) + 1.0)
    cells = np.stack([first, row - first, column - first, n - row - column + first])
    alternative = np.sum(gammaln(cells + a) - gammaln(cells + 1.0), axis=0)
    null = -np.sum(gammaln(cells + 1.0), axis=0)
    here = int(p - first[0])
    value = (alternative[here] - _log_sum(alternative)) - (null[here] - _log_sum(null))
    return Integral(float(value), ROUNDING * max(1.0, abs(float(value))))


def _dirichlet(counts: FloatArray, a: float | FloatArray) -> float:
    """Log of D(counts + a) / D(a), D the multivariate beta function: the evidence of a multinomial under a Dirichlet prior."""
    prior = np.broadcast_to(np.asarray(a, np.float64), counts.shape)
    parts = np.sum(gammaln(counts + prior) - gammaln(prior))
    return float(parts - gammaln(np.sum(counts + prior)) + gammaln(np.sum(prior)))


def _independent(y: FloatArray, a: float) -> tuple[float, float]:
    """Evidences of the two margins under independence: their concentrations lose what the interaction has."""
    r, c = y.shape
    return _dirichlet(y.sum(axis=1), a * c - (c - 1.0)), _dirichlet(y.sum(axis=0), a * r - (r - 1.0))


def _log_sum_rows(values: FloatArray) -> FloatArray:
    top = np.max(values, axis=1)
    return np.asarray(top + np.log(np.sum(np.exp(values - top[:, None]), axis=1)))


def _log_sum(values: FloatArray) -> float:
    top = float(np.max(values))
    return top + float(np.log(np.sum(np.exp(values - top))))
