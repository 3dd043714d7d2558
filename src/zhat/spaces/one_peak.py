"""Is one mode a model enough? The best models of a family are searched again from prior draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zhat.missed_mass.effort import EFFORT
from zhat.missed_mass.other_peaks import shares_in_other_peaks
from zhat.results.estimate import Status
from zhat.results.records import Array
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.families import Peaks
from zhat.seeding import Key
from zhat.spaces.subset_results import model_name
from zhat.verdicts.missed_mass import other_peaks_status

if TYPE_CHECKING:
    from zhat.spaces.subsets import Subsets

# How many of the best models are searched.
SEARCHED = EFFORT.models_searched


def modes_status(family: Subsets, masks: Array, peaks: Peaks, key: Key, loop: Loop) -> Status:
    """Whether searches from prior draws, in these models, end at the modes that are known."""
    shares = shares_in_other_peaks(family.model, family.mask, masks, peaks, key, loop)
    return other_peaks_status(shares, tuple(model_name(family.covariates, mask) for mask in masks))
