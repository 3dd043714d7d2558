"""The check for missed mass of a model without a prior to draw from: a survey of the modes from points around the draws.

Where only the joint density is known, nothing can start from the prior. Starts come instead from a normal around the posterior
draws, three times as wide as they are, and importance sampling at the modes that the survey finds is compared with the
answer, as for other models (`missed_mass.mode_check`).

*What it cannot see*: a mode farther away than some ten standard deviations of the draws, and mass that has no mode of its own.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zhat.errors import BadInput, NonFiniteLikelihood
from zhat.missed_mass.effort import EFFORT, Effort
from zhat.missed_mass.finding import Answer, Finding, Progress, Unseen
from zhat.missed_mass.mode_check import compare_at_modes, modes_above_run
from zhat.model.model import Model
from zhat.numerics.resampling import systematic
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import unscreened_densities
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.chains.transitions import moments
from zhat.sampling.importance.proposals import Gaussian
from zhat.sampling.importance.survey import survey_modes
from zhat.seeding import Key


def points_around(model: Model, position: Array, n: int, key: Key, loop: Loop) -> Draws:
    """n points of a wide normal around some draws (k, d), with their densities; zero where these are not finite numbers."""
    mean, covariance = moments(position)
    points = Gaussian(mean, EFFORT.wider**2 * covariance).draw(key.generator(), n)
    log_prior, log_likelihood = unscreened_densities(model, points, loop)
    log_likelihood = np.where(np.isfinite(log_likelihood), log_likelihood, -np.inf)
    return Draws(position=points, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=n)


def look_around_draws(
    model: Model, answer: Answer, draws: Draws, equal_weight: bool, effort: Effort, key: Key, loop: Loop
) -> Finding:
    """Compare an answer with importance sampling at the modes that searches from around its draws find."""
    position = draws.position
    if draws.log_weight is not None:
        position = position[systematic(draws.log_weight, float(key.child("rows").generator().random()), len(position))]
    finding = Finding(answer, effort, unseen=(Unseen.PRIOR,))
    try:
        modes = modes_above_run(model, draws, effort, key, loop)
        around = partial(_around, model, position, loop)
        survey = survey_modes(model, effort.survey(model), key.child("around"), loop, modes, around)
        visitors = position if equal_weight else None
        return compare_at_modes(model, (*modes, *survey.modes.usable), finding, key, loop, visitors)
    except (Stopped, NonFiniteLikelihood, BadInput) as trouble:  # the finished run is kept; its verdict states this
        return Finding(answer, effort, mode_check=Progress.NOT_DONE, stopped=str(trouble), unseen=(Unseen.PRIOR,))


def _around(model: Model, position: Array, loop: Loop, n: int, key: Key) -> Draws:
    return points_around(model, position, n, key, loop)
