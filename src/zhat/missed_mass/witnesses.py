"""Points of a run that the check for missed mass needs."""

from __future__ import annotations

from dataclasses import dataclass

from zhat.missed_mass.prior_view import PriorView
from zhat.numerics.weights import Weights
from zhat.results.records import Draws
from zhat.sampling.importance.modes import Mode
from zhat.sampling.importance.proposals import Proposal


@dataclass(frozen=True)
class Sampled:
    """Points of a run that came from the prior, or of posterior chains.

    Attributes
    ----------
    draws : Draws
        Points at the end of the run: the search for modes starts from the highest.
    outliers : Draws or None
        Outlying points that were kept during the run.
    prior_draws : Draws or None
        Prior draws of the run, as a second estimate beside an answer from posterior chains.
    equal_weight : bool
        Whether `draws` are posterior draws of equal weight, so that visits to a mode can be counted.
    passed : Draws or None
        All points of the tempered run, at every temperature: those that no known mode explains are starts of a search.
    around : Draws or None
        Weighted posterior draws of a run that may have cut off parts of the posterior (regions): importance sampling at the modes then
        has components around them too.
    """

    draws: Draws
    outliers: Draws | None = None
    prior_draws: Draws | None = None
    equal_weight: bool = False
    passed: Draws | None = None
    around: Draws | None = None


@dataclass(frozen=True)
class Proposed:
    """Weighted draws of a proposal.

    Attributes
    ----------
    proposal : Proposal
    draws : Draws
    weights : Weights
        Of the draws.
    defensive : float
        The share of prior draws among them.
    modes : tuple of Mode
        The modes that the proposal knows.
    view : PriorView or None
        A population from the prior that exists already.
    """

    proposal: Proposal
    draws: Draws
    weights: Weights
    defensive: float
    modes: tuple[Mode, ...] = ()
    view: PriorView | None = None


Witnesses = Sampled | Proposed
