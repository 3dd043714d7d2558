"""One integral to many digits: a density of a positive quantity, by the trapezoid rule on the log scale.

On the log scale these integrands are smooth and fall off at both ends faster than any exponential, where the
trapezoid rule converges geometrically: there is nothing to choose but the range.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

N_POINTS = 20_001
NEGLIGIBLE = 60.0  # nats below the top: e^-60 of the peak is beyond double precision


def log_integral_over_positive(log_integrand: Callable[[np.ndarray], np.ndarray]) -> float:
    """log of the integral over (0, inf) of exp(log_integrand(t)) dt; `log_integrand` takes an array.

    A first coarse grid finds where the mass is (several peaks are fine), a second one covers that range.
    """
    coarse = np.linspace(-100.0, 100.0, N_POINTS)
    values = log_integrand(np.exp(coarse)) + coarse
    heard = np.flatnonzero(values > np.max(values) - NEGLIGIBLE)
    low, high = coarse[max(heard[0] - 1, 0)], coarse[min(heard[-1] + 1, N_POINTS - 1)]
    fine = np.linspace(low, high, N_POINTS)
    values = log_integrand(np.exp(fine)) + fine
    top = float(np.max(values))
    return top + float(np.log(np.sum(np.exp(values - top)) * (fine[1] - fine[0])))
