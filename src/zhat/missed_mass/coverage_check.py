"""A second view of importance sampling: particles that walked up from the prior, asked whether the proposal knows where they are.

A proposal that misses a mode leaves no trace in its own weights. But a posterior draw in that mode has prior x likelihood /
proposal far above Z. So a small tempered population is sent from the prior, and the share of its weight at points whose
importance weight would be more than a hundred times the mean is compared with the same share among the proposal's own draws. They
estimate one number, and where the particles have clearly more, the proposal has missed about that share of the posterior.

Of particles that stood apart on the way and died out, some are kept as scouts (`sampling.scouts`) and climbed from. The modes
above those that the proposal does not know are handed back, so that it can learn them: also one of so little mass that it casts
no doubt, if it holds more than the answer's error. (A narrow mode in ten dimensions with two hundredths of the posterior is met
by the search in one of twelve runs, by these scouts in all twelve.)

*What it cannot see*: a mode that no particle ever met.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from zhat.errors import NonFiniteLikelihood
from zhat.missed_mass.extra_populations import run_more_populations, walk
from zhat.missed_mass.mode_check import climb, compare
from zhat.missed_mass.outliers import MANY_IF_SHARP, Outliers
from zhat.model.model import Model
from zhat.numerics.weights import Weights
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Array
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.importance.modes import Mode, different
from zhat.sampling.importance.proposals import Proposal
from zhat.sampling.importance.weighted_draws import defended
from zhat.seeding import Key
from zhat.verdicts.weights import unchecked

HUGE = 100.0
# A population of a few hundred independent particles knows a share of 1 % to about half that: no alarm below this.
MARGIN = 0.03


class Look(NamedTuple):
    """What particles from the prior say of a proposal; and the modes above them, if it has missed something."""

    status: Status
    diagnostics: dict[str, Diagnostic]
    modes: tuple[Mode, ...] = ()


def learning(
    answer: Callable[[tuple[Mode, ...], Key], tuple[Estimate, tuple[Mode, ...]]], modes: tuple[Mode, ...], key: Key
) -> Estimate:
    """The answer at these modes; or, where its look finds that it missed some, the answer at all of them.

    `answer` gives an estimate and the modes above what it missed. What was found can be learned; with it all is done again, and
    asked again by other particles.
    """
    estimate, missed = answer(modes, key)
    known = different((*modes, *missed))
    n_new = len(known) - len(different(modes))
    if not missed or not n_new:
        return estimate
    try:
        better, _ = answer(known, key.child("again"))
    except Stopped as stopped:  # the doubt stands, and nobody goes on after a Ctrl-C
        return estimate.doubted(unchecked(str(stopped)))
    return replace(better, diagnostics={**better.diagnostics, "n_modes_missed_at_first": n_new})


def check_coverage(
    model: Model, proposal: Proposal, defensive: float, weights: Weights, log_weight: Array, key: Key, loop: Loop
) -> Look:
    """Whether particles from the prior stand, or stood on their way, where these weighted draws of the proposal do not come."""
    outliers = Outliers(model, MANY_IF_SHARP)
    path = walk(model, outliers, key, loop)
    if not path.complete or path.final is None or path.final.log_weight is None:
        return Look(unchecked(str(loop.stopped)), {"particle_check": "not done"})
    final, path_weight = path.final, path.final.log_weight
    log_proposal = defended(proposal, final.position, final.log_prior, defensive)
    there = _huge_share(path_weight, final.log_prior + final.log_likelihood - log_proposal - weights.log_mean)
    here = _huge_share(log_weight, log_weight - weights.log_mean)
    more: dict[str, Diagnostic] = {"particle_check": "done", "huge_share_particles": there, "huge_share_draws": here}
    status = Status.ok()
    if there > here + MARGIN:
        status = Status.suspect(
            "missed-mode",
            f"{there:.0%} of particles that came up from the prior stand where the proposal hardly comes ({here:.0%} among its "
            "own draws): it has missed a mode; use SMC.",
        )
    if status.is_ok:
        run_more_populations(model, path, outliers, key, loop, MANY_IF_SHARP)
    if model.is_black_box or (status.is_ok and outliers.draws is None):
        return Look(status, more)
    climbs = key.child("climbs")
    try:
        modes = climb(model, final, climbs, loop, outliers=outliers.draws)
        seen, found = compare(model, modes, float(weights.log_mean), float(weights.log_mean_se), climbs, loop)
    except (Stopped, NonFiniteLikelihood) as trouble:
        return Look(status.and_(unchecked(str(trouble))), {**more, "mode_check": "not done"})
    status = status.and_(seen)
    if status.is_ok:  # too little to doubt the answer, but a mode that holds more than its error is worth knowing
        modes = tuple(mode for mode in modes if mode.log_mass > weights.log_mean + np.log(weights.log_mean_se))
    return Look(status, {**more, **found}, modes)


def _huge_share(log_weight: Array, log_ratio: Array) -> float:
    """Share of the weight at points where the ratio is huge."""
    share = np.exp(log_weight - log_weight.max())
    return float(share[log_ratio > np.log(HUGE)].sum() / share.sum())
