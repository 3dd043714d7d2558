"""INLA: latent Gaussian parameters integrated by Laplace's method, the few others by quadrature, the rest by importance weights.

    p(y) = integral of p(theta) Z(theta) dtheta,      Z(theta) = integral of p(y | x, theta) N(x; mu(theta), Q(theta)^-1) dx.

Laplace's method inside (Rue, Martino & Chopin 2009): at the mode x* of the integrand for a given theta,
log Z~(theta) = log p(y, x* | theta) + (n/2) log 2 pi - (1/2) log det H. For latents on a line H is banded, and a Newton step costs
O(n); thousands of latents take seconds. Outside, a lattice over theta that is refined until two steps agree
(`sampling.latent.outer`); up to four such parameters.

Needs a model that declares its latent Gaussian parameters: `zhat.latent` builds such models from effects (independent, random
walks, autoregressive, seasonal, on a graph) and observations; any model with ``latent=("alpha", "b")`` will do. The declaration is
checked: the second derivatives of the log prior must not change with the latents.

*Its standard error.* Without a correction, the error of Laplace's method grows with the number of latents and does not show (on 366
days of rain in Tokyo the nested approximation is 0.23 nats low). So draws of the latents are made inside the nodes and weighted:
the mean weight is the quadrature with exact inner integrals. The standard error is that of the weights, with the quadrature's
own error added; it is given only where the Pareto k is below 0.5 and the effective sample size is large enough. Where it is not, the
uncorrected number is returned, as suspect. Where the inner integrals are exactly Gaussian the answer is deterministic, and its
error is the quadrature's alone. `nested_laplace` in the diagnostics is the uncorrected value.

*When it lies.* Several modes of the latents for one theta leave no trace in the weights. The observations of `zhat.latent` are
log-concave, so that there is one mode only; for other likelihoods Newton searches from prior draws must end at the same mode
(`inner-modes`). A second mode in theta is part of the lattice if one of 128 prior draws falls near it; the mean of Laplace's
inner integral over these draws is compared with the lattice (`missed-mass`). What no draw meets is missed. Improper priors (an intrinsic
random walk without a start) are refused: the evidence is then undefined. Section 3.7 of Friel & Wyse (2012) names the method.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from zhat.errors import UnsupportedModel
from zhat.methods._base import Method, check_count
from zhat.missed_mass.finding import Answer, Finding, Progress, SecondEstimate
from zhat.missed_mass.look import Look
from zhat.model.fields.declared import Latent
from zhat.model.model import Model, Offer
from zhat.numerics.weights import Weights
from zhat.results.estimate import Diagnostic, Estimate, Kind, Status
from zhat.results.records import Array
from zhat.sampling.backend.evaluation import with_parameters
from zhat.sampling.backend.loop import Loop
from zhat.sampling.latent.correction import Corrected, corrected
from zhat.sampling.latent.field import Field, check_declared
from zhat.sampling.latent.inner import Node, inner_modes
from zhat.sampling.latent.outer import Outer, integrate
from zhat.sampling.latent.prior_view import prior_view
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.weights import weights_status

# A lattice in more dimensions has too many nodes.
MOST_HYPERPARAMETERS = 4
# A log density this near to the inner Gaussian's over the draws is that Gaussian, to rounding (which small scales amplify).
EXACT = 1e-6
# Newton searches for other inner modes, and the distance in standard deviations from which a mode is another one.
INNER_STARTS = 32
ANOTHER_MODE = 0.5
REMEDY = "use zhat.SMC(), or take more draws: zhat.INLA(n_draws=100_000)"
# For its price: points at which derivatives are taken, by the number of parameters beside the latents (900 to 1,800 with one, 3,000 with two and
# 5,600 with three, Gaussian, where one step does, were counted on the examples of the zoo; with four the lattice may be as large as it is
# allowed), and likelihoods that a gradient, or a product with the second derivatives, takes.
DERIVATIVES = (50, 1_500, 3_000, 15_000, 100_000)
A_GRADIENT = 3


@dataclass(frozen=True)
class INLA(Method):
    """Nested Laplace approximation, corrected by `n_draws` weighted draws of the latents."""

    n_draws: int = 12_000

    name: ClassVar[str] = "inla"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.GRADIENT, Offer.PRIOR_DRAWS, Offer.LATENT_GAUSSIAN})
    cites: ClassVar[tuple[str, ...]] = ("rue2009", "friel2012")
    look: ClassVar[Look] = Look.from_prior()
    when: ClassVar[str] = "latent Gaussian models (`zhat.latent`): random effects, smoothers, state space; thousands of latents"

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("INLA", "n_draws", self.n_draws, 1000, "Pareto k and the standard error need enough draws")

    def evaluations_in_all(self, model: Model) -> int | None:
        """See `Method`: the draws, and the derivatives, whose number does not grow with the latents."""
        if Offer.LATENT_GAUSSIAN not in model.offers:
            return None
        field = Field.of(model)
        points = DERIVATIVES[min(len(field.rest), MOST_HYPERPARAMETERS)]
        return self.n_draws + points * A_GRADIENT * (1 + field.shape.n_probes)

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        field = Field.of(model)
        if len(field.rest) > MOST_HYPERPARAMETERS:
            raise UnsupportedModel(
                f"model {model.name!r} has {len(field.rest)} parameters beside its latents; INLA integrates up to "
                f"{MOST_HYPERPARAMETERS} by quadrature: declare more of them as latent, or use zhat.SMC()."
            )
        prior = bench.prior().position
        prior = prior[np.isfinite(prior).all(axis=1)]
        check_declared(field, prior, key.child("declared").generator())
        outer = integrate(field, prior, bench.loop)
        if outer is None:
            return Estimate(np.nan, None, Status.failed("no-mode", _NO_MODE))
        parts = corrected(field, outer, self.n_draws, key.child("draws"), bench.loop)
        best = max(outer.nodes, key=lambda node: node.log_laplace)
        status = quadrature_status(outer).and_(_inner_status(field, best, prior, bench.loop))
        return self._compared(_estimate(model, field, outer, parts, status), prior_view(field, outer, prior, bench.loop))

    def _compared(self, estimate: Estimate, view: Weights | None) -> Estimate:
        """The estimate beside the mean of the inner integrals over prior draws, shifted by the correction."""
        if view is None or not np.isfinite(estimate.log_evidence):
            return estimate
        shift = float(estimate.diagnostics["correction"]) if estimate.kind is Kind.SAMPLING else 0.0  # type: ignore[arg-type]
        second = SecondEstimate(float(view.log_mean) + shift, float(view.log_mean_se), float(view.pareto_k))
        answer = Answer(estimate.log_evidence, float(estimate.log_evidence_se or estimate.approximation_error or 0.0))
        finding = Finding(answer, self.look.effort, coverage_check=Progress.DONE, from_population=second)
        estimate = replace(estimate, diagnostics={**estimate.diagnostics, **finding.diagnostics})
        if not finding.population_exceeds:
            return estimate
        return replace(
            estimate,
            log_evidence_se=None,
            kind=Kind.APPROXIMATION,
            approximation_error=second.excess(answer),
            status=estimate.status.and_(Status.suspect("missed-mass", _MISSED.format(second.excess(answer)))),
        )


_MISSED = (
    "the mean of the inner integrals over prior draws of the other parameters exceeds the quadrature by {:.2f} nats, more than three "
    "joint standard errors: the lattice misses part of their posterior; use zhat.SMC()."
)
_NO_MODE = (
    "Newton's method found no mode of the latents at any of the parameter values that were tried: the likelihood may be unbounded "
    "in the latents, or zero at its start; use zhat.SMC()."
)


def can_integrate(model: Model) -> bool:
    """Whether the model declares latents that are log-concave but not Gaussian, beside few enough other parameters.

    The default runs INLA first then. Gaussian ones leave no standard error: nothing is sampled.
    """
    declared = model.latent
    if not isinstance(declared, Latent) or not declared.log_concave or declared.quadratic:
        return False
    return 0 < len(Field.of(model).rest) <= MOST_HYPERPARAMETERS


def _estimate(model: Model, field: Field, outer: Outer, parts: Corrected, status: Status) -> Estimate:
    weights = Weights.of(parts.log_weight)
    is_exact = parts.not_quadratic < EXACT
    weighed = Status.ok() if is_exact else weights_status(weights, REMEDY)
    diagnostics: dict[str, Diagnostic] = {
        "nested_laplace": float(outer.log_integral),
        "correction": 0.0 if is_exact else float(weights.log_mean - outer.log_integral),
        "importance_corrected": float(weights.log_mean),
        "importance_corrected_se": float(weights.log_mean_se),
        "pareto_k": float(weights.pareto_k),
        "ess": float(weights.ess),
        "n_draws": weights.n_drawn,
        "n_latents": field.shape.size,
        "half_width": field.shape.half_width if field.shape.line else max(field.shape.border - 1, 0),
        "n_nodes": len(outer.nodes),
        "step": float(outer.step),
        "quadrature_error": float(outer.error),
        "n_outer_modes": outer.n_modes,
        "inner_is_gaussian": bool(is_exact),
    }
    record = with_parameters(model, parts.draws)
    if is_exact:
        return Estimate(
            log_evidence=float(outer.log_integral),
            log_evidence_se=None,
            no_se_because="given the other parameters the latents are exactly Gaussian, so nothing is sampled; see approximation_error",
            approximation_error=float(outer.error),
            kind=Kind.APPROXIMATION,
            status=status,
            diagnostics=diagnostics,
            record=record,
        )
    if not weighed.is_ok:
        return Estimate(
            log_evidence=float(outer.log_integral),
            log_evidence_se=None,
            approximation_error=float(abs(weights.log_mean - outer.log_integral) + weights.log_mean_se),
            kind=Kind.APPROXIMATION,
            status=status.and_(weighed),
            diagnostics=diagnostics,
            record=record,
        )
    return Estimate(
        log_evidence=float(weights.log_mean),
        log_evidence_se=float(np.hypot(weights.log_mean_se, outer.error)),
        status=status,
        diagnostics=diagnostics,
        record=record,
    )


def quadrature_status(outer: Outer) -> Status:
    """Whether two steps of the quadrature agree."""
    if outer.agrees:
        return Status.ok()
    return Status.suspect(
        "quadrature",
        f"the quadrature over the parameters beside the latents still moves by {outer.error:.2g} nats with {len(outer.nodes):,} "
        "nodes, and a finer one has too many: reparametrise, or use zhat.SMC().",
    )


def _inner_status(field: Field, best: Node, prior: Array, loop: Loop) -> Status:
    """Whether Newton searches from prior draws of the latents end at the inner mode of the best node."""
    if field.log_concave:
        return Status.ok()
    starts = prior[:INNER_STARTS, field.latent]
    theta = np.broadcast_to(best.theta, (len(starts), len(best.theta)))
    matrix = best.factor
    others = 0
    for node in inner_modes(field, theta, starts, loop):
        if node is None:
            continue
        apart = matrix.transposed(node.mode - best.mode)
        others += bool(np.linalg.norm(apart) > ANOTHER_MODE and node.log_laplace > best.log_laplace - 10.0)
    if not others:
        return Status.ok()
    return Status.suspect(
        "inner-modes",
        f"{others} of {len(starts)} searches from prior draws end at another mode of the latents: Laplace's method there sees one of "
        "them only; use zhat.SMC() or zhat.Importance().",
    )
