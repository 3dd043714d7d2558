"""The check for missed mass: one entry point for every method, and the check that each method declares.

A run that starts from the prior, or from chains, is checked from the modes (`mode_check`); one that starts from the modes is
checked from the prior (`coverage_check`). Either way the second estimate starts elsewhere than the first.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from zhat.missed_mass.around_draws import look_around_draws
from zhat.missed_mass.coverage_check import coverage_check
from zhat.missed_mass.effort import EFFORT, Effort
from zhat.missed_mass.finding import Answer, Finding, Progress
from zhat.missed_mass.mode_check import mode_check
from zhat.missed_mass.witnesses import Sampled, Witnesses
from zhat.model.model import Model
from zhat.sampling.backend.loop import Loop
from zhat.seeding import Key


class Origin(enum.Enum):
    """Where a method's check for missed mass starts."""

    MODES = "from the modes"
    PRIOR = "from the prior"
    NOWHERE = "none"


@dataclass(frozen=True)
class Look:
    """The check for missed mass that a method makes: where it starts and with what effort; or why it makes none."""

    origin: Origin
    effort: Effort = EFFORT
    reason: str = ""

    @staticmethod
    def from_modes(effort: Effort = EFFORT) -> Look:
        """The mode check: for methods that start from the prior or from posterior chains."""
        return Look(Origin.MODES, effort)

    @staticmethod
    def from_prior(effort: Effort = EFFORT) -> Look:
        """The coverage check: for methods whose proposal is centred at the modes."""
        return Look(Origin.PRIOR, effort)

    @staticmethod
    def none(reason: str) -> Look:
        """No check, and the reason."""
        return Look(Origin.NOWHERE, reason=reason)


def look_for_missed_mass(model: Model, answer: Answer, witnesses: Witnesses, effort: Effort, key: Key, loop: Loop) -> Finding:
    """Compare an answer with a second estimate that starts elsewhere than the run."""
    if not model.space.has_prior:
        equal = isinstance(witnesses, Sampled) and witnesses.equal_weight
        return look_around_draws(model, answer, witnesses.draws, equal, effort, key, loop)
    if isinstance(witnesses, Sampled):
        return mode_check(model, answer, witnesses, effort, key, loop)
    if effort.relies_on_one_mode(model):
        return Finding(answer, effort, coverage_check=Progress.NOT_NEEDED)
    return coverage_check(model, answer, witnesses, effort, key, loop)
