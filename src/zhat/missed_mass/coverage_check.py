"""The coverage check: a tempered population from the prior tests whether a proposal at the modes covers the posterior.

A proposal that misses a mode leaves no trace in its own weights. But at a posterior draw in that mode prior x likelihood /
proposal is far above Z. So a small tempered population starts from the prior, and the share of its weight at points whose
importance weight would be more than a hundred times the mean is compared with the same share among the proposal's own draws. Both
estimate one number, and where the population has clearly more, the proposal has missed about that share of the posterior.

Where the proposal has missed something, the mean and the covariance of the particles that it does not reach are a further place for
it, which needs no derivatives. The population's own estimate of the evidence is kept too, as a second estimate; modes that it did not
visit are taken out of the comparison (`Finding.population_agrees`).

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
from zhat.missed_mass.finding import Answer, Coverage, Finding, Progress, Unseen
from zhat.missed_mass.mode_check import compare_at_modes, modes_above, modes_above_run, visited_share
from zhat.missed_mass.prior_view import view_from_prior
from zhat.missed_mass.witnesses import Proposed
from zhat.model.model import Model
from zhat.results.records import Array, Draws
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.importance.modes import Mode, moments_as_mode
from zhat.sampling.importance.weighted_draws import defended
from zhat.seeding import Key


def coverage_check(model: Model, answer: Answer, run: Proposed, effort: Effort, key: Key, loop: Loop) -> Finding:
    """Compare a tempered population from the prior, and its outlying points, with the region that these weighted draws cover."""
    view = run.view or view_from_prior(model, effort, key, loop)
    finding = Finding(answer, effort, unseen=(Unseen.OUTLIERS,) if model.is_black_box else ())
    population = view.draws
    if population is None:
        return replace(finding, coverage_check=Progress.NOT_DONE, stopped=str(loop.stopped))
    coverage = _coverage(run, population, effort.huge)
    visited = visited_share(run.modes, run.draws, population, effort)
    finding = replace(
        finding, coverage_check=Progress.DONE, coverage=coverage, from_population=view.estimate, visited_by_population=visited
    )
    beyond = _beyond(run, population, effort.huge) if finding.is_uncovered else ()
    outliers = view.outliers.draws
    if model.is_black_box or (not finding.is_uncovered and outliers is None):
        return replace(finding, new_modes=beyond)
    searches = key.child("climbs")
    try:
        modes = modes_above_run(model, population, effort, searches, loop)
        if outliers is not None:
            modes = (*modes, *modes_above(model, outliers, effort, searches.child("climb of scouts"), loop))
        finding = compare_at_modes(model, modes, finding, searches, loop)
    except (Stopped, NonFiniteLikelihood) as trouble:
        return replace(finding, mode_check=Progress.NOT_DONE, stopped=str(trouble))
    if not finding.is_missed:  # too little mass for a suspect answer, but one above its standard error should be added
        modes = tuple(mode for mode in modes if mode.log_mass > answer.log_evidence + np.log(answer.se))
    return replace(finding, new_modes=(*modes, *beyond))


def _coverage(run: Proposed, population: Draws, huge: float) -> Coverage:
    assert population.log_weight is not None and run.draws.log_weight is not None
    log_proposal = defended(run.proposal, population.position, population.log_prior, run.defensive)
    log_mean, log_weight = run.weights.log_mean, run.draws.log_weight
    there = population.log_prior + population.log_likelihood - log_proposal - log_mean
    return Coverage(
        population=huge_share(population.log_weight, there, huge), draws=huge_share(log_weight, log_weight - log_mean, huge)
    )


def _beyond(run: Proposed, population: Draws, huge: float) -> tuple[Mode, ...]:
    """The particles that the proposal hardly reaches as one more place for it: their mean and covariance, and their mass."""
    assert population.log_weight is not None
    log_proposal = defended(run.proposal, population.position, population.log_prior, run.defensive)
    there = population.log_prior + population.log_likelihood - log_proposal - run.weights.log_mean
    weight = np.exp(population.log_weight - population.log_weight.max())
    outside = (there > np.log(huge)) & (weight > 0)
    share = float(weight[outside].sum() / weight.sum())
    if share == 0.0:
        return ()
    spread = moments_as_mode(population.position[outside], weight[outside], run.weights.log_mean + np.log(share))
    return () if spread is None else (spread,)


def huge_share(log_weight: Array, log_ratio: Array, huge: float) -> float:
    """Share of the weight at points where the ratio is huge."""
    share = np.exp(log_weight - log_weight.max())
    return float(share[log_ratio > np.log(huge)].sum() / share.sum())
