"""Is one peak a model enough? A second look at the best models of a family, from draws of the prior."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from zhat.results.estimate import Status
from zhat.results.records import Array
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.families import Peaks, other_peaks
from zhat.seeding import Key
from zhat.spaces.subset_results import model_name

if TYPE_CHECKING:
    from zhat.spaces.subsets import Subsets

# Models that are climbed again from prior draws, and the share of mass elsewhere that is worth a word.
LOOKED_AT = 4
MISSED_SHARE = 0.05


def modes_status(family: Subsets, masks: Array, peaks: Peaks, key: Key, loop: Loop) -> Status:
    """Whether climbs from prior draws, in these models, end on the peaks that are known."""
    missed = other_peaks(family.model, family.mask, masks, peaks, key, loop)
    worst = int(np.argmax(missed))
    if missed[worst] < MISSED_SHARE:
        return Status.ok()
    return Status.suspect(
        "several-modes",
        f"climbs from prior draws end on other peaks of {model_name(family.covariates, masks[worst])}, with about "
        f"{missed[worst]:.0%} of its mass: families are sampled around one peak a model; use compare() with SMC.",
    )
