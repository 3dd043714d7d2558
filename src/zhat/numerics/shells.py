"""Points whose value is among the highest at their distance from a centre.

Sorted by distance, points fall into shells of equal size. Around a single peak, whatever its radial profile, the highest values of a shell lie
where the density is stretched; points that belong to another, unknown peak are high for their distance too. (A test by the value alone would
keep the points near the centre, and one by a normal approximation those of every heavy tail.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Points of a shell: few enough that distances within one are alike, and enough for a share of a sixteenth.
SHELL = 256


def high_for_distance(value: NDArray[np.float64], distance: NDArray[np.float64], share: float) -> NDArray[np.bool_]:
    """Which points have one of the highest values of their shell: this share of it, and at least one."""
    high = np.zeros(len(value), dtype=bool)
    order = np.argsort(distance, kind="stable")
    for shell in np.array_split(order, max(1, len(order) // SHELL)) if len(order) else []:
        n = max(1, round(share * len(shell)))
        high[shell[np.argsort(-value[shell], kind="stable")[:n]]] = True
    return high
