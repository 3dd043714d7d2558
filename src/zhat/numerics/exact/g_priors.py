"""Linear models under g-priors: Bayes factors against the model without covariates.

    y = alpha + X beta + N(0, sigma^2 I),     p(alpha, sigma^2) ∝ 1/sigma^2,     beta | sigma, g ~ N(0, sigma^2 G(g)).

Columns of X and y are centred. The reference prior of alpha and sigma is improper, and is the same in both models, so that its
arbitrary constant cancels from their ratio (Berger, Pericchi & Varshavsky 1998 show that it is the right one to share). For given g
the ratio is a formula (Liang et al. 2008; Rouder & Morey 2012; Rouder et al. 2012),

    log B(g) = -1/2 log det(I + X'X G) - (n-1)/2 log( S(g) / y'y ),      S(g) = y'y - y'X (X'X + G^-1)^-1 X'y,

and g is integrated by quadrature: g_k ~ inverse gamma(1/2, r_k^2/2), which makes the effects Cauchy with scale r_k. Several g are
integrated over z_k = r_k / sqrt(g_k), each half of a standard normal. Without a common intercept n - 1 is n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from zhat.numerics._checks import FloatArray
from zhat.numerics.exact.integrals import MOST_DIMENSIONS, Integral, log_integral, log_integral_in_box

# log g where the integrand has fallen by 46 nats below any peak: it decays as exp(-g^-1) on the left, at least as g^-1/2 on the right.
LOWEST, HIGHEST = -60.0, 140.0
# Blocks with a g of their own that quadrature integrates.
MOST_BLOCKS = MOST_DIMENSIONS
# Of z = scale / sqrt(g), a standard normal variable: e^-40 of its density lies beyond.
HIGHEST_Z = 9.0


@dataclass(frozen=True)
class Block:
    """Columns that share one g: their effects are N(0, g sigma^2 S), g ~ inverse gamma(1/2, scale^2/2).

    S is the inverse of the columns' covariance where `by_covariance` (slopes), and the identity otherwise (orthonormal contrasts of
    a factor).
    """

    columns: tuple[int, ...]
    scale: float
    by_covariance: bool


@dataclass(frozen=True)
class Sums:
    """What a linear model needs of centred data: n, y'y, X'y and X'X."""

    n: int
    yy: float
    xy: FloatArray
    xx: FloatArray
    has_intercept: bool = True

    @property
    def df(self) -> int:
        """Degrees of freedom of y: one less than n where an intercept is common to all models."""
        return self.n - int(self.has_intercept)

    def least_squares(self) -> tuple[FloatArray, float]:
        """Coefficients and their share of y'y, R squared."""
        best = np.linalg.solve(self.xx, self.xy) if len(self.xy) else np.zeros(0)
        return np.asarray(best, np.float64), float(np.clip(best @ self.xy / self.yy, 0.0, 1.0))


def log_bf_fixed_g(df: float, p: int | FloatArray, r2: float | FloatArray, g: float | FloatArray) -> FloatArray:
    """For beta ~ N(0, g sigma^2 (X'X)^-1) with a fixed g, such as g = n for unit information."""
    return np.asarray(0.5 * (df - np.asarray(p)) * np.log1p(g) - 0.5 * df * np.log1p(g * (1.0 - np.asarray(r2))))


def log_bf_one_g(n: float, df: float, p: int, r2: float, scale: float) -> Integral:
    """Zellner-Siow: beta ~ N(0, g sigma^2 n (X'X)^-1), g ~ inverse gamma(1/2, scale^2/2); a function of R squared alone."""
    if p == 0:
        return Integral.closed_form(0.0)

    def log_integrand(log_g: FloatArray) -> FloatArray:
        return np.asarray(log_prior_of_log_g(log_g, scale) + log_bf_fixed_g(df, p, r2, np.exp(log_g) * n))

    return log_integral(log_integrand, LOWEST, HIGHEST)


def log_bf_blocks(sums: Sums, blocks: tuple[Block, ...]) -> Integral:
    """Any blocks of columns, each with a g of its own, by quadrature over the logarithms of all g."""
    if not blocks:
        return Integral.closed_form(0.0)
    if len(blocks) == 1 and blocks[0].by_covariance:
        return log_bf_one_g(sums.n, sums.df, len(sums.xy), sums.least_squares()[1], blocks[0].scale)
    root = base_root(sums, blocks)
    xx, xy = root.T @ sums.xx @ root, root.T @ sums.xy
    belongs = np.zeros(len(xy), dtype=int)
    for k, block in enumerate(blocks):
        belongs[list(block.columns)] = k
    scales = np.array([block.scale for block in blocks])
    eye = np.eye(len(xy))

    def log_integrand(z: FloatArray) -> FloatArray:
        out = np.empty(len(z))
        at_once = max(1, 1_000_000 // len(xy) ** 2)
        for begin in range(0, len(z), at_once):
            some = z[begin : begin + at_once]
            # det(I + sqrt(g) X'X sqrt(g)) = det(z^2 + scale X'X scale) / prod(z^2): finite for z = 0, where g is infinite
            own, each = scales[belongs], some[:, belongs]
            factor = np.linalg.cholesky(xx * np.outer(own, own) + each[:, :, None] ** 2 * eye)
            solved = np.linalg.solve(factor, np.broadcast_to((own * xy)[:, None], (len(some), len(xy), 1)))[:, :, 0]
            left = np.maximum(sums.yy - np.sum(solved**2, axis=1), 1e-300)
            half_log_det = np.sum(np.log(np.einsum("mii->mi", factor)), axis=1)
            with np.errstate(divide="ignore"):
                ratio = np.sum(np.log(each), axis=1) - half_log_det - 0.5 * sums.df * np.log(left / sums.yy)
            out[begin : begin + at_once] = ratio + np.sum(-0.5 * some**2 + 0.5 * np.log(2.0 / np.pi), axis=1)
        return out

    k = len(blocks)
    return log_integral_in_box(log_integrand, np.zeros(k), np.full(k, HIGHEST_Z))


def base_root(sums: Sums, blocks: tuple[Block, ...]) -> FloatArray:
    """A root of S over all blocks: effects are sigma sqrt(g) times this root times standard normals."""
    root = np.zeros_like(sums.xx)
    for block in blocks:
        at = np.ix_(block.columns, block.columns)
        if block.by_covariance:
            root[at] = np.linalg.inv(np.linalg.cholesky(sums.xx[at] / sums.n)).T
        else:
            root[at] = np.eye(len(block.columns))
    return root


def log_prior_of_log_g(log_g: FloatArray, scale: float | FloatArray) -> FloatArray:
    """Density of log g for g ~ inverse gamma(1/2, scale^2/2)."""
    rate = 0.5 * np.asarray(scale) ** 2
    return np.asarray(0.5 * np.log(rate) - gammaln(0.5) - 0.5 * log_g - rate * np.exp(-log_g))
