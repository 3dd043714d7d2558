"""The mode check: importance sampling at the modes, as a second estimate beside one from the prior or from chains.

A run that starts from the prior misses a mode that no particle comes near (a first-order transition). Searches for modes start
from the particles at the posterior, from many prior draws, and from the outlying points of the run, and importance sampling at
these modes gives a second estimate. (Prior draws and outlying points are needed because a mode that the run has lost on the path
is near none of its final particles.) That estimate of Z is unbiased, so by Markov's inequality it exceeds log Z by b with
probability at most exp(-b): one that is clearly larger than the run's answer proves that the run missed mass.

An answer that is known to thousandths is checked more sharply: whether its draws visit every mode as often as importance sampling
finds that they should. A mode with two hundredths of the posterior is too small to show in the total, but is twenty standard
errors of such an answer.

*What it cannot see*: a mode that no search reaches.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zhat.errors import NonFiniteLikelihood
from zhat.missed_mass.effort import Effort
from zhat.missed_mass.finding import Answer, Finding, Progress, SecondEstimate, Unseen
from zhat.missed_mass.witnesses import Sampled
from zhat.model.model import Model
from zhat.numerics.weights import Weights
from zhat.results.records import Array, Draws
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.importance.from_draws import around_weighted
from zhat.sampling.importance.modes import Mode, Search, different, find_modes
from zhat.sampling.importance.proposals import Mixture, Proposal, at_modes
from zhat.sampling.importance.survey import Survey, survey_modes
from zhat.sampling.importance.weighted_draws import weighted_draws
from zhat.seeding import Key


def mode_check(model: Model, answer: Answer, run: Sampled, effort: Effort, key: Key, loop: Loop) -> Finding:
    """Search for modes from a run's points, the prior and outlying points; compare importance sampling there with the answer."""
    finding = Finding(
        answer, effort, from_prior_draws=mean_likelihood(run.prior_draws), unseen=(Unseen.OUTLIERS,) if model.is_black_box else ()
    )
    try:
        modes, survey = _modes_of(model, run, effort, key, loop)
        finding = replace(finding, basin_resolution=survey.resolution)
        visitors = run.draws.position if run.equal_weight else None
        around = None if run.around is None else around_weighted(run.around, key.child("around"))
        return compare_at_modes(model, modes, finding, key, loop, visitors, around)
    except (
        Stopped,
        NonFiniteLikelihood,
    ) as trouble:  # the finished run is kept, and its verdict states that the check was not finished
        return replace(finding, mode_check=Progress.NOT_DONE, stopped=str(trouble))


def mean_likelihood(prior: Draws | None) -> SecondEstimate | None:
    """The mean likelihood of prior draws, as a second estimate."""
    return None if prior is None else _estimate(Weights.of(prior.log_likelihood))


def _estimate(weights: Weights) -> SecondEstimate:
    return SecondEstimate(float(weights.log_mean), float(weights.log_mean_se), float(weights.pareto_k))


def _modes_of(model: Model, run: Sampled, effort: Effort, key: Key, loop: Loop) -> tuple[tuple[Mode, ...], Survey]:
    """The usable modes reached from a run's points, the prior and outlying points, some of them twice; and the survey from the prior."""
    modes = modes_above_run(model, run.draws, effort, key, loop)
    survey = survey_modes(model, effort.survey(model), key.child("prior"), loop, modes)
    modes = (*modes, *survey.modes.usable)
    if run.outliers is not None:
        modes = (*modes, *modes_above(model, run.outliers, effort, key.child("climb of scouts"), loop))
    if run.passed is not None:
        modes = (*modes, *modes_passed(model, run.passed, modes, effort, key.child("passed"), loop))
    return modes, survey


def modes_passed(model: Model, passed: Draws, known: tuple[Mode, ...], effort: Effort, key: Key, loop: Loop) -> tuple[Mode, ...]:
    """The usable modes reached from points of a tempered run that no known mode explains.

    A particle at a high temperature may be in the basin of a mode that its descendants lose. It need not lie apart from the others, but
    the density does not rise along the line from it to the known modes (`sampling.importance.survey`), at a few likelihoods a point.
    """
    starts = effort.survey(model)
    n = min(len(passed.position), starts.n_at_most)
    rows = np.sort(key.generator().permutation(len(passed.position))[:n])
    some = Draws(
        position=passed.position[rows], log_prior=passed.log_prior[rows], log_likelihood=passed.log_likelihood[rows], n_drawn=n
    )
    # The first searches alone: where hundreds of points are unexplained the posterior is curved, and they lead to known modes.
    starts = replace(starts, n_starts=n, n_at_most=n, n_searches=0)
    return survey_modes(model, starts, key, loop, known, lambda n, key: some).modes.usable


def modes_above_run(model: Model, draws: Draws, effort: Effort, key: Key, loop: Loop) -> tuple[Mode, ...]:
    """The usable modes reached from a run's last points."""
    search = Search(n_starts=effort.starts_from_run, max_iterations=effort.steps)
    return find_modes(model, draws, key.child("climb"), loop, search).usable


def modes_above(model: Model, outliers: Draws, effort: Effort, key: Key, loop: Loop) -> tuple[Mode, ...]:
    """The usable modes reached from outlying points. A point in a basin is a few steps from its mode; others need not converge."""
    # Padded to a power of two: a search is compiled for every number of starts, which takes longer than the search.
    n = len(outliers.position)
    twice = np.arange(1 << (n - 1).bit_length()) % n
    some = Draws(
        position=outliers.position[twice],
        log_prior=outliers.log_prior[twice],
        log_likelihood=outliers.log_likelihood[twice],
        n_drawn=len(twice),
    )
    return find_modes(model, some, key, loop, Search(n_starts=len(twice), max_iterations=effort.steps_from_outlier)).usable


def compare_at_modes(
    model: Model,
    modes: tuple[Mode, ...],
    finding: Finding,
    key: Key,
    loop: Loop,
    visitors: Array | None = None,
    around: Proposal | None = None,
) -> Finding:
    """The finding with importance sampling at these modes, and with the largest share that posterior draws do not visit.

    A proposal `around` the draws of a run has tails beyond them: it sees what a run from regions cut off its posterior.
    """
    if not modes:
        return replace(finding, mode_check=Progress.NO_MODE, unseen=(*finding.unseen, Unseen.MODES))
    effort = finding.effort
    proposal = at_modes(modes) if around is None else Mixture((at_modes(modes), around), (0.5, 0.5))
    draws = weighted_draws(model, proposal, effort.n_draws_at_modes, key.child("draws"), loop)
    assert draws.log_weight is not None
    second = _estimate(Weights.of(draws.log_weight))
    finding = replace(finding, mode_check=Progress.DONE, at_modes=second)
    if visitors is None or finding.modes_exceed or not second.pareto_k < effort.trusted_pareto_k:
        return finding
    return replace(finding, unvisited_share=unvisited_share(modes, draws, visitors, effort))


def unvisited_share(modes: tuple[Mode, ...], draws: Draws, visitors: Array, effort: Effort) -> float:
    """The largest share of the posterior at a mode, by weighted draws, that posterior draws hardly visit."""
    assert draws.log_weight is not None
    weight = np.exp(draws.log_weight - draws.log_weight.max())
    weight /= weight.sum()
    worst = 0.0
    for mode in different(modes):
        inside = _near(mode, draws.position, effort)
        share, visited = float(weight[inside].sum()), float(_near(mode, visitors, effort).mean())
        se = float(np.sqrt((weight**2 * (inside - share) ** 2).sum()))
        if visited < effort.seldom * share and share - visited > effort.visit_errors * se:
            worst = max(worst, share - visited)
    return worst


def visited_share(modes: tuple[Mode, ...], draws: Draws, population: Draws, effort: Effort) -> float:
    """The share of the posterior, by weighted draws, outside the modes that a weighted population hardly visits."""
    assert draws.log_weight is not None and population.log_weight is not None
    weight, other = (np.exp(log - log.max()) for log in (draws.log_weight, population.log_weight))
    weight, other = weight / weight.sum(), other / other.sum()
    lost = np.zeros(len(weight), dtype=bool)
    for mode in different(modes):
        share, visited = weight[_near(mode, draws.position, effort)].sum(), other[_near(mode, population.position, effort)].sum()
        if visited < effort.seldom * share:
            lost |= _near(mode, draws.position, replace(effort, near=effort.all_of_mode))
    return float(weight[~lost].sum())


def _near(mode: Mode, position: Array, effort: Effort) -> NDArray[np.bool_]:
    """Which points lie where nearly all of a normal at this mode would."""
    d = len(mode.position)
    return np.asarray(mode.distances(position) ** 2 <= d + effort.near * np.sqrt(2.0 * d))
