"""What importance sampling and Laplace's method share: modes that the check for missed mass finds are added, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from zhat.missed_mass.finding import Finding
from zhat.results.estimate import Estimate
from zhat.sampling.backend.loop import Stopped
from zhat.sampling.importance.modes import Mode, different
from zhat.seeding import Key
from zhat.verdicts.missed_mass import after_look, unchecked

AtModes = Callable[[tuple[Mode, ...], Key], tuple[Estimate, Finding | None]]


def learning(answer: AtModes, modes: tuple[Mode, ...], key: Key) -> Estimate:
    """The answer at these modes; or, where its check finds further modes, the answer at all of them.

    `answer` gives an estimate and the finding of its check, if it made one. With the additional modes everything is computed
    again, and checked again by another population.
    """
    estimate, finding = answer(modes, key)
    if finding is None:
        return estimate
    doubted = after_look(estimate, finding)
    known = different((*modes, *finding.new_modes))
    n_new = len(known) - len(different(modes))
    if not finding.new_modes or not n_new:
        return doubted
    try:
        better, second = answer(known, key.child("again"))
    except Stopped as stopped:  # the verdict stands, and nothing else starts after Ctrl-C
        return doubted.doubted(unchecked(str(stopped)))
    second = replace(second or Finding(finding.answer, finding.effort), n_learned=n_new)
    return after_look(better, second)
