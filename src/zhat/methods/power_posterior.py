"""Power posteriors: the log evidence as the area under the mean log likelihood, from prior to posterior.

    log Z = integral over beta from 0 to 1 of E_beta[log L],

E_beta being the mean under the power posterior, prior x likelihood^beta (Gelman & Meng 1998; Friel & Pettitt 2008). Chains run on
a ladder of inverse temperatures beta; each of these, a rung, starts from the one before, and a quadrature rule integrates the
means at the rungs. Needs prior draws and a likelihood, and any kernel that leaves a power posterior invariant: Gibbs sweeps from
tempered conditionals where the model gives them, otherwise fitted proposals, with gradients in reserve.

*Two errors, told apart.* The *discretisation* error belongs to the rule. Since dE/dbeta = Var_beta[log L], the variances that the
same draws give correct the trapezoid (Friel, Hurn & Wyse 2014): on the default ladder what is left is far below the noise. It is
estimated by leaving out every other rung. The first step, from the prior, is a stepping stone instead (and so are those after it
over which the variance falls steeply): there E_beta[log L] bends most, and is infinite where the likelihood can be zero. The
*Monte Carlo* standard error is the scatter between islands of chains: islands never exchange states, so their estimates are
independent, whatever the autocorrelation within and between rungs. The standard error reported combines both.

*Bounds for free.* E_beta[log L] never falls with beta, so left and right sums enclose log Z; they are among the diagnostics,
as is the plain trapezoid.

*Checks.* The slope of the means between two rungs must lie between the variances at both (thermodynamic identity), and bridged
stepping stones, another estimator from the same draws, must agree: a rung that is not in equilibrium, or a sharp bend between two
rungs, breaks these.

*When it lies.* Chains that are not in equilibrium at a rung lag behind it; their correlation with their starts is measured, and
flagged (`stuck`). A mode that no chain enters leaves no trace in them, so a mode check follows (`missed_mass.mode_check`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from zhat.errors import BadType
from zhat.kinds import checked_kinds
from zhat.methods._on_ladder import OnLadder
from zhat.numerics.quadrature import riemann_bounds
from zhat.numerics.tempering import (
    Rungs,
    Sum,
    bridged_stones,
    discretisation_error,
    identity_z,
    steps_corrected_too_far,
    steps_of_steep_variance,
    steps_of_zero_likelihood,
    thermodynamic,
    with_stones_at_ends,
)
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Array, PathRun
from zhat.sampling.tempering.ladder_settings import LadderChains
from zhat.sampling.tempering.schedules import AdaptiveESS, Schedule
from zhat.verdicts.tempered import (
    MAX_Z,
    agreement_status,
    chains_status,
    forward_pareto_k,
    settled_run,
    spike_status,
    sum_se,
)

REMEDY = "give chains=zhat.settings.LadderChains(burn_in=zhat.settings.Moves(at_most=...)) more, more rungs, or another kernel"


class Rule(Protocol):
    """A quadrature rule over the rungs."""

    @property
    def corrected(self) -> bool:
        """Whether the rungs' variances correct the trapezoid."""
        ...

    def n_stones(self, betas: Array, rungs: Rungs) -> int:
        """How many steps from the prior on are stepping stones."""
        ...


@dataclass(frozen=True)
class Trapezoid:
    """The rule of Friel & Wyse (2012): straight lines between the rungs' means, the prior's included if that is finite."""

    @property
    def corrected(self) -> bool:
        """See `Rule`."""
        return False

    def n_stones(self, betas: Array, rungs: Rungs) -> int:
        """See `Rule`."""
        return 0 if np.isfinite(rungs[0]).all() else 1


@dataclass(frozen=True)
@checked_kinds
class SecondOrder:
    """The trapezoid corrected by the rungs' variances.

    The correction assumes that E_beta[log L] is smooth over a step. Where its variance falls by more than `steep` times in one,
    as it does next to a prior with heavy tails, the step is a stepping stone; the first step, from the prior itself, always is;
    and so are all up to the last one at which the corrected value would lie outside the bounds of a non-decreasing curve.
    """

    steep: float = 3.0

    @property
    def corrected(self) -> bool:
        """See `Rule`."""
        return True

    def n_stones(self, betas: Array, rungs: Rungs) -> int:
        """See `Rule`."""
        return max(1, steps_of_steep_variance(rungs, self.steep), steps_corrected_too_far(betas, rungs))


@dataclass(frozen=True)
class PowerPosterior(OnLadder):
    """Thermodynamic integration over chains on a ladder from the prior to the posterior."""

    chains: LadderChains = field(default_factory=lambda: LadderChains(n_chains=400, n_kept=10))
    schedule: Schedule = field(default_factory=lambda: AdaptiveESS(0.97))
    rule: Rule = field(default_factory=SecondOrder)

    name: ClassVar[str] = "power-posterior"
    evaluations: ClassVar[tuple[float, float]] = (220.0, 50.0)
    cites: ClassVar[tuple[str, ...]] = ("friel2008", "friel2014", "gelman1998")
    when: ClassVar[str] = "one broad mode, Gibbs conditionals at hand, a curve that explains where the evidence comes from"

    def __post_init__(self) -> None:
        """Check the settings."""
        super().__post_init__()
        if not hasattr(self.rule, "n_stones"):
            raise BadType(f"PowerPosterior(rule={self.rule!r}): give zhat.settings.SecondOrder() or zhat.settings.Trapezoid().")

    def read(self, record: object) -> Estimate:
        """The estimate from an existing tempered run, of chains or of a population."""
        run = settled_run(record, type(self).__name__)
        betas, rungs = run.betas, run.log_likelihood
        rule = self.rule
        # Where likelihoods of Gibbs draws underflow, rungs above the prior have zero likelihoods too.
        start, stop = max(rule.n_stones(betas, rungs), steps_of_zero_likelihood(rungs)), len(rungs)
        total = with_stones_at_ends(betas, rungs, _integral(rule.corrected), start)
        monte_carlo, df = sum_se(run, total)
        inner = betas[start:stop], rungs[start:stop]
        discretisation = discretisation_error(*inner, rule.corrected) if stop - start > 1 else 0.0
        se = float(np.hypot(monte_carlo, discretisation))
        bridged = with_stones_at_ends(betas, rungs, bridged_stones, start)
        agrees, z = agreement_status(run, total.minus(bridged), se, ("the integral", "bridged stepping stones"), REMEDY)
        identity = identity_z(*inner) if stop - start > 1 else np.zeros(0)
        status = chains_status(run, total, REMEDY)
        # A coarse ladder explains a difference from the stones by itself, and has a code of its own.
        coarse = discretisation > max(monte_carlo, 1e-9)
        if coarse:
            status = status.and_(
                Status.suspect(
                    "coarse-ladder",
                    f"the rungs are so far apart that the discretisation error is about {discretisation:.3f}, more than the Monte Carlo "
                    f"standard error of {monte_carlo:.3f}: take more rungs, or rule=zhat.settings.SecondOrder(), which is more accurate "
                    "on the same rungs.",
                )
            )
        else:
            status = status.and_(agrees).and_(_identity_status(inner[0], identity))
        forward_k = forward_pareto_k(run)
        status = status.and_(spike_status(forward_k))
        diagnostics = self._diagnostics(run, total, monte_carlo, discretisation, identity, start)
        diagnostics |= {"bridged_stones": bridged.value, "against_bridged_z": float(z), "largest_pareto_k": forward_k}
        return Estimate(
            log_evidence=total.value,
            log_evidence_se=se,
            degrees_of_freedom=df,
            status=status,
            diagnostics=diagnostics,
            record=run,
        )

    def _diagnostics(
        self, run: PathRun, total: Sum, monte_carlo: float, discretisation: float, identity: Array, start: int
    ) -> dict[str, Diagnostic]:
        betas, rungs = run.betas, run.log_likelihood
        diagnostics: dict[str, Diagnostic] = {
            "n_rungs": len(betas) - 1,
            "n_chains": int(rungs[0].shape[1]),
            "betas": [float(b) for b in betas],
            "mean_log_likelihood": [float(rung.mean()) for rung in rungs],
            "variance_log_likelihood": [float(rung.var()) if np.isfinite(rung).all() else np.inf for rung in rungs],
            "monte_carlo_error": monte_carlo,
            "discretisation_error": discretisation,
            "moves_per_rung": [float(m) for m in run.n_moves],
            "acceptance": [float(a) for a in run.acceptance],
            "largest_memory": float(run.memory.max()),
            "identity_z": [float(value) for value in identity],
        }
        if len(rungs) == len(betas):
            plain = with_stones_at_ends(betas, rungs, _integral(False), start)
            means = [rung.mean() for rung in rungs[start:]]
            lower, upper = riemann_bounds(betas[start:], means) if len(means) > 1 else (0.0, 0.0)
            stone = total.value - with_stones_at_ends(betas[start:], rungs[start:], _integral(self.rule.corrected), 0).value
            diagnostics |= {"trapezoid": plain.value, "lower_bound": stone + lower, "upper_bound": stone + upper}
        return diagnostics


def _integral(corrected: bool) -> Callable[[Array, Rungs], Sum]:
    return lambda ladder, levels: thermodynamic(ladder, levels, corrected)


def _identity_status(betas: Array, identity: Array) -> Status:
    if not identity.size or np.abs(identity).max() <= MAX_Z:
        return Status.ok()
    worst = int(np.argmax(np.abs(identity)))
    return Status.suspect(
        "thermodynamic-identity",
        f"between the inverse temperatures {betas[worst]:.3g} and {betas[worst + 1]:.3g} the mean log likelihood rises by "
        f"{'more' if identity[worst] > 0 else 'less'} than its variance allows ({abs(identity[worst]):.1f} standard errors): a rung is "
        f"not in equilibrium, or the likelihood bends sharply there; {REMEDY}.",
    )
