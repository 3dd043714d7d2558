"""Coordinates in which the marginals of draws are nearly normal: a monotone function of each, fitted to the draws.

    y = sinh(tail asinh(z) - skew),     z = (x - centre) / scale        (Jones & Pewsey 2009),

with the skew and the tail of each coordinate at the maximum of the likelihood of a normal y. An ellipsoid fitted to a skewed posterior
overhangs its steep side, the more the more dimensions there are: its radius is sqrt(d) standard deviations of every coordinate. Fitted in
y, it follows that side. A density of y is one of x after multiplication with the slope, whatever skew and tail are.

A coordinate whose skewness and kurtosis are near a normal's is left as it is, and so is one whose fit fails.

*When it helps little.* Where the shape of one coordinate depends on another (a banana, a funnel), marginals do not show it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zhat.numerics._checks import FloatArray

# Skewness and excess kurtosis below which a coordinate is left alone: two standard errors of them at an effective sample size of 400.
SKEWED, HEAVY = 0.25, 0.5
# Limits of the skew and of the log of the tail within which the function of a draw ten standard deviations out is a plain number.
MOST_SKEW, MOST_LOG_TAIL = 5.0, 1.5


@dataclass(frozen=True)
class Marginals:
    """One monotone function for each coordinate; `skew` zero and `tail` one leave the standardised coordinate."""

    centre: FloatArray
    scale: FloatArray
    skew: FloatArray
    tail: FloatArray

    def forward(self, position: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The new coordinates of n points (n, d), and the log of the product of the slopes (n,)."""
        z = (position - self.centre) / self.scale
        t = self.tail * np.arcsinh(z) - self.skew
        log_slope = np.log(self.tail / self.scale) + _log_cosh(t) - 0.5 * np.log1p(z * z)
        return np.sinh(t), np.asarray(log_slope.sum(axis=1))


def normal_marginals(position: FloatArray) -> Marginals:
    """The functions fitted to draws (n, d)."""
    centre, scale = np.median(position, axis=0), position.std(axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    z = (position - centre) / scale
    standard = (position - position.mean(axis=0)) / scale
    odd = (np.abs((standard**3).mean(axis=0)) > SKEWED) | (np.abs((standard**4).mean(axis=0) - 3.0) > HEAVY)
    skew, tail = np.zeros(z.shape[1]), np.ones(z.shape[1])
    for j in np.flatnonzero(odd & (position.std(axis=0) > 0.0)):
        skew[j], tail[j] = _fitted(z[:, j])
    return Marginals(centre, scale, skew, tail)


def _fitted(z: FloatArray) -> tuple[float, float]:
    """Skew and tail of one standardised coordinate; (0, 1) where the fit gains nothing."""
    from scipy.optimize import minimize  # loaded where it is used

    arc = np.arcsinh(z)

    def loss(at: FloatArray) -> float:
        """Minus the mean log likelihood of a normal y with free mean and scale, up to a constant."""
        skew, log_tail = at
        if abs(skew) > MOST_SKEW or abs(log_tail) > MOST_LOG_TAIL:
            return float("inf")
        t = np.exp(log_tail) * arc - skew
        return float(np.log(np.sinh(t).std()) - log_tail - _log_cosh(t).mean())

    start = np.array([[0.0, 0.0], [0.3, 0.0], [0.0, -0.2]])
    end = minimize(loss, start[0], method="Nelder-Mead", options={"initial_simplex": start, "xatol": 0.01, "fatol": 1e-4})
    return (float(end.x[0]), float(np.exp(end.x[1]))) if end.fun < loss(start[0]) else (0.0, 1.0)


def _log_cosh(t: FloatArray) -> FloatArray:
    return np.asarray(np.logaddexp(t, -t) - np.log(2.0))
