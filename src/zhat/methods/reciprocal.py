"""Reciprocal importance sampling: one over the evidence as a mean over posterior draws, with a density of light tails.

    1 / Z = E_posterior[ phi(theta) / (prior(theta) L(theta)) ]      for every normalised density phi (Gelfand & Dey 1994).

The harmonic mean is the case phi = prior, whose tails are far too heavy. With a phi that is like the posterior and has lighter tails
the weights are nearly constant. Needs posterior draws with their densities and nothing else: with draws that you already have
(`zhat.evidence(model, "reciprocal", draws=...)`) no point is evaluated but the draws themselves, and a stored result can be read
(`zhat.read(result, zhat.Reciprocal())`). Otherwise it makes chains, half from tempered particles and half from modes.

By default phi is a normal fitted to the draws, in coordinates in which skewed marginals are nearly normal, and cut off
(`zhat.settings.TruncatedNormal`, Geweke 1999), where it holds 90 %, or less if the weights have a heavy tail. If the posterior is normal its weights are constant inside, with a relative variance of 0.11; the uniform ellipsoid of THAMES
(`zhat.settings.Ellipsoid`, Metodiev et al. 2024) has 1.9 in ten dimensions and 7.9 in a hundred. phi is fitted on one half of the
chains and averaged over the other, then the other way round; the answer is the mean. For a curved posterior, which no ellipsoid fits, phi
is a normalising flow that is trained on the draws (`zhat.settings.Flow`, the learnt harmonic mean of McEwen et al. 2021; needs flowjax).
Works in the unconstrained coordinates.

*Its standard error.* The delta method with the effective sample size of the weights themselves along the chains. The two answers share the
error of the fits, whose part is measured by fits to quarters of the chains; for a flow a correlation of one half is taken.

*Its checks.* R-hat; enough draws to fit phi; Pareto k of the weights below 0.5 and an effective sample size of a hundred; that the
halves agree; that two smaller regions, at the same draws, give the same answer; the mode check.

*When it lies.* When the chains have not visited all of the posterior: log Z is then too low by minus the log of the share that they
visited. Where the posterior has several modes, one ellipsoid spans the valley between them, where the weights explode: Pareto k shows
that. Bridge sampling has a smaller error from the same draws where new evaluations are possible.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from zhat.errors import BadInput, BadType
from zhat.methods._base import Method, check_count
from zhat.methods._from_chains import looked_beside, watched_chains
from zhat.missed_mass.effort import SHARP
from zhat.missed_mass.look import Look
from zhat.model.model import Model, Offer
from zhat.numerics.draws.reciprocal import BothHalves, one_half, paired_difference, shared_variance
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import with_parameters
from zhat.sampling.chains.halves import in_halves
from zhat.sampling.chains.posterior import Chains, chains_of
from zhat.sampling.chains.regions import Region, RegionFamily, TruncatedNormal
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.from_chains import FEWEST_PER_DIMENSION, chains_status, reciprocal_status, regions_status


@dataclass(frozen=True)
class Reciprocal(Method):
    """One over the mean of density / (prior x likelihood) over `n_chains` chains of `n_draws` posterior draws."""

    n_chains: int = 4
    n_draws: int = 1000
    n_warmup: int = 200
    density: RegionFamily = field(default_factory=TruncatedNormal)
    kernel: Kernel | None = None
    mode_check: bool = True
    longer: int = 1

    name: ClassVar[str] = "reciprocal"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD})
    cites: ClassVar[tuple[str, ...]] = ("gelfand1994", "geweke1999", "metodiev2024", "jones2009", "mcewen2021")
    look: ClassVar[Look] = Look.from_modes(SHARP)
    when: ClassVar[str] = "posterior draws are there already (`draws=`, `zhat.read`) and new evaluations are not possible"
    reads_draws: ClassVar[bool] = True
    needs_with_draws: ClassVar[frozenset[Offer]] = frozenset({Offer.JOINT_DENSITY})

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("Reciprocal", "n_chains", self.n_chains, 2, "a density is fitted on one half of them and used on the other")
        check_count("Reciprocal", "n_draws", self.n_draws, 100, "a density is fitted to them")
        check_count("Reciprocal", "n_warmup", self.n_warmup, 0, "there cannot be fewer than none")
        check_count("Reciprocal", "longer", self.longer, 1, "chains have their own length at least")
        if not hasattr(self.density, "fitted"):
            raise BadType(
                f"Reciprocal(density={self.density!r}): give zhat.settings.TruncatedNormal(), zhat.settings.Ellipsoid(), "
                "zhat.settings.Tight() or zhat.settings.Flow()."
            )
        if self.kernel is not None and not callable(getattr(self.kernel, "step", None)):
            raise BadType(f"Reciprocal(kernel={self.kernel!r}): give a kernel such as zhat.kernels.HMC(), or None.")

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        watched = watched_chains(self, model, bench, key.child("chains"))
        chains = watched.chains
        estimate = self._estimate(chains, with_parameters(model, chains.draws))
        return looked_beside(self, model, estimate, watched, bench, key.child("mode"))

    def read(self, record: object) -> Estimate:
        """The estimate from existing posterior draws in chains; no check for missed mass, which needs the model."""
        draws = record if isinstance(record, Draws) else getattr(record, "final", None)
        if not isinstance(draws, Draws):
            raise BadType(f"Reciprocal reads posterior draws; a {type(record).__name__} has none.")
        if draws.log_weight is not None and np.ptp(draws.log_weight) > 0.0:
            raise BadInput("Reciprocal reads posterior draws of equal weight; these are weighted. Run it on the model.")
        if draws.chain is None:
            raise BadInput("Reciprocal reads posterior draws in chains; these are not from chains. Run it on the model.")
        return self._estimate(chains_of(draws, np.nan), draws)

    def _estimate(self, chains: Chains, record: Draws) -> Estimate:
        draws = chains.draws
        halves = in_halves(draws)
        answers, gaps, shared = [], [], []
        for fit, use in (halves, halves[::-1]):
            regions = self.density.fitted(fit.position, fit.log_prior + fit.log_likelihood)
            by_chain = [_log_weights(region, use) for region in regions]
            answers.append(one_half(by_chain[0]))
            gaps += [paired_difference(by_chain[0], other) for other in by_chain[1:]]
            shared.append(_shared(regions[0], fit, use))
        both = BothHalves(answers[0], answers[1], float(np.mean(shared)))
        diagnostics: dict[str, Diagnostic] = {
            "n_draws": draws.n_drawn,
            "r_hat": float(chains.r_hat),
            "chain_ess": float(chains.ess),
            "fit_ess": float(chains.fit_ess),
            "log_evidence_of_halves": [half.log_ratio for half in answers],
            "se_of_halves": [half.se for half in answers],
            "covariance_of_halves": both.covariance,
            "ess": min(half.ess for half in answers),
            "pareto_k": max(half.pareto_k for half in answers),
            "inside": [half.inside for half in answers],
            "smaller_regions": [gap for gap, _ in gaps],
            "smaller_regions_se": [se for _, se in gaps],
        }
        status = reciprocal_status(both)
        if not np.isfinite(both.log_ratio):
            return Estimate(np.nan, None, status, diagnostics=diagnostics, record=record)
        known = [gap for gap in gaps if np.isfinite(gap[1])]
        agree = regions_status(known) if known else Status.ok()
        return Estimate(
            log_evidence=both.log_ratio,
            log_evidence_se=both.se,
            status=chains_status(chains, draws.position.shape[1]).and_(status).and_(agree),
            diagnostics=diagnostics,
            record=record,
        )


def _log_weights(region: Region, use: Draws) -> Array:
    """log of phi over prior x likelihood, (n_chains, n_draws)."""
    assert use.chain is not None
    log_weight = region.log_density(use.position) - use.log_prior - use.log_likelihood
    return np.asarray(log_weight.reshape(len(np.unique(use.chain)), -1))


def _shared(region: Region, fit: Draws, use: Draws) -> float:
    """Covariance of the two answers, from fits to the quarters of the chains; infinite where these are not possible."""
    quarters = in_halves(fit)
    if min(len(part.position) for part in quarters) < FEWEST_PER_DIMENSION * fit.position.shape[1]:
        return np.inf
    refitted = [region.refitted(part.position) for part in quarters]
    if any(other is None for other in refitted):
        return np.inf
    return shared_variance(*(_log_weights(other, use) for other in refitted if other is not None))
