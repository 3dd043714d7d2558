"""Search in a family of subsets too large to enumerate: Metropolis walks that add, delete and swap covariates.

Many walks run together over the masks gamma with target P(gamma) Z_gamma: a move flips one covariate, or swaps an included one
for an excluded one. Z_gamma is Laplace's approximation at the mode of the model (`sampling.importance.families`). The optimiser
starts at the mode of the model that differs in one or two covariates, many models are optimised in one compiled call, and the
result is kept: no model is optimised twice. On a logistic regression with 30 covariates and 500 rows one optimisation costs as
much as 70 draws of importance sampling. The most probable models are then refined by importance sampling, and the walks are
corrected for the difference; for models that were not refined it is predicted by a straight line in the number of covariates.

*Inclusion* is not counted but computed: whenever a flip of covariate j was proposed, the evidences of both models are known, and

    P(gamma_j = 1 | the others) = Z_1 P_1 / (Z_1 P_1 + Z_0 P_0)

is averaged over the walk (Rao-Blackwell); coefficients likewise. This holds also where the walks visit a small share of all
models. `visited_share` estimates the posterior mass of the evaluated models: the share of moves at which one half of the walks
is at a model that the other half has evaluated too.

*Its error.* From the scatter between walks, which start apart (no covariates, all, and random subsets), with the errors of the
evidences added.

Coefficients are posterior means where a model was refined, else those of its mode.

*When it lies.* Walks that all miss the same distant group of models agree with each other. The verdict rests on R-hat of the
walks' posterior density and on the share of walks that visited the best model.

(George & McCulloch 1997 for such walks; Madigan & York 1995 for the moves.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from zhat.methods._base import check_count
from zhat.numerics.combining.model_weights import average_over_models
from zhat.numerics.series import r_hat
from zhat.results.estimate import Status
from zhat.results.records import Array, Cost
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.families import importance_of_all, peaks_of_all
from zhat.seeding import Key
from zhat.spaces.one_peak import SEARCHED, modes_status
from zhat.spaces.subset_results import TopModel, lines_of, model_name, top_models
from zhat.spaces.walks import Integers, Known, Walks, walk
from zhat.verdicts.nan import nan_status_of_family
from zhat.verdicts.weights import MAX_PARETO_K, MIN_ESS

if TYPE_CHECKING:
    from zhat.spaces.subsets import Subsets

# In small families, where moves are cheap, shorter walks still depended on their starts.
FEWEST_MOVES = 1500
# Walks are many and short: one walk away from the others gives 1.5 and more.
MAX_R_HAT = 1.1
# A best model of this probability should be visited by most walks.
PROMINENT = 0.01
FEW_VISITED = 0.5
LARGE_CORRECTION = 0.3


@dataclass(frozen=True)
class SubsetSearch:
    """The result of the walks; rows are the evaluated models, the most probable first.

    Attributes
    ----------
    masks, log_evidence, se : arrays
        Models, their log evidences, and errors: the standard error where refined, else the scatter of the corrections.
    refined : (n,) bool array
        Whether an evidence was estimated by importance sampling.
    probabilities : (n,) array
        Posterior probabilities; they sum to `visited_share`.
    visited_share : float
        Estimated share of the posterior mass in these models.
    r_hat : float
        Of the walks' log posterior.
    walks_at_best : float
        Share of the walks that visited the most probable model.
    """

    covariates: tuple[str, ...]
    masks: Array
    log_evidence: Array
    se: Array
    refined: NDArray[np.bool_]
    probabilities: Array
    inclusion: dict[str, float]
    inclusion_se: dict[str, float]
    averaged_coefficients: Array
    averaged_coefficients_se: Array
    visited_share: float
    r_hat: float
    walks_at_best: float
    status: Status
    n_chains: int
    n_moves: int
    seed: int
    cost: Cost
    cites: ClassVar[tuple[str, ...]] = ("george1997", "madigan1995")

    def name(self, i: int) -> str:
        """The model of a row in words."""
        return model_name(self.covariates, self.masks[i])

    def top(self, n: int = 10) -> list[TopModel]:
        """The n most probable models: name, probability, log evidence, its error."""
        return top_models(self.covariates, self.masks, self.probabilities, self.log_evidence, self.se, n)

    def __str__(self) -> str:
        """Inclusion probabilities, the most probable models, and the reasons of the verdict."""
        head = (
            f"{len(self.masks):,} of {2.0 ** len(self.covariates):.3g} models evaluated, with about {self.visited_share:.1%} of "
            f"the mass; {self.n_chains} walks of {self.n_moves:,} moves, R-hat {self.r_hat:.3f}; inclusion probabilities:"
        )
        return "\n".join([head, *lines_of(self.inclusion, self.inclusion_se, self.top(5), self.status)])


@dataclass(frozen=True)
class SearchSettings:
    """How long the walks are and what is refined; see `Subsets.search`."""

    n_chains: int
    n_moves: int
    n_refined: int
    n_draws: int

    def __post_init__(self) -> None:
        """Check the counts."""
        check_count("Subsets.search", "n_chains", self.n_chains, 4, "the error is their scatter")
        check_count("Subsets.search", "n_moves", self.n_moves, 40, "a quarter of them is discarded")
        check_count("Subsets.search", "n_refined", self.n_refined, 4, "Laplace's evidences are compared with them")
        check_count("Subsets.search", "n_draws", self.n_draws, 500, "Pareto k and the standard error need draws")


def moves_by_default(n_covariates: int) -> int:
    """Moves of each walk for a family of this size."""
    return max(FEWEST_MOVES, 60 * n_covariates)


def search_subsets(
    family: Subsets, prior: Callable[[Array], float] | None, settings: SearchSettings, seed: int, progress: bool | None
) -> SubsetSearch:
    """See `Subsets.search`."""
    key = Key(seed).child("search")
    loop = Loop(None, progress, "search")
    known = Known(family, prior, loop)
    walks = walk(known, settings.n_chains, settings.n_moves, key.child("walk"), loop)
    found = _result(family, known, walks, settings, seed, key, loop)
    loop.done()
    return found


def _result(
    family: Subsets, known: Known, walks: Walks, settings: SearchSettings, seed: int, key: Key, loop: Loop
) -> SubsetSearch:
    masks, cheap = np.stack(known.masks), np.array(known.log_z)
    log_prior, mode = np.array(known.log_prior), np.stack(known.mode)
    chosen = np.argsort(-(cheap + log_prior), kind="stable")[: settings.n_refined]
    chosen = chosen[np.isfinite((cheap + log_prior)[chosen])]
    peaks = peaks_of_all(family.model, family.mask, masks[chosen], loop, mode[chosen])
    fine = importance_of_all(family.model, family.mask, masks[chosen], settings.n_draws, key.child("refine"), loop, peaks)
    usable = peaks.converged & (fine.ess >= MIN_ESS) & (fine.pareto_k < MAX_PARETO_K)
    correction, scatter, tilt = _corrections(masks, cheap, chosen[usable], fine.log_evidence[usable])
    log_z, se = cheap + correction, np.full(len(cheap), scatter)
    refined = np.zeros(len(cheap), bool)
    refined[chosen[usable]], se[chosen[usable]] = True, fine.se[usable]
    coefficients, errors = mode.copy(), np.zeros_like(mode)
    coefficients[chosen[usable]], errors[chosen[usable]] = fine.mean[usable], fine.mean_se[usable]

    joint = log_z + log_prior
    share, r, at_best = _agreement(walks, joint, int(np.argmax(joint)))
    among = np.exp(joint - joint.max())
    among /= among.sum()
    inclusion, inclusion_se, slopes, slopes_se = _averages(walks, cheap + log_prior, correction, masks, coefficients)
    _, from_evidences = average_over_models(masks, among, se)
    # The straight line has an error of its own, which tilts the log odds of inclusion of all covariates alike.
    from_line = inclusion * (1.0 - inclusion) * tilt
    inclusion_se = np.sqrt(inclusion_se**2 + from_evidences**2 + from_line**2)
    present = np.concatenate([np.ones((len(masks), mode.shape[1] - masks.shape[1])), masks], axis=1)
    _, from_means = average_over_models(coefficients * present, among, se, errors * present)
    slopes_se = np.hypot(slopes_se, from_means)
    status = _verdict(r, at_best, share, float(share * among.max()), scatter, int((~usable).sum()), len(chosen))
    best = np.arange(min(SEARCHED, len(chosen)))
    status = status.and_(modes_status(family, masks[chosen[best]], peaks.some(best), key.child("look"), loop))
    status = status.and_(nan_status_of_family(loop.n_nan, family.model.zero_where_nan))
    order = np.argsort(-among, kind="stable")
    return SubsetSearch(
        covariates=family.covariates,
        masks=masks[order],
        log_evidence=log_z[order],
        se=se[order],
        refined=refined[order],
        probabilities=share * among[order],
        inclusion=dict(zip(family.covariates, map(float, inclusion), strict=True)),
        inclusion_se=dict(zip(family.covariates, map(float, inclusion_se), strict=True)),
        averaged_coefficients=slopes,
        averaged_coefficients_se=slopes_se,
        visited_share=share,
        r_hat=r,
        walks_at_best=at_best,
        status=status,
        n_chains=walks.at.shape[1],
        n_moves=settings.n_moves,
        seed=seed,
        cost=loop.cost(0.0),
    )


def _corrections(masks: Array, cheap: Array, rows: Integers, fine: Array) -> tuple[Array, float, float]:
    """The correction of every Laplace evidence, its scatter about a line in the number of covariates, the slope's error."""
    if len(rows) < 4:
        return np.zeros(len(cheap)), np.nan, np.nan
    size = masks.sum(axis=1)
    x = np.column_stack([np.ones(len(rows)), size[rows] - size[rows].mean()])
    found = fine - cheap[rows]
    line = np.linalg.lstsq(x, found, rcond=None)[0]
    # Not extrapolated beyond the sizes that were refined.
    inside = np.clip(size, size[rows].min(), size[rows].max())
    correction = line[0] + line[1] * (inside - size[rows].mean())
    scatter = float(np.sqrt(np.sum((found - x @ line) ** 2) / max(len(rows) - 2, 1)))
    correction[rows] = found
    return np.asarray(correction), scatter, scatter / max(float(np.linalg.norm(x[:, 1])), 1.0)


def _averages(
    walks: Walks, joint: Array, correction: Array, masks: Array, coefficients: Array
) -> tuple[Array, Array, Array, Array]:
    """Inclusion of every covariate and averaged coefficients, each with the error from the scatter between walks.

    The walks have the Laplace evidences as target; a pair of models is weighted by the correction of the two together.
    """
    p, n_chains = masks.shape[1], walks.at.shape[1]
    extra = coefficients.shape[1] - p
    total, inside, slope = (np.zeros((n_chains, p)) for _ in range(3))
    looked = walks.flipped >= 0
    chain = np.broadcast_to(np.arange(n_chains), looked.shape)[looked]
    j, zero, one = walks.flipped[looked], walks.without[looked], walks.with_[looked]
    with np.errstate(divide="ignore"):
        before = np.logaddexp(joint[zero], joint[one])
        up = joint[one] + correction[one]
        after = np.logaddexp(joint[zero] + correction[zero], up)
    weight = np.exp(after - before)
    chance = np.exp(up - after)
    np.add.at(total, (chain, j), weight)
    np.add.at(inside, (chain, j), weight * chance)
    np.add.at(slope, (chain, j), weight * chance * coefficients[one, extra + j])
    # Coefficients of every model (an intercept) are averaged over the models that the walks visited.
    stay = np.exp(correction[walks.at])
    always = np.einsum("tc,tcd->cd", stay, coefficients[walks.at][..., :extra])
    slope = np.concatenate([always, slope], axis=1)
    beside = np.concatenate([np.repeat(stay.sum(axis=0)[:, None], extra, axis=1), total], axis=1)
    return *_ratio(inside, total), *_ratio(slope, beside)


def _ratio(part: Array, total: Array) -> tuple[Array, Array]:
    """Ratio of sums over walks, (walks, ...), and its standard error from their scatter."""
    mean = part.sum(axis=0) / np.maximum(total.sum(axis=0), 1e-300)
    off = (part - mean * total) / np.maximum(total.mean(axis=0), 1e-300)
    return mean, off.std(axis=0, ddof=1) / np.sqrt(len(part))


def _agreement(walks: Walks, joint: Array, best: int) -> tuple[float, float, float]:
    """Share of the mass in evaluated models, R-hat of the walks, share of the walks that visited the best model."""
    half = np.arange(walks.at.shape[1]) % 2
    other = walks.seen_by[:, ::-1]
    share = float(np.mean(other[walks.at, half]))
    height = joint[walks.at].T
    worst = r_hat(height)
    return share, float(worst), float(np.mean((walks.at == best).any(axis=0)))


def _verdict(r: float, at_best: float, share: float, p_best: float, scatter: float, n_refused: int, n_chosen: int) -> Status:
    status = Status.ok()
    if not r <= MAX_R_HAT:
        sentence = f"the walks do not agree (R-hat {r:.2f} of their posterior density): give more n_moves."
        status = status.and_(Status.suspect("chains-disagree", sentence))
    if p_best >= PROMINENT and at_best < 0.5:
        sentence = f"only {at_best:.0%} of the walks visited the best model found: there may be better ones; give more n_moves."
        status = status.and_(Status.suspect("best-model", sentence))
    if share < FEW_VISITED:
        sentence = (
            f"the evaluated models hold only {share:.0%} of the posterior mass: inclusion probabilities remain valid, the list of "
            "best models may be incomplete; give more n_moves."
        )
        status = status.and_(Status.suspect("few-visited", sentence))
    if not scatter <= LARGE_CORRECTION or n_refused > n_chosen // 4:
        sentence = (
            f"the corrections of Laplace's evidences scatter by {scatter:.2f} nats, and {n_refused} of {n_chosen} models could "
            "not be refined: the posteriors are far from Gaussian; use zhat.compare() on the best few."
        )
        status = status.and_(Status.suspect("cheap-evidences", sentence))
    return status
