"""Laplace's method: the posterior read as a Gaussian at its mode.

    log Z  ~  log L(m) + log prior(m) + (d/2) log 2 pi - (1/2) log det H,      H = -(second derivatives at the mode m).

Exact for a Gaussian posterior, and right to O(1/n) as data grow (Tierney & Kadane 1986). Needs gradients or a black box
that can be differenced. Everything happens in the unconstrained coordinates: the answer depends on the parametrisation
(a beta-binomial with two successes in ten is off by +0.052 in theta and by -0.030 in logit theta).

Several starts climb with damped Newton steps (`step_size`, `tolerance`); where they end in several well separated modes,
their masses are added. A search that does not converge (a mode on the edge of its support lies at infinity), or a
curvature that is not that of a peak, fails with a sentence.

*Its error.* There is no Monte Carlo error: the result is a deterministic approximation and `log_evidence_se` is None.
How far it seems to be off is measured by importance sampling from a Student t at the modes: |Laplace - corrected|, with
the corrected value and its own error in `diagnostics`. The result is suspect when that correction cannot be trusted
(Pareto k) or is large.

*When it lies.* Skewed or heavy-tailed posteriors, modes that no start reached, masses far from the mode. Of the last two the
correction at the modes knows nothing; so, up to thirty dimensions, a small population climbs from the prior as well, and is asked
whether it stands, or stood on its way, where the modes are not (`missed-mode`, `missed-peak`). Modes found so are added, and all
is done again. That takes as long as the rest or somewhat longer; `look_from_prior=False` leaves it out, and a black box is never
asked so much.
Cite Tierney & Kadane (1986); the review's section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zhat.errors import BadInput
from zhat.methods._base import Method, check_count
from zhat.missed_mass.coverage_check import check_coverage, learning
from zhat.model.model import Model, Offer
from zhat.numerics.logspace import log_sum_exp
from zhat.numerics.weights import Weights
from zhat.results.estimate import Diagnostic, Estimate, Kind, Status
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Mode, Modes, Search, different, find_modes, many_starts
from zhat.sampling.importance.proposals import at_modes
from zhat.sampling.importance.weighted_draws import weighted_draws
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.weights import correction_status, weights_status

# Modes nearer than this (in standard deviations) share their mass; adding both would count it twice.
SEPARATE = 4.0
# Searches that must end at each of several peaks before there is taken to be no other.
MIN_HITS = 3
# Dimensions up to which a population from the prior takes no more than a second or two.
FEW_DIMENSIONS = 30
# The prior's share among the draws of the check.
DEFENSIVE = 0.1


@dataclass(frozen=True)
class Laplace(Method):
    """Gaussian approximation at the mode, with an importance-sampling check of `n_check` draws.

    The search starts at `n_starts` points; None is 1,024, fewer in more than ten dimensions. With `look_from_prior` particles
    from the prior are asked whether a mode was missed.
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
        many = many_starts(model)
        search = Search(
            n_starts=many if self.n_starts is None else min(self.n_starts, 4) if model.is_black_box else self.n_starts,
            tolerance=self.tolerance,
            step_size=self.step_size,
            damping=self.damping,
        )
        found = find_modes(model, bench.prior(), key.child("modes"), bench.loop, search)
        if not found.usable:
            return no_peak(found)
        return learning(lambda modes, key: self._at(model, modes, key, bench.loop), found.usable, key)

    def _at(self, model: Model, modes: tuple[Mode, ...], key: Key, loop: Loop) -> tuple[Estimate, tuple[Mode, ...]]:
        """The answer at these modes, and the modes that it missed."""
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
            status=weights_status(weights, "use SMC instead").and_(correction_status(error)).and_(search_status(peaks)),
            diagnostics=diagnostics,
            record=draws,
        )
        if not self.coverage_check or model.is_black_box or model.n_dimensions > FEW_DIMENSIONS or not estimate.status.is_ok:
            return estimate, ()
        seen = check_coverage(model, proposal, DEFENSIVE, weights, draws.log_weight, key.child("look"), loop)
        return estimate.doubted(seen.status, seen.diagnostics), seen.modes


def search_status(peaks: tuple[Mode, ...]) -> Status:
    """Whether the search has seen enough of each of several peaks to believe that there is no further one.

    As with species in a sample: where some were met only once or twice, others were not met at all (Good 1953).
    """
    rare = [mode for mode in peaks if mode.hits < MIN_HITS and mode.log_mass > peaks[0].log_mass - 5.0]
    if len(peaks) == 1 or not rare:
        return Status.ok()
    return Status.suspect(
        "modes-left",
        f"{len(rare)} of {len(peaks)} separate peaks were reached by fewer than {MIN_HITS} searches, so there may be more "
        "that none reached: take more starts (n_starts=...), or use SMC.",
    )


def no_peak(found: Modes) -> Estimate:
    """The failure of a search that ended in no peak."""
    best = found.modes[0] if found.modes else None
    if best is not None and best.converged:
        sentence = (
            "the curvature at the best point found is not that of a peak (its Hessian is indefinite or singular): the "
            "posterior is flat in some direction there; use SMC."
        )
        return Estimate(np.nan, None, status=Status.failed("no-peak", sentence), no_se_because=sentence)
    sentence = (
        f"none of {found.n_starts} searches for the mode converged: it may lie on the edge of a support (at infinity in "
        "the unconstrained coordinates) or at a wall of zero likelihood; use SMC."
    )
    return Estimate(np.nan, None, status=Status.failed("no-mode", sentence), no_se_because=sentence)
