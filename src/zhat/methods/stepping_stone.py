"""Stepping stones: the evidence as a product of ratios between neighbouring power posteriors.

    log Z = sum_k log( Z(b_{k+1}) / Z(b_k) ),        Z(b) = integral of prior x likelihood^b,     0 = b_0 < ... < b_K = 1.

Each ratio is estimated from draws at its two ends: from below as the mean of L^(b_{k+1} - b_k) at rung k (*forward*: Xie, Lewis,
Fan, Kuo & Chen 2011), from above as one over the mean of L^-(b_{k+1} - b_k) at rung k + 1 (*reverse*), or from both by the
optimal bridge (*bridged*, the default: Bennett 1976, Meng & Wong 1996). Unlike thermodynamic integration none has a
discretisation error: a coarse ladder makes them noisy, not biased. Needs prior draws and a likelihood; the chains are those of
power posteriors, and a run of one method can be read by the other.

*Its standard error.* The islands of chains never exchange states, so the sums of their influences are independent and their
scatter is the standard error, whatever the autocorrelation (`numerics.tempering`). A run of SMC that is read anew has the
standard error with memory between rungs, or that from its genealogy, whichever is larger.

*Checks.* Forward and reverse must agree within the standard error of their difference: forward below and reverse above is the
signature of rungs too far apart. Where the forward weights have a tail, the likelihood has a spike that the chains have not
resolved, whichever estimator is used; the reverse one needs a Pareto k below 1/2 at every stone.

*When it lies.* As power posteriors: chains that are not in equilibrium, which is measured, and a mode that no chain enters, which
only the mode check can show (`missed_mass.mode_check`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from zhat.errors import BadType
from zhat.methods._on_ladder import OnLadder
from zhat.numerics.tempering import (
    Rungs,
    Sum,
    bridged_stones,
    forward_stones,
    reverse_stones,
    steps_of_zero_likelihood,
    with_stones_at_ends,
)
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Array
from zhat.sampling.tempering.ladder_settings import LadderChains
from zhat.sampling.tempering.schedules import AdaptiveESS, Schedule
from zhat.verdicts.tempered import (
    agreement_status,
    chains_status,
    forward_pareto_k,
    reverse_pareto_k,
    settled_run,
    spike_status,
    sum_se,
)
from zhat.verdicts.weights import MAX_PARETO_K

REMEDY = "take more rungs, or give chains=zhat.settings.LadderChains(burn_in=zhat.settings.Moves(at_most=...)) more"


class Direction(Protocol):
    """From which rungs each ratio is estimated."""

    def stones(self, betas: Array, rungs: Rungs) -> Sum:
        """The sum over intervals, one rung for every beta."""
        ...


@dataclass(frozen=True)
class Forward:
    """Each rung reweighted to the next."""

    def stones(self, betas: Array, rungs: Rungs) -> Sum:
        """See `Direction`."""
        return forward_stones(betas, rungs)


@dataclass(frozen=True)
class Reverse:
    """Each rung reweighted to the one before (the first step forward, because the prior may cover points of zero likelihood)."""

    def stones(self, betas: Array, rungs: Rungs) -> Sum:
        """See `Direction`."""
        return reverse_stones(betas, rungs)


@dataclass(frozen=True)
class Bridged:
    """Neighbours joined by the optimal bridge."""

    def stones(self, betas: Array, rungs: Rungs) -> Sum:
        """See `Direction`."""
        return bridged_stones(betas, rungs)


@dataclass(frozen=True)
class SteppingStone(OnLadder):
    """Ratios of neighbouring power posteriors from chains on a ladder from the prior to the posterior."""

    chains: LadderChains = field(default_factory=LadderChains)
    schedule: Schedule = field(default_factory=lambda: AdaptiveESS(0.8))
    direction: Direction = field(default_factory=Bridged)

    name: ClassVar[str] = "stepping-stone"
    evaluations: ClassVar[tuple[float, float]] = (180.0, 25.0)
    cites: ClassVar[tuple[str, ...]] = ("xie2011", "meng1996", "bennett1976")
    when: ClassVar[str] = "as power posteriors, when the ladder is coarse: no discretisation error"

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if not hasattr(self.direction, "stones"):
            raise BadType(
                f"SteppingStone(direction={self.direction!r}): give zhat.settings.Bridged(), zhat.settings.Forward() or zhat.settings.Reverse()."
            )

    def read(self, record: object) -> Estimate:
        """The estimate from an existing tempered run, of chains or of a population."""
        run = settled_run(record, type(self).__name__)
        betas, rungs = run.betas, run.log_likelihood
        # Zero likelihoods occur at the prior (and where conditionals underflow): a reverse weight would be infinite.
        n_first = steps_of_zero_likelihood(rungs)
        total, forward, bridged, reverse = (
            with_stones_at_ends(betas, rungs, stones, n_first)
            for stones in (self.direction.stones, forward_stones, bridged_stones, reverse_stones)
        )
        se, df = sum_se(run, total)
        up, down = forward_pareto_k(run), reverse_pareto_k(run)
        agrees, z = agreement_status(run, reverse.minus(forward), se, ("reverse", "forward stones"), REMEDY)
        # The two one-sided means can be compared only where their own variances exist.
        status = chains_status(run, total, REMEDY).and_(spike_status(up))
        if max(up, down) < MAX_PARETO_K:
            status = status.and_(agrees)
        one_sided = down if isinstance(self.direction, Reverse) else -np.inf
        if one_sided >= MAX_PARETO_K:
            status = status.and_(
                Status.suspect(
                    "pareto-k",
                    f"the weights of a stone have Pareto k = {one_sided:.2f} (flagged from {MAX_PARETO_K}, where their variance may be "
                    "infinite); take more rungs, or direction=zhat.settings.Bridged(), whose terms are bounded.",
                )
            )
        diagnostics: dict[str, Diagnostic] = {
            "n_rungs": len(betas) - 1,
            "n_chains": int(rungs[0].shape[1]),
            "betas": [float(b) for b in betas],
            "forward": forward.value,
            "bridged": bridged.value,
            "reverse": reverse.value,
            "reverse_minus_forward_z": float(z),
            "largest_forward_pareto_k": up,
            "largest_reverse_pareto_k": down,
            "moves_per_rung": [float(m) for m in run.n_moves],
            "acceptance": [float(a) for a in run.acceptance],
            "largest_memory": float(run.memory.max()),
        }
        return Estimate(
            log_evidence=total.value,
            log_evidence_se=se,
            degrees_of_freedom=df,
            status=status,
            diagnostics=diagnostics,
            record=run,
        )
