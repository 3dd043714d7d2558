"""Whether the posterior narrows without end somewhere: the tails of the slopes at its draws.

In a neck of local width s the slope of the log posterior is of the order 1 / s. Where the share of the posterior that is narrower than
s falls like s^a, the slopes have the tail index 1 / a. Chains whose steps are those of the bulk enter such a neck rarely or never, all
alike, so that R-hat and the halves agree on an answer without it. The draws at its entrance show it: their slopes have a heavy tail.
For a normal posterior the index is zero or below.
"""

from __future__ import annotations

import numpy as np

from zhat.model.model import Model
from zhat.numerics.weights import pareto_k
from zhat.results.records import Array
from zhat.sampling.backend.evaluation import slopes
from zhat.sampling.backend.loop import Loop


def slope_tail(model: Model, position: Array, loop: Loop) -> float:
    """The largest tail index, over coordinates, of the absolute slopes at n posterior draws; NaN for a black box."""
    if model.is_black_box:
        return float("nan")
    size = np.abs(slopes(model, position, loop))
    with np.errstate(divide="ignore"):
        return max(float(pareto_k(np.log(column))) for column in size.T)
