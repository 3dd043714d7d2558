"""All subsets of covariates: evidences of every model, probabilities, and which covariates matter.

The family is one model whose data hold a mask of zeros and ones, one for each covariate that may be left out: the likelihood
multiplies the coefficients by it. An excluded coefficient keeps its proper prior and has no effect, which leaves the evidence
unchanged, so that all 2^p models are one likelihood and one prior, and importance sampling at their modes goes through in a few
compiled calls. Models whose weights refuse (Pareto k, effective sample, no peak) are run one by one through the front door.

    family = Subsets(model, ("age", "income", ...), mask="mask")
    result = family.enumerate(seed=1)
    result.inclusion, result.top(5)

*Errors.* Those of the log evidences, carried to probabilities and inclusion probabilities by simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evidentia.errors import BadInput, BadType
from evidentia.estimate import evidence
from evidentia.methods._base import check_count
from evidentia.model import Model
from evidentia.numerics.model_weights import probabilities, simulated_probabilities
from evidentia.records import Array
from evidentia.sampling.loop import Loop
from evidentia.sampling.many import importance_of_all
from evidentia.sampling.verdict import MAX_PARETO_K, MIN_ESS
from evidentia.seeding import Key, check_seed

MOST = 16  # covariates: 65,536 models
N_SIMULATED = 2000


@dataclass(frozen=True)
class Subsets:
    """The family of all subsets of `covariates` of a model whose `data` is a dictionary with a mask."""

    model: Model
    covariates: tuple[str, ...]
    mask: str = "mask"

    def __post_init__(self) -> None:
        """Check that the model has such a mask."""
        object.__setattr__(self, "covariates", tuple(self.covariates))
        if not isinstance(self.model, Model):
            raise BadType(f"Subsets(model=...): give a Model, not a {type(self.model).__name__}.")
        if self.model.is_black_box:
            raise BadInput(f"Subsets: {self.model.name!r} is a black box; its subsets cannot be run together.")
        data = self.model.data
        if not isinstance(data, Mapping) or self.mask not in data:
            raise BadInput(f"Subsets: the model's data must be a dictionary with an entry {self.mask!r} of zeros and ones.")
        if np.shape(data[self.mask]) != (len(self.covariates),):
            raise BadInput(
                f"Subsets: the mask has shape {np.shape(data[self.mask])} for {len(self.covariates)} covariates; it needs one "
                "entry each."
            )

    def at(self, included: Sequence[str] | Array) -> Model:
        """One model of the family: the named covariates, or a mask."""
        if isinstance(included, np.ndarray):
            mask = included.astype(np.float64)
        else:
            unknown = [name for name in included if name not in self.covariates]
            if unknown:
                raise BadInput(f"Subsets.at(): no covariate {unknown[0]!r}; there are {', '.join(self.covariates)}.")
            mask = np.array([float(name in included) for name in self.covariates])
        names = [c for c, m in zip(self.covariates, mask, strict=True) if m]
        data_id = self.model.data_id
        return self.model.with_data({**self.model.data, self.mask: mask}, name=" + ".join(["1", *names]), data_id=data_id)

    def enumerate(
        self,
        *,
        prior: Callable[[Array], float] | None = None,
        n_draws: int = 8000,
        seed: int | None = None,
        progress: bool | None = None,
    ) -> SubsetEvidences:
        """Evidences of all subsets.

        Parameters
        ----------
        prior : callable, optional
            Unnormalised prior probability of a mask (0 and 1 per covariate); all alike by default.
        n_draws : int
            Weighted draws for every model.
        """
        p = len(self.covariates)
        if p > MOST:
            raise BadInput(f"{p} covariates are {2**p:,} models, too many to enumerate: at most {MOST} covariates.")
        check_count("Subsets.enumerate", "n_draws", n_draws, 500, "Pareto k and the error need draws to look at")
        masks = ((np.arange(2**p)[:, None] >> np.arange(p)) & 1).astype(np.float64)
        chances = np.ones(len(masks)) if prior is None else np.array([float(prior(mask)) for mask in masks])
        if not (np.isfinite(chances).all() and (chances >= 0.0).all() and chances.sum() > 0.0):
            raise BadInput("Subsets.enumerate(prior=...): it must give a finite number, not negative, for every mask.")
        key = Key(check_seed(seed)).child("subsets")
        loop = Loop(None, progress, "subsets")
        found = importance_of_all(self.model, self.mask, masks, n_draws, key.child("all"), loop)
        log_z, se = found.log_evidence.copy(), found.se.copy()
        refused = ~found.climbed | (found.ess < MIN_ESS) | (found.pareto_k >= MAX_PARETO_K)
        suspect = []
        for i in np.flatnonzero(refused):
            seed_i = int(key.child("one", int(i)).generator().integers(2**63))
            run = evidence(self.at(masks[i]), seed=seed_i, progress=progress)
            log_z[i], se[i] = run.log_evidence, np.nan if run.error is None else run.error
            if not run.status.is_ok:
                suspect.append(int(i))
        refined = tuple(int(i) for i in np.flatnonzero(refused))
        chances = chances / chances.sum()
        return SubsetEvidences(self.covariates, masks, log_z, se, chances, found.mean, refined, tuple(suspect))


@dataclass(frozen=True)
class SubsetEvidences:
    """What enumeration found: one row a model, in the order of the masks read as binary numbers (first covariate lowest).

    `refined` are the rows that were run one by one, `suspect` those of them whose run doubts itself.
    """

    covariates: tuple[str, ...]
    masks: Array
    log_evidence: Array
    se: Array
    prior: Array
    coefficients: Array
    refined: tuple[int, ...]
    suspect: tuple[int, ...]

    @cached_property
    def probabilities(self) -> Array:
        """Posterior probability of every model."""
        return probabilities(self.log_evidence, self.prior)

    @property
    def inclusion(self) -> dict[str, float]:
        """Posterior probability that a covariate is in the model."""
        return dict(zip(self.covariates, map(float, self.probabilities @ self.masks), strict=True))

    @cached_property
    def inclusion_se(self) -> dict[str, float]:
        """Standard errors of the inclusion probabilities, from those of the evidences (where they have one)."""
        from evidentia.seeding import Key

        spread = np.nan_to_num(self.se)
        rng = Key(1).child("inclusion").generator()
        infinite = np.full(len(spread), np.inf)
        draws = simulated_probabilities(self.log_evidence, spread, infinite, self.prior, rng, N_SIMULATED)
        return dict(zip(self.covariates, map(float, (draws @ self.masks).std(axis=0)), strict=True))

    def name(self, i: int) -> str:
        """The model of a row in words."""
        return " + ".join(["1", *(c for c, m in zip(self.covariates, self.masks[i], strict=True) if m)])

    def row(self, included: Sequence[str]) -> int:
        """The row of a model, by the covariates in it."""
        return int(sum(1 << self.covariates.index(name) for name in included))

    def top(self, n: int = 10) -> list[tuple[str, float, float, float]]:
        """The n most probable models: name, probability, log evidence, its error."""
        order = np.argsort(-self.probabilities, kind="stable")[:n]
        return [(self.name(i), float(self.probabilities[i]), float(self.log_evidence[i]), float(self.se[i])) for i in order]

    @property
    def averaged_coefficients(self) -> Array:
        """Posterior means of the unconstrained coordinates averaged over models, an excluded coefficient counting as zero.

        Only meaningful where the coordinates after the first ones are the coefficients of the covariates, in their order.
        """
        extra = self.coefficients.shape[1] - len(self.covariates)
        present = np.concatenate([np.ones((len(self.masks), extra)), self.masks], axis=1)
        return np.asarray(self.probabilities @ (self.coefficients * present))

    def __str__(self) -> str:
        """Inclusion probabilities and the most probable models."""
        lines = [f"{len(self.masks)} models; inclusion probabilities:"]
        lines += [f"  {name:<12} {value:.4f} ± {self.inclusion_se[name]:.2g}" for name, value in self.inclusion.items()]
        lines.append("most probable models:")
        lines += [f"  {p:.4f}  log Z {z:.3f} ± {se:.2g}  {name}" for name, p, z, se in self.top(5)]
        if self.suspect:
            lines.append(f"not to be trusted: {', '.join(self.name(i) for i in self.suspect)}")
        return "\n".join(lines)
