"""The result of reversible jump: odds between models, probabilities, joint draws, and how often the chains switched.

*Errors* come from the scatter between independent chains (`numerics.visits`). They are given only for models that the chains
entered often enough.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zhat.comparing.bayes_factor import LogBayesFactor
from zhat.errors import BadInput
from zhat.formatting import one_line
from zhat.numerics.combining.uncertainty import t_quantile
from zhat.numerics.visits import entries, hotelling, log_odds, mean_over_models, switching_se
from zhat.results.estimate import Status
from zhat.results.records import Array, Cost, Draws

# Entries into a model below which its odds have no standard error.
MIN_ENTRIES = 100
MAX_FEATURES = 12
MODELS_SHOWN = 8


@dataclass(frozen=True)
class JointDraws:
    """Draws of model and parameters together; models are visited by boosted, not by posterior, probabilities."""

    model: NDArray[np.int64]  # (n,) rows of `Jump.names`
    chain: NDArray[np.int64]  # (n,)
    position: Array  # (n, D): unconstrained coordinates; those beyond the model's own are spare
    log_likelihood: Array
    log_prior: Array  # spare coordinates included


@dataclass(frozen=True)
class Jump:
    """The result of chains over a set of models.

    Attributes
    ----------
    names, prior : tuples
        Models and their prior probabilities.
    index : (moves, chains) int array
        The model of every chain after every move.
    boost : (models,) array
        Added to the log density of each model so that chains jump often; every answer is corrected for it.
    pilot : (models,) array
        Log evidences of the pilot runs, by which the boost was chosen; `pilot_se` their errors.
    draws : JointDraws
    posterior : mapping of str to Draws
        The same draws by model, with named parameters; empty for families of subsets.
    covariates, masks
        Of a family of subsets, else empty.
    likelihood : bool
        False when the likelihood was switched off: then visits must match the prior (`null_test`).
    """

    names: tuple[str, ...]
    prior: tuple[float, ...]
    index: NDArray[np.int64]
    boost: Array
    pilot: Array
    pilot_se: Array
    draws: JointDraws
    posterior: Mapping[str, Draws]
    covariates: tuple[str, ...]
    masks: Array
    likelihood: bool
    jump_acceptance: float
    acceptance: Array
    status: Status
    seed: int
    cost: Cost
    settings: Mapping[str, Any]
    cites: ClassVar[tuple[str, ...]] = ("green1995", "carlin1995", "brooks2003")

    # -- how often -----------------------------------------------------------------------------------------------

    @property
    def visits(self) -> Array:
        """Number of moves after which each chain was in each model, (chains, models)."""
        chains, n_models = self.index.shape[1], len(self.names)
        flat = self.index + n_models * np.arange(chains)
        return np.bincount(flat.ravel(), minlength=chains * n_models).reshape(chains, n_models).astype(np.float64)

    @property
    def entries(self) -> NDArray[np.int64]:
        """How often each model was entered from another, over all chains."""
        return np.asarray(entries(self.index, len(self.names)).sum(axis=0))

    @property
    def switches(self) -> int:
        """Moves that changed the model, over all chains."""
        return int((self.index[1:] != self.index[:-1]).sum())

    @property
    def round_trips(self) -> int:
        """Number of times that chains left the most probable model and returned to it."""
        best = int(np.argmax(self.probabilities))
        came = entries(self.index, len(self.names))[:, best]
        return int(np.maximum(came - (self.index[0] != best), 0).sum())

    # -- what it says --------------------------------------------------------------------------------------------

    @property
    def _correction(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.asarray(self.prior)) - self.boost)

    @property
    def probabilities(self) -> Array:
        """Posterior probabilities of the models."""
        return mean_over_models(self.visits, self._correction, np.eye(len(self.names)))[0]

    @property
    def probabilities_se(self) -> Array:
        """Their standard errors, from the scatter between chains."""
        return mean_over_models(self.visits, self._correction, np.eye(len(self.names)))[1]

    def log_bayes_factor(self, first: str, second: str) -> LogBayesFactor:
        """Of the first model against the second; without an error where one of them was entered fewer than 100 times."""
        i, j = self._row(first), self._row(second)
        value, se = log_odds(self.visits, self.boost, i, j)
        seldom = min(self.entries[i], self.entries[j]) < MIN_ENTRIES
        known = None if seldom or not math.isfinite(se) else se
        return LogBayesFactor(first, second, value, known, float(self.index.shape[1] - 1))

    def switching_se(self, first: str, second: str) -> float:
        """The error of the log Bayes factor from visits and switches alone, for a check where there are two models.

        About sqrt(2 / switches from one to the other). Of more models only direct switches between these two count, which makes
        it too large.
        """
        i, j = self._row(first), self._row(second)
        there = int(((self.index[:-1] == i) & (self.index[1:] == j)).sum())
        back = int(((self.index[:-1] == j) & (self.index[1:] == i)).sum())
        total = self.visits.sum(axis=0)
        return switching_se(float(total[i]), float(total[j]), there, back)

    @property
    def inclusion(self) -> dict[str, float]:
        """Posterior probability that a covariate is in the model; for a family of subsets."""
        return self._over_masks(0)

    @property
    def inclusion_se(self) -> dict[str, float]:
        """Standard errors of the inclusion probabilities, from the scatter between chains."""
        return self._over_masks(1)

    def _over_masks(self, which: int) -> dict[str, float]:
        if not self.covariates:
            raise BadInput("inclusion probabilities are of a family of subsets: zhat.jump(zhat.Subsets(...)).")
        found = mean_over_models(self.visits, self._correction, self.masks)[which]
        return dict(zip(self.covariates, map(float, found), strict=True))

    @property
    def averaged_coefficients(self) -> Array:
        """Coefficients averaged over models, an excluded one counting as zero; see `SubsetEvidences`."""
        if not self.covariates:
            raise BadInput(
                "averaged coefficients are of a family of subsets: zhat.jump(zhat.Subsets(...)); else use zhat.average()."
            )
        weight = np.exp(self._correction - self._correction[np.unique(self.draws.model)].max())[self.draws.model]
        extra = self.draws.position.shape[1] - len(self.covariates)
        present = np.concatenate([np.ones((len(self.masks), extra)), self.masks], axis=1)[self.draws.model]
        return np.asarray(weight @ (self.draws.position * present) / weight.sum())

    def null_test(self) -> tuple[float, int, int, float]:
        """Test that visits match the prior with the likelihood off: F statistic, its two degrees of freedom, p-value.

        Chains are the independent units, so that correlation in time is accounted for. Many models are taken in groups; the
        subsets of a family by their covariates.
        """
        if self.likelihood:
            raise BadInput("null_test() is for a run with the likelihood switched off: jump(..., likelihood=False).")
        shares = self.visits / self.index.shape[0]
        chances = np.asarray(self.prior)
        if self.covariates:
            features = self.masks[:, : max(1, min(len(self.covariates), self.index.shape[1] // 3))]
        else:
            n_groups = min(len(self.names), MAX_FEATURES + 1, max(2, self.index.shape[1] // 3))
            group = np.arange(len(self.names)) * n_groups // len(self.names)
            features = np.eye(n_groups)[group][:, 1:]  # the shares sum to one, so one of them is redundant
        return hotelling(shares @ features, chances @ features)

    # -- for averaging, as a Comparison has them -----------------------------------------------------------------

    @property
    def best(self) -> str:
        """The most probable model."""
        return self.names[int(np.argmax(self.probabilities))]

    @property
    def suspects(self) -> tuple[str, ...]:
        """All models if the run is not ok, since an average over them is suspect as well."""
        return () if self.status.is_ok else self.names

    def draws_of(self, name: str) -> Draws:
        """Posterior draws within one model, with named parameters."""
        self._row(name)
        if name not in self.posterior:
            raise BadInput(f"no draw of model {name!r} was kept: chains visited it too rarely, or it is a subset of a family.")
        return self.posterior[name]

    def _row(self, name: str) -> int:
        if name not in self.names:
            raise BadInput(f"there is no model {name!r} in this run; it has {', '.join(map(repr, self.names[:MODELS_SHOWN]))}.")
        return self.names.index(name)

    def __str__(self) -> str:
        """Models with their probabilities, the number of switches, and the reasons of the verdict."""
        p, se, came = self.probabilities, self.probabilities_se, self.entries
        half = t_quantile(0.975, self.index.shape[1] - 1)
        names = [one_line(name) for name in self.names]
        width = max(map(len, names))
        lines = [
            f"{self.index.shape[1]} chains of {self.index.shape[0]:,} moves: {self.switches:,} switches "
            f"({self.jump_acceptance:.0%} of jumps accepted), {self.round_trips:,} round trips"
            f"{'' if self.likelihood else '; likelihood off'}"
        ]
        for i in np.argsort(-p, kind="stable")[:MODELS_SHOWN]:
            bounds = f"{max(p[i] - half * se[i], 0.0):.4f} to {min(p[i] + half * se[i], 1.0):.4f}"
            lines.append(f"  {names[i]:<{width}}  {p[i]:.4f}  ({bounds})  entered {came[i]:,} times")
        if len(self.names) > MODELS_SHOWN:
            lines.append(f"  and {len(self.names) - MODELS_SHOWN} more")
        if not self.likelihood:
            f, df1, df2, chance = self.null_test()
            lines.append(f"visits against the prior: F({df1}, {df2}) = {f:.2f}, p = {chance:.3f}")
        lines += [f"{self.status.level.value}: {reason.sentence}" for reason in self.status.reasons]
        return "\n".join(lines + [f"note: {note.sentence}" for note in self.status.notes])

    __repr__ = __str__
