"""The coverage check: a tempered population from the prior tests whether a proposal at the modes covers the posterior.

A proposal that misses a mode leaves no trace in its own weights. But at a posterior draw in that mode prior x likelihood /
proposal is far above Z. So a small tempered population starts from the prior, and the share of its weight at points whose
importance weight would be more than a hundred times the mean is compared with the same share among the proposal's own draws. Both
estimate one number, and where the population has clearly more, the proposal has missed about that share of the posterior.

Of the particles that were outlying on the way and left no descendants some are kept (`missed_mass.outliers`), and searches for
modes start from them. The modes that the proposal lacks are returned, so that a method can add them. This includes a mode whose
mass is too small to make the answer suspect, if it exceeds the answer's standard error. (A narrow mode in ten dimensions with two
hundredths of the posterior is found by the first search in one of twelve runs, and from these outlying points in all twelve.)

*What it cannot see*: a mode that no particle entered.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zhat.errors import NonFiniteLikelihood
from zhat.missed_mass.effort import Effort
from zhat.missed_mass.extra_populations import run_extra_populations, run_population
from zhat.missed_mass.finding import Answer, Coverage, Finding, Progress, Unseen
from zhat.missed_mass.mode_check import compare_at_modes, modes_above, modes_above_run
from zhat.missed_mass.outliers import Outliers
from zhat.missed_mass.witnesses import Proposed
from zhat.model.model import Model
from zhat.results.records import Array, Draws
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.importance.weighted_draws import defended
from zhat.seeding import Key


def coverage_check(model: Model, answer: Answer, run: Proposed, effort: Effort, key: Key, loop: Loop) -> Finding:
    """Compare a tempered population from the prior, and its outlying points, with the region that these weighted draws cover."""
    outliers = Outliers(model, effort)
    path = run_population(model, outliers, effort, key, loop)
    finding = Finding(answer, effort, unseen=(Unseen.OUTLIERS,) if model.is_black_box else ())
    if not path.complete or path.final is None or path.final.log_weight is None:
        return replace(finding, coverage_check=Progress.NOT_DONE, stopped=str(loop.stopped))
    final = path.final
    finding = replace(finding, coverage_check=Progress.DONE, coverage=_coverage(run, final, effort.huge))
    if not finding.is_uncovered:
        run_extra_populations(model, path, outliers, effort, key, loop)
    if model.is_black_box or (not finding.is_uncovered and outliers.draws is None):
        return finding
    searches = key.child("climbs")
    try:
        modes = modes_above_run(model, final, effort, searches, loop)
        if outliers.draws is not None:
            modes = (*modes, *modes_above(model, outliers.draws, effort, searches.child("climb of scouts"), loop))
        finding = compare_at_modes(model, modes, finding, searches, loop)
    except (Stopped, NonFiniteLikelihood) as trouble:
        return replace(finding, mode_check=Progress.NOT_DONE, stopped=str(trouble))
    if (
        not finding.is_missed
    ):  # too little mass for a suspect answer, but a mode with more than its standard error should be added
        modes = tuple(mode for mode in modes if mode.log_mass > answer.log_evidence + np.log(answer.se))
    return replace(finding, new_modes=modes)


def _coverage(run: Proposed, population: Draws, huge: float) -> Coverage:
    assert population.log_weight is not None and run.draws.log_weight is not None
    log_proposal = defended(run.proposal, population.position, population.log_prior, run.defensive)
    log_mean, log_weight = run.weights.log_mean, run.draws.log_weight
    there = population.log_prior + population.log_likelihood - log_proposal - log_mean
    return Coverage(
        population=huge_share(population.log_weight, there, huge), draws=huge_share(log_weight, log_weight - log_mean, huge)
    )


def huge_share(log_weight: Array, log_ratio: Array, huge: float) -> float:
    """Share of the weight at points where the ratio is huge."""
    share = np.exp(log_weight - log_weight.max())
    return float(share[log_ratio > np.log(huge)].sum() / share.sum())
