"""The correlation of two normal variables: Jeffreys's test with a stretched beta prior."""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat.classical.result import Test, made, numbers, positive, side_of
from zhat.errors import BadInput
from zhat.numerics.exact.classical import correlation as log_bf

WORDS = {0: "a correlation", 1: "a positive correlation", -1: "a negative correlation"}


def correlation(x: Any, y: Any, *, kappa: float = 1.0, alternative: str = "two-sided") -> Test:
    """The Bayes factor of a correlation (Ly, Verhagen & Wagenmakers 2016).

    `kappa` is the width of the prior of rho, beta(1/kappa, 1/kappa) on (-1, 1): 1, uniform, is the default of JASP; R's BayesFactor has 1/3.
    """
    side, kappa = side_of(alternative), positive("correlation", "kappa", kappa)
    first, second = numbers("x", x, 3), numbers("y", y, 3)
    if len(first) != len(second):
        raise BadInput(f"correlation(): x has {len(first)} values and y has {len(second)}; give pairs.")
    for name, values in (("x", first), ("y", second)):
        if np.ptp(values) == 0.0:
            raise BadInput(f"correlation(): all values of {name} are {values[0]:g}; a constant has no correlation.")
    r = float(np.corrcoef(first, second)[0, 1])
    if 1.0 - abs(r) < 1e-12:
        raise BadInput(
            f"correlation(): x and y lie on a line (r = {r:.0f}), so that the Bayes factor is infinite; is one computed from the other?"
        )
    return made(
        "correlation",
        log_bf(r, len(first), kappa, side),
        null="no correlation",
        alternative=WORDS[side],
        prior=f"rho ~ beta({1 / kappa:.4g}, {1 / kappa:.4g}) stretched to (-1, 1){', one side of it' if side else ''} (Ly et al. 2016)",
        cites=("ly2016",),
        statistic=f"r = {r:.4g}, n = {len(first)}",
    )
