"""Other modes of the best models of a family, by searches from prior draws.

Families of models are sampled around one mode a model. Where a posterior has several, the draws cover one of them and their
weights do not show it. Here some models are searched again from prior draws, and the mass of other modes is added up by Laplace's
approximation.

*What it cannot see*: a mode that is reached from none of these starts.
"""

from __future__ import annotations

import numpy as np

from zhat.missed_mass.effort import EFFORT, Effort
from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.evaluation import prior_positions
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.families import Peaks, peaks_of_all
from zhat.sampling.importance.modes import SAME
from zhat.seeding import Key


def shares_in_other_peaks(
    model: Model, name: str, variants: Array, peaks: Peaks, key: Key, loop: Loop, effort: Effort = EFFORT
) -> Array:
    """For each variant the share of Laplace's mass in modes other than the known one, as searches from prior draws find them.

    `variants` are rows in the place of ``data[name]``, `peaks` the known mode of each.
    """
    m = len(variants)
    each = max(1, effort.starts_in_family // m)
    rows = np.repeat(np.arange(m), each)
    ends = peaks_of_all(model, name, variants[rows], loop, prior_positions(model, len(rows), key))
    missed = np.zeros(m)
    for i in range(m):
        known = [peaks.mode[i]]
        for j in np.flatnonzero((rows == i) & ends.converged):
            apart = [np.linalg.solve(ends.factor[j], ends.mode[j] - mode) for mode in known]
            if min(float(np.linalg.norm(step)) for step in apart) > SAME:
                known.append(ends.mode[j])
                missed[i] += np.exp(min(ends.log_mass[j] - peaks.log_mass[i], 700.0))
    return np.asarray(missed / (1.0 + missed))
