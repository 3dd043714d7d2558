"""Rules that end a run of nested sampling, each a frozen object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.kinds import checked_kinds


class Progress(NamedTuple):
    """State of a run between two batches, in logs: evidence of the dead points, of the live points, and of the last dead point.

    `live_spread` is the standard deviation of the live points' likelihoods, relative to their mean.
    """

    n_dead: int
    log_dead: float
    log_live: float
    log_last: float
    live_spread: float = np.inf


class Stop(Protocol):
    """A rule that ends a run."""

    def reached(self, progress: Progress) -> bool:
        """Whether the run may end here."""
        ...


@dataclass(frozen=True)
@checked_kinds
class RemainingEvidence:
    """Stop when the live points, at their mean likelihood, hold less than this share of the evidence."""

    share: float = 1e-3

    def __post_init__(self) -> None:
        """Check the share."""
        _check_share("RemainingEvidence", self.share)

    def reached(self, progress: Progress) -> bool:
        """See `Stop`."""
        return progress.log_live < np.log(self.share) + np.logaddexp(progress.log_dead, progress.log_live)


@dataclass(frozen=True)
@checked_kinds
class FlatTop:
    """Stop when the live points hold less than `share` of the evidence, or when their likelihoods hardly differ.

    What is left of the evidence is known to `spread` / √n_live of itself if the standard deviation of the live points' likelihoods is
    below `spread` times their mean. More batches would not improve it: in one to three dimensions this saves a third of a run.
    """

    share: float = 0.01
    spread: float = 0.2

    def __post_init__(self) -> None:
        """Check the two numbers."""
        _check_share("FlatTop", self.share)
        _check_share("FlatTop", self.spread)

    def reached(self, progress: Progress) -> bool:
        """See `Stop`."""
        return progress.live_spread < self.spread or RemainingEvidence(self.share).reached(progress)


@dataclass(frozen=True)
@checked_kinds
class SmallContribution:
    """Stop when the last dead point added less than this share to the evidence so far (the rule of Friel & Wyse 2012)."""

    share: float = 1e-8

    def __post_init__(self) -> None:
        """Check the share."""
        _check_share("SmallContribution", self.share)

    def reached(self, progress: Progress) -> bool:
        """See `Stop`; while no point has a likelihood above zero there is no evidence to compare with."""
        return progress.log_dead > -np.inf and progress.log_last < np.log(self.share) + progress.log_dead


@dataclass(frozen=True)
@checked_kinds
class Iterations:
    """Stop when at least this many points are dead."""

    n_dead: int

    def __post_init__(self) -> None:
        """Check the number."""
        if isinstance(self.n_dead, bool) or not isinstance(self.n_dead, int):
            raise BadType(f"Iterations({self.n_dead!r}): give a whole number of dead points.")
        if self.n_dead < 1:
            raise BadInput(f"Iterations({self.n_dead}): give at least one dead point.")

    def reached(self, progress: Progress) -> bool:
        """See `Stop`."""
        return progress.n_dead >= self.n_dead


def _check_share(owner: str, share: Any) -> None:
    if isinstance(share, bool) or not isinstance(share, int | float):
        raise BadType(f"{owner}({share!r}): give a number between 0 and 1.")
    if not 0.0 < share < 1.0:
        raise BadInput(f"{owner}({share}): give a share between 0 and 1.")
