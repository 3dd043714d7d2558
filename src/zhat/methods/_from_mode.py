"""Sequential Monte Carlo from a normal near the posterior, and its check from the prior (`sampling.importance.reference`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zhat.missed_mass.effort import Effort
from zhat.missed_mass.finding import Answer, Finding, Progress
from zhat.missed_mass.prior_view import view_from_prior
from zhat.model.model import Model
from zhat.results.estimate import Estimate, Status
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Mode, different
from zhat.sampling.importance.survey import Survey
from zhat.seeding import Key

REMEDY = "use zhat.SMC(start=zhat.settings.PathFromPrior()), which needs no mode"
# Particles x dimensions of a run: a move takes d^2 operations a particle, and 800 particles in a thousand dimensions give a standard error
# of a few hundredths.
PARTICLES_TIMES_DIMENSIONS = 800_000
FEWEST_PARTICLES = 400
# Standard deviation of the log weights of the normal's own draws above which the path to the posterior has hundreds of rungs.
FAR = 60.0


def n_particles_of(asked: int, n_dimensions: int, n_islands: int) -> int:
    """Particles of a run: as many as asked for, fewer in hundreds of dimensions."""
    affordable = max(FEWEST_PARTICLES, PARTICLES_TIMES_DIMENSIONS // n_dimensions)
    return asked if asked <= affordable else n_islands * -(-affordable // n_islands)


def one_mode(survey: Survey, negligible: float) -> Mode | Estimate:
    """The mode to start from, or what is said where there is none, or more than one that matters."""
    usable = different(survey.modes.usable)
    if not usable:
        sentence = f"none of {survey.modes.n_starts} searches ended in a mode at which a normal can be put; {REMEDY}."
        return Estimate(np.nan, None, Status.failed("no-mode", sentence))
    n = sum(mode.log_mass > usable[0].log_mass - negligible for mode in usable)
    if n > 1 or survey.ended_early:
        sentence = f"the posterior has {n} modes that matter, and tempering from one of them would miss the others; {REMEDY}."
        return Estimate(np.nan, None, Status.failed("many-modes", sentence))
    return usable[0]


def too_far(log_likelihood: np.ndarray) -> Estimate | None:
    """What is said where the normal is so far from the posterior that the path would be no shorter than that from the prior."""
    finite = log_likelihood[np.isfinite(log_likelihood)]
    spread = float(finite.std()) if len(finite) > 1 else np.inf
    if spread <= FAR:
        return None
    sentence = (
        f"the log weights of a normal near the posterior have a standard deviation of {spread:.0f} (above {FAR:.0f} is refused): the "
        f"posterior is far from normal, and the path from there would take hundreds of rungs; {REMEDY}."
    )
    return Estimate(np.nan, None, Status.failed("far-from-normal", sentence))


def seen_from_prior(model: Model, answer: Answer, survey: Survey, effort: Effort, key: Key, loop: Loop) -> Finding:
    """The answer beside the log evidence of a small population tempered from the prior."""
    finding = Finding(answer, effort, basin_resolution=survey.resolution)
    view = view_from_prior(model, replace(effort, further_populations=0), key, loop)
    if view.draws is None:
        return replace(finding, coverage_check=Progress.NOT_DONE, stopped=str(loop.stopped))
    return replace(finding, coverage_check=Progress.DONE, from_population=view.estimate)
