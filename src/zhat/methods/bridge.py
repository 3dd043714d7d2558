"""Bridge sampling: the evidence from posterior draws and draws of a density that is fitted to them.

With p~ = prior x likelihood, q a normalised density, and any function h (Meng & Wong 1996),

    Z = E_q[ h p~ ] / E_posterior[ h q ].

The h of least variance is 1 / (s1 p~ / Z + s2 q), which contains Z; the identity is iterated to its root (`numerics.draws.bridge`). Both
averaged functions are then bounded, so that their variances exist whatever the tails of the posterior: what importance sampling needs
(q wider than the posterior) and what the harmonic mean needs (q narrower) is not needed here. It takes draws that you already have
(`zhat.evidence(model, "bridge", draws=...)`), or makes chains of its own: half of them start from tempered particles, half at modes,
so that a mode that one side misses shows in R-hat.

The density is fitted on one half of the chains and bridged to the other, then the other way round; the answer is the mean. By
default the posterior is first made symmetric (`zhat.settings.WarpIII`, Meng & Schilling 2002), which costs two evaluations a point;
`FittedNormal`, `FittedT` and `FittedMixture` leave it as it is. Works in the unconstrained coordinates.

*Its standard error.* The delta method on both means, with the autocorrelation of the posterior terms along their chains (the form of
Micaletto & Vehtari 2025), the posterior parts of the two ways counted as fully correlated: they are to leading order the same number.

*Its checks.* R-hat of the chains; enough draws to fit a density (five independent ones a dimension in each half); Pareto k and
effective sample size of the terms on both sides, which show poor overlap; that the two ways agree; that draws stand
beside the proposal's as often as the ratio of the densities says, which needs no gradient (`foreign-draws`); the tails of the slopes at the draws, which show a neck that
chains do not enter (`neck`); and the mode check (`missed_mass.beside_chains`).

*When it lies.* When the chains have not visited all of the posterior: log Z is then too low by minus the log of the share that they
visited, and no diagnostic of the draws can show it. The mode check looks for modes elsewhere; with `mode_check=False` it is not made.
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
from zhat.numerics.draws.bridge import BothWays, OneWay, one_way
from zhat.results.estimate import Diagnostic, Estimate, Status
from zhat.results.records import Draws
from zhat.sampling.backend.evaluation import log_densities, with_parameters
from zhat.sampling.chains.bridging import Bridging, BridgingFamily, Plain, WarpIII
from zhat.sampling.chains.halves import in_halves
from zhat.sampling.importance.proposals import Proposal
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.verdicts.from_chains import REMEDY, bridge_status, chains_status

# Proposal draws of one way: as many as posterior draws, up to this. Beyond, the posterior's own draws limit the error.
MOST_PROPOSALS = 10_000


@dataclass(frozen=True)
class Bridge(Method):
    """A bridge between `n_chains` chains of `n_draws` posterior draws and `n_proposals` draws, each way, of a fitted density.

    Chains that disagree a little, or have too few independent draws, are made twice as long until they are `longer` times as long;
    as many draws as before are kept.
    """

    n_chains: int = 4
    n_draws: int = 1000
    n_warmup: int = 200
    n_proposals: int | None = None
    proposal: BridgingFamily | Proposal = field(default_factory=WarpIII)
    kernel: Kernel | None = None
    mode_check: bool = True
    longer: int = 1

    name: ClassVar[str] = "bridge"
    needs: ClassVar[frozenset[Offer]] = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD})
    cites: ClassVar[tuple[str, ...]] = ("meng1996", "meng2002", "gronau2020", "micaletto2025")
    look: ClassVar[Look] = Look.from_modes(SHARP)
    when: ClassVar[str] = "posterior draws are there already (`draws=`), or chains mix well: the most accurate answer from them"
    reads_draws: ClassVar[bool] = True
    needs_with_draws: ClassVar[frozenset[Offer]] = frozenset({Offer.JOINT_DENSITY})

    def __post_init__(self) -> None:
        """Check the settings."""
        check_count("Bridge", "n_chains", self.n_chains, 2, "a density is fitted on one half of them and used on the other")
        check_count("Bridge", "n_draws", self.n_draws, 100, "a density is fitted to them")
        check_count("Bridge", "n_warmup", self.n_warmup, 0, "there cannot be fewer than none")
        check_count("Bridge", "longer", self.longer, 1, "chains have their own length at least")
        if self.n_proposals is not None:
            check_count("Bridge", "n_proposals", self.n_proposals, 100, "the error needs draws")
        if not hasattr(self.proposal, "fitted") and not hasattr(self.proposal, "log_density"):
            raise BadType(
                f"Bridge(proposal={self.proposal!r}): give zhat.settings.WarpIII(), zhat.settings.FittedNormal(), "
                "zhat.settings.FittedT() or zhat.settings.FittedMixture(), or a density of zhat.proposals."
            )
        if self.kernel is not None and not callable(getattr(self.kernel, "step", None)):
            raise BadType(f"Bridge(kernel={self.kernel!r}): give a kernel such as zhat.kernels.HMC(), or None.")

    def run(self, model: Model, bench: Workbench, key: Key) -> Estimate:
        """See `Method`."""
        watched = watched_chains(self, model, bench, key.child("chains"))
        chains = watched.chains
        record = with_parameters(model, chains.draws)
        diagnostics: dict[str, Diagnostic] = {
            "n_draws": chains.draws.n_drawn,
            "r_hat": float(chains.r_hat),
            "chain_ess": float(chains.ess),
            "fit_ess": float(chains.fit_ess),
        }
        halves = in_halves(chains.draws)
        ways = []
        for i, (fit, use) in enumerate((halves, halves[::-1])):
            way = self._one_way(model, fit, use, key.child("way", i), bench)
            if way is None:
                sentence = f"at every draw of the proposal the posterior density is zero: they do not overlap; {REMEDY}."
                return Estimate(np.nan, None, Status.failed("no-overlap", sentence), diagnostics=diagnostics, record=record)
            ways.append(way)
        both = BothWays(ways[0], ways[1])
        diagnostics |= {
            "log_evidence_of_halves": [way.log_ratio for way in ways],
            "se_of_halves": [way.se for way in ways],
            "overlap": [way.overlap for way in ways],
            "ess": min(way.ess for way in ways),
            "pareto_k": max(way.pareto_k for way in ways),
            "odds_z": [way.odds_z for way in ways],
            "zero_weights": sum(way.n_zero for way in ways),
        }
        estimate = Estimate(
            log_evidence=both.log_ratio,
            log_evidence_se=both.se,
            status=chains_status(chains, model.n_dimensions).and_(bridge_status(both)),
            diagnostics=diagnostics,
            record=record,
        )
        return looked_beside(self, model, estimate, watched, bench, key.child("mode"))

    def read(self, record: object) -> Estimate:
        """Refuse: the density that is bridged to needs evaluations of the model."""
        raise BadInput(
            "Bridge evaluates the model at draws of the fitted density, and a record has no model: "
            "zhat.evidence(model, draws=result) does that without sampling again; zhat.read(result, zhat.Reciprocal()) needs no evaluations."
        )

    def _one_way(self, model: Model, fit: Draws, use: Draws, key: Key, bench: Workbench) -> OneWay | None:
        """The bridge from a density fitted on one half to the draws of the other; None where they do not overlap at all."""
        rng = key.generator()
        density: Bridging = self.proposal.fitted(fit.position, rng) if hasattr(self.proposal, "fitted") else Plain(self.proposal)

        def target(position: np.ndarray) -> np.ndarray:
            bench.loop.tick(f"{len(position):,} points")
            log_prior, log_likelihood = log_densities(model, position, bench.loop)
            return log_prior + log_likelihood

        n = self.n_proposals or min(len(use.position), MOST_PROPOSALS)
        at_draws = density.log_ratios(use.position, use.log_prior + use.log_likelihood, target)
        at_proposals = density.log_ratios(proposed := density.draw(rng, n), None, target)
        assert use.chain is not None and len(proposed) == n
        if not np.isfinite(at_proposals).any():
            return None
        return one_way(at_draws.reshape(len(np.unique(use.chain)), -1), at_proposals)
