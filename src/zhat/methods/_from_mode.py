"""Sequential Monte Carlo from a normal near the posterior, and its check from the prior (`sampling.importance.reference`)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from zhat.missed_mass.chain_view import Way, view_from_chains
from zhat.missed_mass.effort import Effort
from zhat.missed_mass.finding import Answer, Finding, Progress
from zhat.missed_mass.prior_view import view_from_prior
from zhat.model.model import Model
from zhat.results.estimate import Estimate, Status
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.importance.modes import Mode, different
from zhat.sampling.importance.survey import Survey
from zhat.seeding import Key

REMEDY = "use zhat.SMC(start=zhat.settings.PathFromPrior()), which needs no mode"
# Dimensions up to which a run has as many particles as are asked for; above, fewer in proportion, because a move takes d^2 operations a
# particle, and 800 in a thousand dimensions give a standard error of a few hundredths.
ALL_UP_TO = 100
FEWEST_PARTICLES = 400
# A standard error of weights that are all equal, as a share of the log evidence: their rounding. Zero would say that nothing can be missing.
ROUNDING = 1e-12
# Standard deviation of the log weights of the normal's own draws above which the path to the posterior has hundreds of rungs.
FAR = 60.0


def n_particles_of(asked: int, n_dimensions: int, n_islands: int) -> int:
    """Particles of a run: as many as asked for, fewer in proportion in hundreds of dimensions."""
    affordable = max(min(asked, FEWEST_PARTICLES), asked * min(1.0, ALL_UP_TO / n_dimensions))
    return n_islands * math.ceil(affordable / n_islands)


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
        f"posterior is far from normal, and the path from there would take hundreds of rungs; {REMEDY}, or declare latent Gaussian parameters with zhat.latent."
    )
    return Estimate(np.nan, None, Status.failed("far-from-normal", sentence))


def seen_from_chains(
    model: Model, answer: Answer, way: Way, survey: Survey, effort: Effort, key: Key, loop: Loop
) -> tuple[Finding, Status]:
    """The answer beside the log evidence by annealing back from posterior chains, and whether these chains agree with each other."""
    finding = Finding(answer, effort, basin_resolution=survey.resolution)
    try:
        view = view_from_chains(model, way, effort, key, loop)
    except Stopped as stopped:
        return replace(finding, coverage_check=Progress.NOT_DONE, stopped=str(stopped)), Status.ok()
    finding = replace(finding, coverage_check=Progress.DONE, from_chains=view.estimate)
    if view.estimate is not None:
        return finding, Status.ok()
    sentence = (
        f"chains from prior draws have R-hat = {view.r_hat:.2f} (flagged above {effort.r_hat}): they have not reached one distribution, so that "
        f"the path from the mode may have missed part of the posterior; {REMEDY}."
    )
    return finding, Status.suspect("chains-disagree", sentence)


def seen_from_prior(model: Model, answer: Answer, survey: Survey, effort: Effort, key: Key, loop: Loop) -> Finding:
    """The answer beside the log evidence of a small population tempered from the prior."""
    finding = Finding(answer, effort, basin_resolution=survey.resolution)
    view = view_from_prior(model, replace(effort, further_populations=0), key, loop)
    if view.draws is None:
        return replace(finding, coverage_check=Progress.NOT_DONE, stopped=str(loop.stopped))
    return replace(finding, coverage_check=Progress.DONE, from_population=view.estimate)
