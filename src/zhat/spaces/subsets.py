"""All subsets of covariates: evidences of every model, probabilities, and inclusion probabilities of the covariates.

The family is one model whose data hold a mask of zeros and ones, one for each covariate that may be excluded: the likelihood
multiplies the coefficients by it. An excluded coefficient keeps its proper prior and has no effect, which leaves the evidence
unchanged, so that all 2^p models share one likelihood and one prior, and importance sampling at their modes takes a few
compiled calls. Models whose weights do not pass (Pareto k, effective sample size, no mode found) are run one by one by
`evidence`.

    family = Subsets(model, ("age", "income", ...), mask="mask")
    result = family.enumerate(seed=1)
    result.inclusion, result.top(5)
    family.search(seed=1)            # 2^20 models and more: walks over models (`spaces.search`)
    zhat.jump(family, seed=1)   # reversible jump over models and parameters together (`spaces.jump`)

*When it lies.* The mode of every model is found by one optimisation from the origin. The most probable models are optimised
again from prior draws, and the verdict reports modes found that way; for posteriors with several modes use `zhat.compare`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zhat.comparing.averaging import posterior_draws
from zhat.errors import BadInput, BadType
from zhat.methods._base import check_count
from zhat.model.model import Model
from zhat.numerics.combining.model_weights import probabilities
from zhat.results.estimate import Evidence, Status
from zhat.results.records import Array
from zhat.run.checkpoint.checkpoint import checkpointed
from zhat.run.distribution.executors import opened
from zhat.run.many_models import run_models
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.families import Peaks, importance_of_all
from zhat.seeding import Key, check_seed
from zhat.spaces.one_peak import SEARCHED, modes_status
from zhat.spaces.search import SearchSettings, SubsetSearch, moves_by_default, search_subsets
from zhat.spaces.subset_results import SubsetEvidences, model_name
from zhat.verdicts.nan import nan_status_of_family
from zhat.verdicts.weights import MAX_PARETO_K, MIN_ESS

if TYPE_CHECKING:
    from zhat.model.regression.families import Family
    from zhat.model.regression.priors import Prior
    from zhat.spaces.linear_subsets import LinearSubsets

MOST = 16  # covariates: 65,536 models
# A suspect model with less posterior probability than this hardly changes any answer.
NEGLIGIBLE = 1e-3


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
            raise BadType(f"Subsets(model=...): give a zhat.Model, not a {type(self.model).__name__}.")
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

    @staticmethod
    def from_formula(
        formula: str, data: Any, family: Family | str = "gaussian", *, prior: Prior | None = None
    ) -> Subsets | LinearSubsets:
        """All subsets of the terms of a formula; arguments as in `zhat.formula`.

        For a gaussian response every model is exact, and the family is a `LinearSubsets` with `enumerate` and `at`.
        """
        from zhat.adapters.formula.subsets import subsets_of

        return subsets_of(formula, data, family, prior)

    def at(self, included: Sequence[str] | Array) -> Model:
        """One model of the family, by the names of its covariates or by a mask."""
        if isinstance(included, np.ndarray):
            mask = included.astype(np.float64)
        else:
            unknown = [name for name in included if name not in self.covariates]
            if unknown:
                raise BadInput(f"Subsets.at(): no covariate {unknown[0]!r}; there are {', '.join(self.covariates)}.")
            mask = np.array([float(name in included) for name in self.covariates])
        data = {**self.model.data, self.mask: mask}
        return self.model.with_data(data, name=model_name(self.covariates, mask), data_id=self.model.data_id)

    def enumerate(
        self,
        *,
        prior: Callable[[Array], float] | None = None,
        n_draws: int = 12_000,
        seed: int | None = None,
        progress: bool | None = None,
        executor: Executor | str | None = None,
        workers: int | None = None,
    ) -> SubsetEvidences:
        """Evidences of all subsets.

        Parameters
        ----------
        prior : callable, optional
            Unnormalised prior probability of a mask (0 and 1 per covariate); all alike by default.
        n_draws : int
            Weighted draws for every model.
        executor, workers
            Where the models that are run one by one are run, as in `evidence`; the digits are the same everywhere.
        """
        p = len(self.covariates)
        if p > MOST:
            raise BadInput(
                f"{p} covariates are {2**p:,} models, too many to enumerate (at most {MOST} covariates): use search()."
            )
        check_count("Subsets.enumerate", "n_draws", n_draws, 500, "Pareto k and the standard error need draws")
        masks = all_masks(p)
        chances = prior_of(masks, prior, "Subsets.enumerate")
        key = Key(check_seed(seed)).child("subsets")
        loop = Loop(None, progress, "subsets")
        found = importance_of_all(self.model, self.mask, masks, n_draws, key.child("all"), loop)
        log_z, se = found.log_evidence.copy(), found.se.copy()
        moments = [found.mean.copy(), found.mean_se.copy(), found.variance.copy()]
        refused = ~found.peaks.converged | (found.ess < MIN_ESS) | (found.pareto_k >= MAX_PARETO_K)
        refined = tuple(int(i) for i in np.flatnonzero(refused))
        seeds = {i: int(key.child("one", i).generator().integers(2**63)) for i in refined}
        asked = {str(i): (self.at(masks[i]), seeds[i], 1) for i in refined}
        with opened(executor, workers) as where:
            runs = run_models(asked, None, progress, None, where)
        suspect = []
        for i, run in zip(refined, runs.values(), strict=True):
            log_z[i], se[i] = run.log_evidence, np.nan if run.error is None else run.error
            for array, value in zip(moments, moments_of(run), strict=True):
                array[i] = value
            if not run.status.is_ok:
                suspect.append(i)
        loop.done()
        p_of = probabilities(np.where(np.isnan(log_z), -np.inf, log_z), chances)
        status = self._verdict(masks, p_of, suspect, found.peaks, key.child("look"), loop)
        mean, mean_se, variance = moments
        arrays = (masks, log_z, se, chances, mean, mean_se, variance)
        return SubsetEvidences(self.covariates, *arrays, refined, tuple(suspect), status)

    def search(
        self,
        *,
        prior: Callable[[Array], float] | None = None,
        n_chains: int = 32,
        n_moves: int | None = None,
        n_refined: int = 64,
        n_draws: int = 4000,
        seed: int | None = None,
        progress: bool | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> SubsetSearch:
        """Metropolis walks over the models, for families too large to enumerate.

        Parameters
        ----------
        prior : callable, optional
            Unnormalised prior probability of a mask (0 and 1 per covariate); all alike by default.
        n_chains : int
            Number of walks, started at models of all sizes; the error is their scatter.
        n_moves : int, optional
            Moves of each walk, of which a quarter is discarded; by default 60 per covariate, and at least 1,500.
        n_refined : int
            Models whose evidence is refined by importance sampling, the most probable ones first.
        n_draws : int
            Weighted draws for each of them.
        checkpoint : path, optional
            As in `evidence`.
        """
        moves = moves_by_default(len(self.covariates)) if n_moves is None else n_moves
        settings = SearchSettings(n_chains, moves, n_refined, n_draws)
        about = {**vars(settings), "prior": prior, "covariates": self.covariates}
        with checkpointed(checkpoint, "Subsets.search", {self.model.name: self.model}, about, seed) as own_seed:
            return search_subsets(self, prior, settings, own_seed, progress)

    def _verdict(self, masks: Array, p: Array, suspect: list[int], peaks: Peaks, key: Key, loop: Loop) -> Status:
        status = Status.ok()
        doubtful = [i for i in suspect if p[i] >= NEGLIGIBLE]
        if doubtful:
            names = ", ".join(model_name(self.covariates, masks[i]) for i in doubtful[:5])
            sentence = f"the evidences of {len(doubtful)} probable models are suspect ({names}); run these with another method."
            status = status.and_(Status.suspect("suspect-models", sentence))
        best = np.argsort(-p, kind="stable")[:SEARCHED]
        status = status.and_(modes_status(self, masks[best], peaks.some(best), key, loop))
        return status.and_(nan_status_of_family(loop.n_nan, self.model.zero_where_nan))


def all_masks(p: int) -> Array:
    """Every mask of p covariates, in the order of binary numbers; the first covariate is the lowest bit."""
    return ((np.arange(2**p)[:, None] >> np.arange(p)) & 1).astype(np.float64)


def prior_of(masks: Array, prior: Callable[[Array], float] | None, who: str) -> Array:
    """Prior probabilities of these models, summing to one."""
    chances = np.ones(len(masks)) if prior is None else np.array([float(prior(mask)) for mask in masks])
    if not (np.isfinite(chances).all() and (chances >= 0.0).all() and chances.sum() > 0.0):
        raise BadInput(f"{who}(prior=...): it must return a finite number, 0 or above, for every mask.")
    return np.asarray(chances / chances.sum())


def moments_of(run: Evidence) -> tuple[Array, Array, Array]:
    """Posterior means, their errors and variances from the draws of a run; NaN where it left none."""
    try:
        draws = posterior_draws(run)
    except BadInput:
        unknown = np.full(run.n_dimensions, np.nan)
        return unknown, unknown, unknown
    log_weight = np.zeros(len(draws.position)) if draws.log_weight is None else draws.log_weight
    share = np.exp(log_weight - log_weight.max())
    alive = share > 0.0
    share, position = share[alive] / share[alive].sum(), draws.position[alive]
    mean = share @ position
    squared = (position - mean) ** 2
    return mean, np.sqrt((share * share) @ squared), share @ squared
