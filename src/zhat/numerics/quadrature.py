"""Quadrature along a ladder of powers: from E_β[log L] at a few rungs to the log evidence.

Thermodynamic integration rests on

    log Z = ∫_0^1 E_β[log L] dβ,        d/dβ E_β[log L] = Var_β[log L] >= 0,

where E_β is the mean under the power posterior, prior times likelihood to the power β (Gelman & Meng
1998; Friel & Pettitt 2008). The derivative is a gift three times over. It makes the integrand
non-decreasing, so the left and right Riemann sums bound the integral. It corrects the trapezoid rule
at its ends (Friel, Hurn & Wyse 2012). And it is a check: a difference of means between two rungs has
to match the variances at both.

When it lies: all of it takes the means as true. A rung that has not mixed passes the bounds and the
correction, and betrays itself only in the thermodynamic identity (`tempering.identity_z`). A sharp transition between two rungs
is invisible to both unless its variance shows at one of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from zhat.numerics._checks import FloatArray, finite_vector, same_length, vector


def check_ladder(betas: ArrayLike) -> FloatArray:
    """Give `betas` as an array that runs from exactly 0 to exactly 1 in strictly increasing order."""
    ladder = _increasing(betas)
    if ladder[0] != 0.0:
        raise ValueError(f"betas[0]={ladder[0]}: the ladder starts at the prior, beta = 0; put 0.0 in front.")
    if ladder[-1] != 1.0:
        raise ValueError(
            f"betas[{ladder.size - 1}]={ladder[-1]}: the ladder ends at the posterior, beta = 1; make the last rung exactly 1.0."
        )
    return ladder


def trapezoid_weights(betas: ArrayLike) -> FloatArray:
    """Weight of each rung in the trapezoid rule.

    They serve the error too: with independent rungs the squared Monte Carlo error of the integral is
    Σ w_i² se_i².

    Parameters
    ----------
    betas : array_like, shape (n,)
        Strictly increasing; part of a ladder will do.
    """
    steps = np.diff(_increasing(betas))
    return np.asarray(0.5 * (np.append(steps, 0.0) + np.append(0.0, steps)), dtype=np.float64)


def trapezoid(betas: ArrayLike, means: ArrayLike) -> float:
    """Integral of the means by the trapezoid rule; -inf if one of them is.

    Parameters
    ----------
    betas : array_like, shape (n,)
        Strictly increasing.
    means : array_like, shape (n,)
        E_β[log L] at each rung.
    """
    ladder, values = _pair(betas, vector(means, "means"), "means")
    return float(np.sum(trapezoid_weights(ladder) * values))


def corrected_trapezoid(betas: ArrayLike, means: ArrayLike, variances: ArrayLike) -> float:
    """Trapezoid rule with the end correction of Friel, Hurn & Wyse (2012).

    On a step of length h the rule errs by h³ f''/12, and f'' is nearly the difference of the
    variances divided by h, so Σ h² (V_{i+1} - V_i) / 12 is subtracted. The change it makes is a fair
    size for what is left of the discretisation error, and usually a generous one.

    Parameters
    ----------
    betas : array_like, shape (n,)
        Strictly increasing.
    means, variances : array_like, shape (n,)
        E_β[log L] and Var_β[log L] at each rung.
    """
    ladder, spread = _pair(betas, _variances(variances), "variances")
    correction = float(np.sum(np.diff(ladder) ** 2 * np.diff(spread)) / 12.0)
    return trapezoid(ladder, means) - correction


def riemann_bounds(betas: ArrayLike, means: ArrayLike) -> tuple[float, float]:
    """Left and right Riemann sums: with exact means they enclose the integral.

    Parameters
    ----------
    betas : array_like, shape (n,)
        Strictly increasing.
    means : array_like, shape (n,)
        E_β[log L] at each rung.

    Returns
    -------
    lower, upper : float
        In this order whenever the means are non-decreasing. Noise in the means moves both, and may
        even swap them where the ladder is fine.
    """
    ladder, values = _pair(betas, vector(means, "means"), "means")
    steps = np.diff(ladder)
    return float(np.sum(steps * values[:-1])), float(np.sum(steps * values[1:]))


def _increasing(betas: ArrayLike) -> FloatArray:
    ladder = finite_vector(betas, "betas")
    if ladder.size < 2:
        raise ValueError(f"betas has {ladder.size} rungs: an integral needs two ends; give at least [0.0, 1.0].")
    falls = np.flatnonzero(np.diff(ladder) <= 0.0)
    if falls.size:
        i = int(falls[0])
        raise ValueError(
            f"betas[{i}]={ladder[i]}, betas[{i + 1}]={ladder[i + 1]}: the powers must increase strictly; "
            "sort the rungs and drop repeats."
        )
    return ladder


def _pair(betas: ArrayLike, values: FloatArray, name: str) -> tuple[FloatArray, FloatArray]:
    ladder = _increasing(betas)
    same_length(ladder, values, f"betas and {name}")
    return ladder, values


def _variances(values: ArrayLike, name: str = "variances") -> FloatArray:
    array = finite_vector(values, name)
    if (array < 0.0).any():
        raise ValueError(f"{name}[{int(np.argmin(array))}]={array.min()}: it cannot be negative; check what was passed.")
    return array
