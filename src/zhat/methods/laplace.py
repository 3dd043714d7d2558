"""Laplace's method: the posterior approximated by a Gaussian at its mode.

    log Z  ~  log L(m) + log prior(m) + (d/2) log 2 pi - (1/2) log det H,      H = -(second derivatives at the mode m).

Exact for a Gaussian posterior, and right to O(1/n) as data grow (Tierney & Kadane 1986). Needs gradients or a black box
that can be differenced. Everything happens in the unconstrained coordinates: the answer depends on the parametrisation
(a beta-binomial with two successes in ten is off by +0.052 in theta and by -0.030 in logit theta).

Damped Newton steps from many starts find the modes (`step_size`, `tolerance`); where these are several and well separated,
their masses are added. A search that does not converge (a mode on the edge of its support lies at infinity), or a
curvature that is not that of a mode, gives a failed result.

*Its error.* There is no Monte Carlo error: the result is a deterministic approximation and `log_evidence_se` is None.
How far it seems to be off is measured by importance sampling from a Student t at the modes: |Laplace - corrected|, with
the corrected value and its standard error in `diagnostics`. The result is suspect when that correction cannot be trusted
(Pareto k) or is large.

*When it lies.* Skewed or heavy-tailed posteriors, modes that no start reached, mass far from the mode. The correction at the
modes does not show the last two. So, up to thirty dimensions, a coverage check follows (`missed_mass.coverage_check`): a small
tempered population from the prior shows mass where the modes are not (`missed-mode`, `missed-peak`). Modes found that way are
added, and everything is computed again. The check takes as long as the rest or somewhat longer; `coverage_check=False` leaves it
out, and a black box never makes it. Cite Tierney & Kadane (1986); section 3.1 of Friel & Wyse (2012).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zhat.errors import BadInput
from zhat.methods._base import Method, check_count
from zhat.missed_mass.effort import SHARP
from zhat.missed_mass.finding import Answer, Finding
from zhat.missed_mass.look import Look, look_for_missed_mass
from zhat.missed_mass.witnesses import Proposed
from zhat.model.model import Model, Offer
from zhat.numerics.logspace import log_sum_exp
from zhat.numerics.weights import Weights
from zhat.results.estimate import Diagnostic, Estimate, Kind, Status
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Mode, Modes, Search, different, find_modes
from zhat.sampling.importance.proposals import at_modes
from zhat.sampling.importance.weighted_draws import weighted_draws
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.learned_modes import learning
from zhat.verdicts.weights import correction_status, weights_status

# Modes nearer than this (in standard deviations) share their mass; adding both would count it twice.
SEPARATE = 4.0
# The prior's share among the draws of the check.
DEFENSIVE = 0.1


@dataclass(frozen=True)
class Laplace(Method):
    """Gaussian approximation at the mode, with an importance-sampling check of `n_check` draws.

    A search starts at each of `n_starts` points; with None a survey of thousands of starts finds the modes. With `coverage_check` a population
    from the prior shows whether a mode was missed.
    """

    n_starts: int | None = None
    tolerance: float = 1e-8
    step_size: float = 1.0
    damping: bool = True
    n_check: int = 4000
    coverage_check: bool = True

    name: ClassVar[str] = "laplace"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.LIKELIHOOD})
    cites: ClassVar[tuple[str, ...]] = ("tierney1986", "friel2012")
    look: ClassVar[Look] = Look.from_prior(SHARP)
    when: ClassVar[str] = "much data, a smooth posterior with one peak; a first number in a second"

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.n_starts is not None:
            check_count("Laplace", "n_starts", self.n_starts, 1, "the search must start somewhere")
        check_count("Laplace", "n_check", self.n_check, 100, "the importance correction needs draws")
        if not self.tolerance > 0:
            raise BadInput(f"Laplace(tolerance={self.tolerance}): must be above zero.")
        if not 0 < self.step_size <= 2:
            raise BadInput(f"Laplace(step_size={self.step_size}): give a step between 0 and 2; Newton's own is 1.")

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        search = Search(tolerance=self.tolerance, step_size=self.step_size, damping=self.damping)
        if self.n_starts is None:
            modes = bench.survey(replace(self.look.effort.survey(model), search=search)).modes
        else:
            n = min(self.n_starts, self.look.effort.searches_of_black_box) if model.is_black_box else self.n_starts
            modes = find_modes(model, bench.prior(), key.child("modes"), bench.loop, replace(search, n_starts=n))
        if not modes.usable:
            return no_peak(modes)
        return learning(lambda at, key: self._at(model, at, key, bench.loop), modes.usable, key)

    def _at(self, model: Model, modes: tuple[Mode, ...], key: Key, loop: Loop) -> tuple[Estimate, Finding | None]:
        """The answer at these modes, and the finding of the check for missed mass, if it was made."""
        peaks, proposal = different(modes, SEPARATE), at_modes(modes)
        log_evidence = float(log_sum_exp([mode.log_mass for mode in peaks]))
        draws = weighted_draws(model, proposal, self.n_check, key.child("check"), loop, DEFENSIVE)
        assert draws.log_weight is not None
        weights = Weights.of(draws.log_weight)
        error = abs(log_evidence - weights.log_mean)
        diagnostics: dict[str, Diagnostic] = {
            "n_modes": len(modes),
            "n_modes_added": len(peaks),
            "mode_log_masses": [float(mode.log_mass) for mode in modes],
            "newton_decrement": float(peaks[0].decrement),
            "importance_corrected": float(weights.log_mean),
            "importance_corrected_se": float(weights.log_mean_se),
            "pareto_k": float(weights.pareto_k),
            "ess": float(weights.ess),
        }
        estimate = Estimate(
            log_evidence=log_evidence,
            log_evidence_se=None,
            no_se_because="a deterministic approximation has no Monte Carlo error; see approximation_error",
            approximation_error=float(error + weights.log_mean_se),
            kind=Kind.APPROXIMATION,
            status=weights_status(weights, "use zhat.SMC()").and_(correction_status(error)).and_(search_status(peaks)),
            diagnostics=diagnostics,
            record=draws,
        )
        effort = self.look.effort
        if not self.coverage_check or not effort.affords_coverage(model) or not estimate.status.is_ok:
            return estimate, None
        answer = Answer(float(weights.log_mean), float(weights.log_mean_se))
        witnesses = Proposed(proposal, draws, weights, DEFENSIVE)
        return estimate, look_for_missed_mass(model, answer, witnesses, effort, key.child("look"), loop)


def search_status(peaks: tuple[Mode, ...]) -> Status:
    """Whether the search has reached each of several modes so often that a further mode is improbable.

    As with species in a sample: where some occur only once or twice, others are probably missing (Good 1953).
    """
    fewest = SHARP.fewest_hits
    rare = [mode for mode in peaks if mode.hits < fewest and mode.log_mass > peaks[0].log_mass - SHARP.negligible]
    if len(peaks) == 1 or not rare:
        return Status.ok()
    return Status.suspect(
        "modes-left",
        f"{len(rare)} of {len(peaks)} separate modes were reached by fewer than {fewest} searches, so there may be more that none "
        "reached: take more starts, zhat.Laplace(n_starts=4096), or use zhat.SMC().",
    )


def no_peak(modes: Modes) -> Estimate:
    """The failure of a search that ended in no mode."""
    best = modes.modes[0] if modes.modes else None
    if best is not None and best.converged:
        sentence = (
            "the curvature at the best point found is not that of a mode (its Hessian is indefinite or singular): the "
            "posterior is flat in some direction there; use zhat.SMC()."
        )
        return Estimate(np.nan, None, Status.failed("no-peak", sentence))
    sentence = (
        f"none of {modes.n_starts} searches for the mode converged: it may lie on the edge of a support (at infinity in "
        "the unconstrained coordinates) or at a boundary of zero likelihood; use zhat.SMC()."
    )
    return Estimate(np.nan, None, Status.failed("no-mode", sentence))
