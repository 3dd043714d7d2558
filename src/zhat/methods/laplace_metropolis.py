"""Laplace's formula at the best draw of a posterior sample: no search for the mode, only draws.

    log Z  ~  log L(m) + log prior(m) + (d/2) log 2 pi + (1/2) log det S,

where m is the draw of highest posterior density (the MAP of the sample). Friel & Wyse (2012), like Laplace's own method, take for
S the inverse of the negative second derivatives at m (`spread=Curvature()`, the default); Lewis & Raftery (1997), who named it
Laplace-Metropolis, take the covariance of the draws (`spread=SampleCovariance()`), which needs no derivatives and gives the
overall width of the posterior rather than its curvature at the mode. Works in the unconstrained coordinates. Needs posterior
draws, here from several chains; with `kernel=zhat.kernels.Gibbs(model.conditionals)` from Gibbs sweeps, as in Friel & Wyse
(2012).

*Its error.* It is a deterministic function of a sample: the approximation's own error does not fall with more draws, so
`log_evidence_se` is None. Its error is estimated, as for Laplace's method, by importance sampling from a Student t with this
location and shape: |approximation - corrected|. The Monte Carlo part is in `diagnostics`: each chain's own best draw gives
an answer, and `between_chain_sd` is their scatter; `short_of_top` is what a Newton step from the best draw would still gain.

*When it lies.* As Laplace's method does: skewed posteriors, several modes, mass far from the mode. In many dimensions there is a
further error: the best of N draws is not near the mode (with 8,000 draws half a nat below it in 10 dimensions, ten nats in 50).
The importance correction shows both; the result is suspect when that is large or cannot be trusted, and when a Newton step from
the best draw would still gain (`far-from-mode`). Chains that are all in one mode of several agree with each other; a mode check
therefore follows a result that is ok so far (`missed-peak`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from zhat.errors import BadType
from zhat.methods._base import Method, check_count
from zhat.missed_mass.finding import Answer
from zhat.missed_mass.look import Look, look_for_missed_mass
from zhat.missed_mass.witnesses import Sampled
from zhat.model.model import Model, Offer
from zhat.numerics.weights import Weights
from zhat.results.estimate import Diagnostic, Estimate, Kind, Status
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import with_parameters
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import peaks_at
from zhat.sampling.importance.proposals import StudentT
from zhat.sampling.importance.weighted_draws import weighted_draws
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.missed_mass import after_look
from zhat.verdicts.weights import correction_status, weights_status

MAX_R_HAT = 1.05
# Nats below the mode from which the best draw is flagged as far from it.
FAR_FROM_MODE = 0.2


class Spread(Protocol):
    """How the width of the posterior at some of its draws is estimated."""

    def covariances(self, model: Model, draws: Draws, points: Array, loop: Loop) -> Array:
        """A covariance for each of k points, (k, d, d); NaN where there is none."""
        ...


@dataclass(frozen=True)
class Curvature:
    """The inverse of the negative second derivatives of the log posterior at the point (Friel & Wyse 2012)."""

    def covariances(self, model: Model, draws: Draws, points: Array, loop: Loop) -> Array:
        """See `Spread`."""
        peaks = peaks_at(model, points, draws.position.std(axis=0), loop)
        none = np.full((points.shape[1],) * 2, np.nan)
        return np.stack([peak.covariance if peak.is_definite else none for peak in peaks])


@dataclass(frozen=True)
class SampleCovariance:
    """The covariance of the draws (Lewis & Raftery 1997)."""

    def covariances(self, model: Model, draws: Draws, points: Array, loop: Loop) -> Array:
        """See `Spread`."""
        covariance = np.atleast_2d(np.cov(draws.position, rowvar=False))
        return np.broadcast_to(covariance, (len(points), *covariance.shape))


@dataclass(frozen=True)
class LaplaceMetropolis(Method):
    """Laplace's formula at the best of `n_chains` x `n_draws` posterior draws, checked by `n_check` importance draws."""

    n_chains: int = 8
    n_draws: int = 1000
    kernel: Kernel | None = None
    spread: Spread = field(default_factory=Curvature)
    n_check: int = 4000

    name: ClassVar[str] = "laplace-metropolis"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.LIKELIHOOD, Offer.PRIOR_DRAWS})
    cites: ClassVar[tuple[str, ...]] = ("lewis1997", "tierney1986", "friel2012")
    look: ClassVar[Look] = Look.from_modes()
    when: ClassVar[str] = (
        "posterior draws are there already and the posterior is one nearly normal mode in few dimensions; to compare with"
    )
    reads_draws: ClassVar[bool] = True
    needs_with_draws: ClassVar[frozenset[Offer]] = frozenset({Offer.JOINT_DENSITY})

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("LaplaceMetropolis", "n_chains", self.n_chains, 2, "chains are compared with each other")
        check_count("LaplaceMetropolis", "n_draws", self.n_draws, 100, "the best of few draws is not near the mode")
        check_count("LaplaceMetropolis", "n_check", self.n_check, 100, "the importance correction needs draws")
        if not hasattr(self.spread, "covariances"):
            raise BadType(
                f"LaplaceMetropolis(spread={self.spread!r}): give zhat.settings.Curvature() or zhat.settings.SampleCovariance()."
            )
        if self.kernel is not None and not callable(getattr(self.kernel, "step", None)):
            raise BadType(
                f"LaplaceMetropolis(kernel={self.kernel!r}): give a kernel such as zhat.kernels.Gibbs(model.conditionals), or None."
            )

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        chains = bench.chains(key.child("chains"), self.n_chains, self.n_draws, self.kernel)
        draws = chains.draws
        best = best_of_each_chain(draws)
        points = draws.position[best]
        log_density = (draws.log_prior + draws.log_likelihood)[best]
        covariances = self.spread.covariances(model, draws, points, bench.loop)
        answers = laplace_at(log_density, covariances)
        top = int(np.argmax(log_density))
        if not np.isfinite(answers[top]):
            return _no_peak(with_parameters(model, draws))
        log_evidence = float(answers[top])
        check = weighted_draws(model, StudentT(points[top], covariances[top]), self.n_check, key.child("check"), bench.loop, 0.1)
        assert check.log_weight is not None
        weights = Weights.of(check.log_weight)
        error = abs(log_evidence - weights.log_mean)
        finite = answers[np.isfinite(answers)]
        short = float(peaks_at(model, points[top : top + 1], draws.position.std(axis=0), bench.loop)[0].decrement)
        diagnostics: dict[str, Diagnostic] = {
            "n_draws": draws.n_drawn,
            "best_log_density": float(log_density[top]),
            "short_of_top": short,
            "between_chain_sd": float(finite.std(ddof=1)) if len(finite) > 1 else float("nan"),
            "importance_corrected": float(weights.log_mean),
            "importance_corrected_se": float(weights.log_mean_se),
            "pareto_k": float(weights.pareto_k),
            "ess": float(weights.ess),
            "r_hat": float(chains.r_hat),
        }
        status = weights_status(weights, "use zhat.SMC()").and_(correction_status(error))
        status = status.and_(_near_the_mode(short)).and_(_chains_status(chains.r_hat))
        estimate = Estimate(
            log_evidence=log_evidence,
            log_evidence_se=None,
            no_se_because="an approximation's own error does not fall with the number of draws; see approximation_error",
            approximation_error=float(error + weights.log_mean_se),
            kind=Kind.APPROXIMATION,
            status=status,
            diagnostics=diagnostics,
            record=with_parameters(model, draws),
        )
        if not status.is_ok:
            return estimate
        answer, effort = Answer(log_evidence, float(error + weights.log_mean_se)), self.look.effort
        return after_look(estimate, look_for_missed_mass(model, answer, Sampled(draws), effort, key.child("mode"), bench.loop))


def best_of_each_chain(draws: Draws) -> np.ndarray:
    """The row of each chain with the highest posterior density."""
    assert draws.chain is not None
    density = (draws.log_prior + draws.log_likelihood).reshape(int(draws.chain.max()) + 1, -1)
    return np.asarray(np.argmax(density, axis=1) + density.shape[1] * np.arange(len(density)))


def laplace_at(log_density: Array, covariances: Array) -> Array:
    """Laplace's formula from log posterior densities (k,) and covariances (k, d, d); NaN where a covariance has none."""
    d = covariances.shape[-1]
    with np.errstate(invalid="ignore"):
        sign, log_determinant = np.linalg.slogdet(covariances)
    value = log_density + 0.5 * d * np.log(2.0 * np.pi) + 0.5 * log_determinant
    return np.asarray(np.where(sign > 0, value, np.nan))


def _near_the_mode(short: float) -> Status:
    if short <= FAR_FROM_MODE:
        return Status.ok()
    return Status.suspect(
        "far-from-mode",
        f"the best draw lies {short:.2f} nats below the mode that a Newton step from it predicts: too few draws for so many "
        "dimensions; use zhat.Laplace(), which searches for the mode.",
    )


def _chains_status(r_hat: float) -> Status:
    if r_hat <= MAX_R_HAT:
        return Status.ok()
    return Status.suspect(
        "chains-disagree",
        f"the chains have R-hat = {r_hat:.2f} (flagged above {MAX_R_HAT}): they have not mixed; use zhat.SMC().",
    )


def _no_peak(draws: Draws) -> Estimate:
    sentence = (
        "the curvature at the best draw is not that of a mode (its Hessian is indefinite or singular): the posterior is flat in "
        "some direction there; give spread=zhat.settings.SampleCovariance(), or use zhat.SMC()."
    )
    return Estimate(np.nan, None, Status.failed("no-peak", sentence), record=draws)
