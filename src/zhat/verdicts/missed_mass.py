"""From a finding of the check for missed mass to a verdict."""

from __future__ import annotations

import numpy as np

from zhat.missed_mass.effort import EFFORT
from zhat.missed_mass.finding import Finding, Progress
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Array

# For the diagnostics of an answer from chains whose check for missed mass was switched off.
NOT_LOOKED: dict[str, Diagnostic] = {"mode_check": Progress.NOT_MADE.value}


def missed_mass_status(finding: Finding) -> Status:
    """The verdict of a check for missed mass on the answer."""
    status = Status.ok()
    if finding.prior_draws_exceed and finding.from_prior_draws is not None:
        excess = finding.from_prior_draws.excess(finding.answer)
        status = status.and_(
            Status.suspect(
                "missed-mass",
                f"the mean likelihood of prior draws exceeds this answer by {excess:.2f} nats, "
                f"{_errors(finding.from_prior_draws.joint_errors(finding.answer))}: the chains have missed part of the posterior; "
                "use zhat.SMC(), which starts from the prior.",
            )
        )
    if finding.population_exceeds and finding.from_population is not None:
        excess = finding.from_population.excess(finding.answer)
        status = status.and_(
            Status.suspect(
                "missed-mode",
                f"a tempered population from the prior finds {excess:.2f} nats more than this answer, "
                f"{_errors(finding.from_population.joint_errors(finding.answer))}: the proposal has missed part of the posterior; use "
                "zhat.SMC().",
            )
        )
    if finding.chains_exceed and finding.from_chains is not None:
        excess = finding.from_chains.excess(finding.answer)
        status = status.and_(
            Status.suspect(
                "missed-mode",
                f"annealing back from posterior chains that started at prior draws finds {excess:.2f} nats more than this answer, "
                f"{_errors(finding.from_chains.joint_errors(finding.answer))}: the path from the mode has missed part of the posterior; "
                "use zhat.SMC(start=zhat.settings.PathFromPrior()).",
            )
        )
    if finding.is_uncovered and finding.coverage is not None:
        status = status.and_(
            Status.suspect(
                "missed-mode",
                f"{finding.coverage.population:.1%} of a tempered population from the prior lie where the answer's own density hardly "
                f"reaches ({finding.coverage.draws:.1%} of its own draws do): part of the posterior was missed; use zhat.SMC().",
            )
        )
    if finding.modes_exceed and finding.at_modes is not None:
        excess = finding.at_modes.excess(finding.answer)
        status = status.and_(
            Status.suspect(
                "missed-peak",
                f"importance sampling at the modes finds {excess:.2f} nats more than this run, "
                f"{_errors(finding.at_modes.joint_errors(finding.answer))}: the run has missed a mode; compare zhat.SMC() and "
                "zhat.Importance(), and trust neither alone.",
            )
        )
    elif finding.is_unvisited:
        status = status.and_(
            Status.suspect(
                "missed-peak",
                f"importance sampling finds a mode with {finding.unvisited_share:.1%} of the posterior that the draws hardly ever "
                "visit: this answer is low by about as much; use zhat.Importance() or zhat.SMC().",
            )
        )
    return status if finding.stopped is None else status.and_(unchecked(finding.stopped))


def _errors(joint: float) -> str:
    return f"{joint:.1f} joint standard errors"


def unchecked(why: str) -> Status:
    """The verdict on a finished estimate whose check for missed mass was not finished."""
    return Status.suspect(
        "unchecked",
        f"the estimate is finished, but the check for missed mass is not ({why}), so it may be far too low: give "
        "zhat.Budget(...) more, or let the run end.",
    )


def after_look(estimate: Estimate, finding: Finding) -> Estimate:
    """The estimate with the finding of a check for missed mass."""
    return estimate.doubted(missed_mass_status(finding), finding.diagnostics)


def other_peaks_status(shares: Array, names: tuple[str, ...]) -> Status:
    """Whether searches from prior draws, in these models of a family, end at the modes that are known."""
    worst = int(np.argmax(shares))
    if shares[worst] < EFFORT.missed_share:
        return Status.ok()
    return Status.suspect(
        "several-modes",
        f"searches from prior draws end at other modes of {names[worst]}, with about {shares[worst]:.0%} of its mass: families are "
        'sampled around one mode a model; use zhat.compare({...}, method="smc").',
    )
