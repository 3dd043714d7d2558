"""The harmonic mean of posterior likelihoods: easy to compute, and almost never reliable.

    1 / Z = E_posterior[ 1 / L(theta) ]   so   log Z  is estimated by  -log (1/N) sum_i exp(-log L(theta_i)),

the sum taken in logs with the *smallest* log likelihood as its shift (Friel & Wyse 2012 print the largest, which would overflow).
Needs only posterior draws (Newton & Raftery 1994), here from several chains.

*Its standard error.* Delta method on the weights 1 / L, with the effective sample size of these weights themselves along the
chains, not that of the parameters. It exists only if

    E_posterior[ 1 / L^2 ] = E_prior[ 1 / L ] / Z

is finite, and 1 / L has its largest values where the posterior has no draws. In the normal model with prior sd tau and
likelihood sd s the tail index of 1 / L is tau^2 / (tau^2 + s^2): the variance is finite only when the prior is *tighter* than the
data, and a sample does not show a tail that it never enters. But the right-hand side above can be estimated from prior
draws. So there is a standard error only when all of these hold:

* no prior draw has zero likelihood (else 1 / L averages to the prior mass of the support over Z, and log Z comes out too high);
* Pareto k of 1 / L is below 0.5 among posterior draws, and below 0.5 among prior draws (where k below 1 is a finite variance,
  and the limit of 0.5 allows for the uncertainty of the estimate of k);
* the relative variance of a weight that the prior draws predict, Z E_prior[1 / L] - 1, is at most 1, and what the posterior draws
  themselves show agrees with it;
* the chains agree (R-hat), and the effective sample size of the weights is a hundred at least;
* importance sampling at the modes, and the prior draws, show no mass that the chains missed (`missed_mass.mode_check`).

*When it lies.* Under any prior that is wider than the likelihood: the estimate hardly changes with the prior's width, while Z
does, and is too high. The status is then suspect. The method is kept for teaching, and for comparison with old papers. Cite
Newton & Raftery (1994); section 3.2 of Friel & Wyse (2012).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.methods._base import Method, Size, check_count
from zhat.missed_mass.effort import SHARP
from zhat.missed_mass.look import Look
from zhat.missed_mass.witnesses import Sampled
from zhat.model.model import Model, Offer
from zhat.numerics.logspace import log_mean_exp
from zhat.numerics.series import effective_sample_size, log_mean_se_correlated
from zhat.numerics.weights import Weights, pareto_k
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import prior_draws, with_parameters
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.weights import MAX_PARETO_K, MIN_ESS

REMEDY = "use zhat.Importance() or zhat.SMC()"
# Largest relative variance of a weight for a standard error, and by how much its two estimates may differ (in nats).
MAX_VARIANCE = 1.0
VARIANCES_DIFFER = 0.3
MAX_R_HAT = 1.05


@dataclass(frozen=True)
class HarmonicMean(Method):
    """One over the mean of 1 / L over `n_chains` chains of `n_draws` posterior draws, checked by `n_prior` prior draws."""

    n_chains: int = 8
    n_draws: int = 1000
    kernel: Kernel | None = None
    n_prior: int = 20_000
    mode_check: bool = True

    name: ClassVar[str] = "harmonic-mean"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.LIKELIHOOD, Offer.PRIOR_DRAWS})
    evaluations: ClassVar[tuple[float, float]] = (40.0, 15.0)
    cites: ClassVar[tuple[str, ...]] = ("newton1994", "robert2009", "friel2012")
    sizes: ClassVar[tuple[Size, ...]] = (Size("n_draws", 100), Size("n_prior", 1000, grows=False))
    look: ClassVar[Look] = Look.from_modes(SHARP)
    when: ClassVar[str] = "to compare with old papers: its variance is infinite unless the prior is tighter than the data"
    reads_draws: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("HarmonicMean", "n_chains", self.n_chains, 2, "chains are compared with each other")
        check_count("HarmonicMean", "n_draws", self.n_draws, 100, "Pareto k and the standard error need enough draws")
        check_count("HarmonicMean", "n_prior", self.n_prior, 1000, "whether the variance exists is judged from prior draws")
        if self.kernel is not None and not callable(getattr(self.kernel, "step", None)):
            raise BadType(
                f"HarmonicMean(kernel={self.kernel!r}): give a kernel such as zhat.kernels.Gibbs(model.conditionals), or None."
            )

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        chains = bench.chains(key.child("chains"), self.n_chains, self.n_draws, self.kernel)
        bench.loop.tick(f"{self.n_prior:,} draws from the prior")
        prior = prior_draws(model, self.n_prior, key.child("prior"), bench.loop)
        draws = chains.draws
        sums = harmonic_sums(draws, prior)
        diagnostics: dict[str, Diagnostic] = {
            "n_draws": draws.n_drawn,
            "pareto_k": sums.pareto_k,
            "prior_pareto_k": sums.prior_pareto_k,
            "largest_share": sums.largest_share,
            "ess_of_weights": sums.ess,
            "relative_variance": sums.relative_variance,
            "relative_variance_from_prior": sums.relative_variance_from_prior,
            "prior_share_of_zero_likelihood": sums.zero_share,
            "r_hat": float(chains.r_hat),
            "acceptance": float(chains.acceptance),
        }
        estimate = Estimate(
            log_evidence=sums.log_evidence,
            log_evidence_se=sums.se,
            status=_status(sums, chains.r_hat),
            diagnostics=diagnostics,
            record=with_parameters(model, draws),
        )
        if not self.mode_check:
            return estimate
        witnesses = Sampled(draws, prior_draws=prior, equal_weight=True)
        return self.checked(model, estimate, witnesses, key.child("mode"), bench.loop)

    def read(self, record: object) -> Estimate:
        """The harmonic mean of existing posterior draws: never `ok`, because there are no prior draws to check it."""
        draws = record if isinstance(record, Draws) else getattr(record, "final", None)
        if not isinstance(draws, Draws):
            raise BadType(f"HarmonicMean reads posterior draws; a {type(record).__name__} has none.")
        if draws.log_weight is not None and np.ptp(draws.log_weight) > 0.0:
            raise BadInput("HarmonicMean reads posterior draws of equal weight; these are weighted. Run it on the model.")
        weights = Weights.of(-draws.log_likelihood)
        status = Status.suspect(
            "pareto-k" if weights.pareto_k >= MAX_PARETO_K else "variance-unseen",
            f"1 / L has Pareto k = {weights.pareto_k:.2f} among these draws, and whether its variance exists can only be judged "
            f"from prior draws: run zhat.HarmonicMean() on the model, or {REMEDY}.",
        )
        return Estimate(
            log_evidence=harmonic_mean(draws.log_likelihood),
            log_evidence_se=None,
            status=status,
            diagnostics={
                "n_draws": draws.n_drawn,
                "pareto_k": float(weights.pareto_k),
                "largest_share": float(weights.largest_share),
            },
            record=draws,
        )


# -- arithmetic: pure NumPy ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HarmonicSums:
    """The harmonic mean of posterior draws, and estimates of its variance from these and from prior draws."""

    log_evidence: float
    se: float
    ess: float
    pareto_k: float
    prior_pareto_k: float
    largest_share: float
    relative_variance: float
    relative_variance_from_prior: float
    zero_share: float


def harmonic_mean(log_likelihood: Array) -> float:
    """Log of the harmonic mean of likelihoods."""
    return -log_mean_exp(-np.asarray(log_likelihood))


def harmonic_sums(posterior: Draws, prior: Draws) -> HarmonicSums:
    """The harmonic mean of posterior draws in chains, and its variance from posterior and from prior draws."""
    assert posterior.chain is not None
    log_weights = -posterior.log_likelihood
    weights = Weights.of(log_weights)
    by_chain = log_weights.reshape(int(posterior.chain.max()) + 1, -1)
    relative = np.exp(by_chain - by_chain.max())
    log_evidence = harmonic_mean(posterior.log_likelihood)
    possible = prior.log_likelihood > -np.inf
    inverse = -prior.log_likelihood[possible]
    return HarmonicSums(
        log_evidence=log_evidence,
        se=log_mean_se_correlated(by_chain),
        ess=effective_sample_size(relative),
        pareto_k=float(weights.pareto_k),
        prior_pareto_k=pareto_k(inverse),
        largest_share=float(weights.largest_share),
        relative_variance=math.expm1(log_mean_exp(2.0 * log_weights) + 2.0 * log_evidence),
        relative_variance_from_prior=_expm1(log_evidence + log_mean_exp(inverse)),
        zero_share=float(1.0 - possible.mean()),
    )


def _expm1(x: float) -> float:
    return math.expm1(x) if x < 700.0 else math.inf


def _status(sums: HarmonicSums, r_hat: float) -> Status:
    status = Status.ok()
    if sums.zero_share > 0:
        status = status.and_(
            Status.suspect(
                "zero-likelihood",
                f"{sums.zero_share:.1%} of prior draws have zero likelihood: the harmonic mean leaves their prior mass out and "
                f"is too high; {REMEDY}.",
            )
        )
    if max(sums.pareto_k, sums.prior_pareto_k) >= MAX_PARETO_K:
        status = status.and_(
            Status.suspect(
                "pareto-k",
                f"1 / L has Pareto k = {sums.pareto_k:.2f} among posterior and {sums.prior_pareto_k:.2f} among prior draws (flagged from "
                f"{MAX_PARETO_K}): "
                f"its variance may be infinite, as it is whenever the prior is wider than the likelihood; {REMEDY}.",
            )
        )
    own, predicted = sums.relative_variance, sums.relative_variance_from_prior
    if not predicted <= MAX_VARIANCE or abs(math.log1p(own) - math.log1p(max(predicted, 0.0))) > VARIANCES_DIFFER:
        status = status.and_(
            Status.suspect(
                "infinite-variance",
                f"prior draws predict a relative variance of {predicted:.3g} for a weight, posterior draws show {own:.3g}: the "
                f"draws that carry the variance are not among them, and the estimate is too high; {REMEDY}.",
            )
        )
    if r_hat > MAX_R_HAT:
        status = status.and_(
            Status.suspect(
                "chains-disagree",
                f"the chains have R-hat = {r_hat:.2f} (flagged above {MAX_R_HAT}): they have not mixed; use zhat.SMC().",
            )
        )
    if sums.ess < MIN_ESS:
        status = status.and_(
            Status.suspect(
                "low-ess", f"effective sample size {sums.ess:.0f} of the weights (below {MIN_ESS:.0f} is flagged); {REMEDY}."
            )
        )
    return status
