"""Variational Bayes: a density as near to the posterior as its family allows, and the bound that comes with it.

    log Z = ELBO(q) + KL(q || posterior),     ELBO(q) = E_q[ log L + log prior - log q ]  <=  log Z,

for every density q; the guide q on the unconstrained vector maximises it in its family (Jordan et al. 1999; Blei, Kucukelbir & McAuliffe
2017). Needs gradients. Gaussian guides N(m, L L') start at Laplace's method and use fixed noise and L-BFGS (`sampling.variational.guide`):
`FullRank()` has all correlations, `MeanField()` none: its gap is half of log(product of diagonal / determinant) of the precision
matrix of a Gaussian posterior. `FlowGuide()` bends the best Gaussian by a normalising flow (`sampling.variational.flow_guide`).

*Its standard error.* The ELBO is a bound: its Monte Carlo error (`elbo_se` in the diagnostics) says how well the *bound* is known, not
how far log Z is from it, and the gap cannot be seen from the ELBO. So draws from the guide with a Student t as its noise, a tenth of
them from the prior, are weighted (Burda, Grosse & Salakhutdinov 2016 call the bound that they give importance weighted; with many draws it is the
evidence). Where the Pareto k of these weights is below 0.5 and their effective sample size large enough, the corrected value is the
answer, with its standard error, and `elbo` stands in the diagnostics. Otherwise the answer is the ELBO, a lower bound, and suspect.
`guide_pareto_k` is that of the guide's own weights (Yao, Vehtari, Simpson & Gelman 2018): above 0.7 its moments are not to be used
either.

*When it lies.* A guide on one of several modes has a fine bound and fine weights. Known modes that the guide does not cover get a t of
their own in the correction, and a coverage check follows (`missed_mass.coverage_check`): a tempered population from the prior shows
mass that the proposal misses. The bound depends on the coordinates. For a likelihood with an approximate normalising constant (an
Ising model by mean field) it bounds nothing: see `zhat study ising`. Section 3.7 of Friel & Wyse (2012) names the method.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.methods._base import Method, check_count
from zhat.missed_mass.effort import SHARP
from zhat.missed_mass.finding import Answer, Finding
from zhat.missed_mass.look import Look, look_for_missed_mass
from zhat.missed_mass.witnesses import Proposed
from zhat.model.model import Model, Offer
from zhat.numerics.weights import Weights
from zhat.results.estimate import Diagnostic, Estimate, Kind, Status
from zhat.results.records import Draws
from zhat.sampling.backend.evaluation import with_parameters
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import Mode, different
from zhat.sampling.importance.proposals import WIDEN, Mixture, Proposal, at_modes
from zhat.sampling.importance.weighted_draws import weighted_draws
from zhat.sampling.variational.families import Family, FullRank
from zhat.sampling.variational.guide import Guide, Start
from zhat.sampling.variational.starts import from_modes, from_prior
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.learned_modes import learning
from zhat.verdicts.weights import weights_status

DEGREES_OF_FREEDOM = 5.0
# The prior's share of the draws for the correction, and that of modes which the guide does not cover.
DEFENSIVE = 0.1
SHARE_OF_MODES = 0.5
# A mode beyond this quantile of the guide (in standard deviations of a radius) is not covered by it.
FAR = 3.0
REMEDY = "the answer is the lower bound; use zhat.Importance() or zhat.SMC() for the evidence itself"
BOUND = (
    "the expected log ratio of posterior and guide (ELBO) is below log Z by the divergence of the guide from the posterior, which the "
    "bound itself does not show"
)


@dataclass(frozen=True)
class Variational(Method):
    """The guide of `family` with the highest evidence lower bound, to `tolerance` nats, corrected by `n_draws` weighted draws."""

    family: Family = field(default_factory=FullRank)
    n_draws: int = 20_000
    tolerance: float = 5e-4
    coverage_check: bool = True

    name: ClassVar[str] = "variational"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.GRADIENT, Offer.LIKELIHOOD, Offer.PRIOR_DRAWS})
    cites: ClassVar[tuple[str, ...]] = ("blei2017", "giordano2024", "yao2018", "friel2012")
    look: ClassVar[Look] = Look.from_prior(SHARP)
    when: ClassVar[str] = (
        "a lower bound, or a Gaussian approximation, is wanted; its correction where the posterior is near a Gaussian"
    )

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("Variational", "n_draws", self.n_draws, 1000, "Pareto k and the standard error need enough draws")
        if not 0.0 < self.tolerance < np.inf:
            raise BadInput(f"Variational(tolerance={self.tolerance!r}): give nats of the bound, such as 5e-4.")
        if isinstance(self.family, type) or not hasattr(self.family, "fitted"):
            raise BadType(
                f"Variational(family={self.family!r}): give zhat.settings.FullRank(), zhat.settings.MeanField() or "
                "zhat.settings.FlowGuide()."
            )

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        modes = bench.survey(self.effort.survey(model)).modes.usable
        start = from_prior(bench.prior())
        return learning(partial(self._at, model, bench.loop, start), modes, key)

    def _at(self, model: Model, loop: Loop, prior: Start, modes: tuple[Mode, ...], key: Key) -> tuple[Estimate, Finding | None]:
        """The answer from these modes, and the finding of the check for missed mass, if it was made."""
        starts = from_modes(model, modes, key.child("starts"), loop) if modes else [prior]
        guide = self.family.fitted(model, starts, self.tolerance, key.child("guide"), loop)
        if guide is None:
            return Estimate(-np.inf, None, Status.failed("no-guide", _NO_GUIDE)), None
        proposal, n_others = _proposal(guide, modes)
        draws = weighted_draws(model, proposal, self.n_draws, key.child("draws"), loop, DEFENSIVE)
        assert draws.log_weight is not None
        weights = Weights.of(draws.log_weight)
        estimate = _estimate(guide, weights, with_parameters(model, draws), n_others)
        if not self.coverage_check or not estimate.log_evidence_se:
            return estimate, None
        answer = Answer(estimate.log_evidence, estimate.log_evidence_se)
        witnesses = Proposed(proposal, draws, weights, DEFENSIVE)
        return estimate, look_for_missed_mass(model, answer, witnesses, self.look.effort, key.child("look"), loop)


_NO_GUIDE = (
    "no Gaussian has a finite bound from any start: the posterior density is zero at places that every Gaussian reaches, or the "
    "optimisation ran away; use zhat.SMC()."
)


def _proposal(guide: Guide, modes: tuple[Mode, ...]) -> tuple[Proposal, int]:
    """A t at the guide, and at the modes that it does not cover; and how many these are."""
    at_guide = guide.map.heavy_tailed(DEGREES_OF_FREEDOM, WIDEN)
    if not modes:
        return at_guide, 0
    apart = different(modes)
    radius = np.linalg.norm(guide.map.inverse(np.stack([mode.position for mode in apart]))[0], axis=1)
    reach = np.sqrt(guide.map.n_dimensions) + FAR
    far = tuple(mode for mode, r in zip(apart, radius, strict=True) if not r <= reach)
    if not far:
        return at_guide, 0
    return Mixture((at_guide, at_modes(far, DEGREES_OF_FREEDOM)), (1.0 - SHARE_OF_MODES, SHARE_OF_MODES)), len(far)


def _estimate(guide: Guide, weights: Weights, record: Draws, n_others: int) -> Estimate:
    status = weights_status(weights, REMEDY)
    diagnostics: dict[str, Diagnostic] = {
        "elbo": guide.elbo,
        "elbo_se": guide.elbo_se,
        "gap": float(weights.log_mean - guide.elbo),
        "importance_corrected": float(weights.log_mean),
        "importance_corrected_se": float(weights.log_mean_se),
        "pareto_k": float(weights.pareto_k),
        "guide_pareto_k": float(Weights.of(guide.log_ratio).pareto_k),
        "ess": float(weights.ess),
        "n_draws": weights.n_drawn,
        "n_noise": guide.n_points,
        "last_rise": guide.last_rise,
        "n_modes_beside_guide": n_others,
        "converged": guide.converged,
    }
    if status.is_ok:
        return Estimate(float(weights.log_mean), float(weights.log_mean_se), status, diagnostics=diagnostics, record=record)
    return Estimate(
        log_evidence=guide.elbo,
        log_evidence_se=None,
        status=status,
        kind=Kind.LOWER_BOUND,
        approximation_error=float(abs(weights.log_mean - guide.elbo) + weights.log_mean_se),
        diagnostics={**diagnostics, "bound": BOUND},
        record=record,
    )
