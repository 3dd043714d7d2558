"""What a method leaves for the look for missed mass: the points behind its answer."""

from __future__ import annotations

from dataclasses import dataclass

from zhat.numerics.weights import Weights
from zhat.results.records import Draws
from zhat.sampling.importance.proposals import Proposal


@dataclass(frozen=True)
class Sampled:
    """Points of a run that came from the prior, or of posterior chains.

    Attributes
    ----------
    draws : Draws
        Points at the end of the run: the search for modes starts from the highest.
    outliers : Draws or None
        Outlying points that were kept on the way.
    prior_draws : Draws or None
        Prior draws that are there anyway, as a second estimate beside an answer from posterior chains.
    equal_weight : bool
        Whether `draws` are posterior draws of equal weight, so that visits to a mode can be counted.
    """

    draws: Draws
    outliers: Draws | None = None
    prior_draws: Draws | None = None
    equal_weight: bool = False


@dataclass(frozen=True)
class Proposed:
    """Weighted draws of a proposal with the share `defensive` of prior draws."""

    proposal: Proposal
    draws: Draws
    weights: Weights
    defensive: float


Witnesses = Sampled | Proposed
