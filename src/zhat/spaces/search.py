"""Search in a family of subsets too large to enumerate: walks that add, delete and swap covariates.

Many walks move together over the masks gamma by Metropolis moves for P(gamma) Z_gamma: flip one covariate, or swap one that is
in for one that is out. Z_gamma is Laplace's mass of the model's peak (`sampling.many`), climbed to from the peak of the model
that it differs from in one or two covariates, many models in one compiled call, and kept: no model is climbed twice. On a
logistic regression with 30 covariates and 500 rows a climb costs as much as 70 draws of importance sampling. The models that
matter are then refined by importance sampling, and the walks are corrected for the difference; in models that were not refined it
is taken from a straight line in the number of covariates, fitted to those that were.

*Inclusion* is not counted but computed: whenever a flip of covariate j was looked at, both models' evidences are known, and

    P(gamma_j = 1 | the others) = Z_1 P_1 / (Z_1 P_1 + Z_0 P_0)

is averaged over the walk (Rao-Blackwell); coefficients likewise. This is right also where no walk can visit a fair share of all
models. `visited_share` is the share of the posterior's mass in the models evaluated, from how often one half of the walks stands
in a model that the other half had evaluated too.

*Its error.* From the scatter between walks, which start apart (no covariates, all, and random subsets) and share only what does
not depend on who computed it; with that of the evidences added.

Coefficients are posterior means where a model was refined, else those of its peak.

*When it lies.* Walks that all miss the same far group of models agree with each other. R-hat of the walks' posterior density and
size, and whether most walks came by the best model, are what is looked at.

(George & McCulloch 1997 for such walks; Madigan & York 1995 for the moves.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from zhat.methods._base import check_count
from zhat.numerics.model_weights import average_over_models
from zhat.numerics.series import r_hat
from zhat.results.estimate import Status
from zhat.results.records import Array, Cost
from zhat.run.repeats import nan_status
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.families import importance_of_all, peaks_of_all
from zhat.seeding import Key
from zhat.spaces.one_peak import SEARCHED, modes_status
from zhat.spaces.subset_results import TopModel, lines_of, model_name, top_models
from zhat.spaces.walks import Integers, Known, Walks, walk
from zhat.verdicts.weights import MAX_PARETO_K, MIN_ESS

if TYPE_CHECKING:
    from zhat.spaces.subsets import Subsets

# In small families, where moves cost next to nothing, shorter walks were seen to remember where they began.
FEWEST_MOVES = 1500
# Walks are many and short: a walk that stands elsewhere than the others shows as 1.5 and more.
MAX_R_HAT = 1.1
# A best model of this probability ought to be met by most walks.
PROMINENT = 0.01
FEW_VISITED = 0.5
LARGE_CORRECTION = 0.3


@dataclass(frozen=True)
class SubsetSearch:
    """What the walks found; rows are the models that were evaluated, the most probable first.

    Attributes
    ----------
    masks, log_evidence, se : arrays
        Models, their log evidences, and errors: the sampling error where refined, else the scatter of what refining changes.
    refined : (n,) bool array
        Which evidences are by importance sampling.
    probabilities : (n,) array
        Posterior probabilities; they sum to `visited_share`.
    visited_share : float
        Share of the posterior's mass in these models, about.
    r_hat : float
        The worse of those of the walks' log posterior and of their number of covariates.
    walks_at_best : float
        Share of the walks that came by the most probable model.
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
        """Inclusion probabilities, the most probable models, and what is in doubt."""
        head = (
            f"{len(self.masks):,} of {2.0 ** len(self.covariates):.3g} models evaluated, with about {self.visited_share:.1%} of "
            f"the mass; {self.n_chains} walks of {self.n_moves:,} moves, R-hat {self.r_hat:.3f}; inclusion probabilities:"
        )
        return "\n".join([head, *lines_of(self.inclusion, self.inclusion_se, self.top(5), self.status)])


def search_subsets(
    family: Subsets,
    prior: Callable[[Array], float] | None,
    n_chains: int,
    n_moves: int | None,
    n_refined: int,
    n_draws: int,
    seed: int,
    progress: bool | None,
) -> SubsetSearch:
    """See `Subsets.search`."""
    n_moves = max(FEWEST_MOVES, 60 * len(family.covariates)) if n_moves is None else n_moves
    check_count("Subsets.search", "n_chains", n_chains, 4, "their scatter is the error")
    check_count("Subsets.search", "n_moves", n_moves, 40, "a quarter of them is thrown away")
    check_count("Subsets.search", "n_refined", n_refined, 4, "the cheap evidences are held against them")
    check_count("Subsets.search", "n_draws", n_draws, 500, "Pareto k and the error need draws to look at")
    key = Key(seed).child("search")
    loop = Loop(None, progress, "search")
    known = Known(family, prior, loop)
    walks = walk(known, n_chains, n_moves, key.child("walk"), loop)
    found = _result(family, known, walks, n_refined, n_draws, n_moves, seed, key, loop)
    loop.done()
    return found


def _result(
    family: Subsets, known: Known, walks: Walks, n_refined: int, n_draws: int, n_moves: int, seed: int, key: Key, loop: Loop
) -> SubsetSearch:
    masks, cheap = np.stack(known.masks), np.array(known.log_z)
    log_prior, mode = np.array(known.log_prior), np.stack(known.mode)
    chosen = np.argsort(-(cheap + log_prior), kind="stable")[:n_refined]
    chosen = chosen[np.isfinite((cheap + log_prior)[chosen])]
    peaks = peaks_of_all(family.model, family.mask, masks[chosen], loop, mode[chosen])
    fine = importance_of_all(family.model, family.mask, masks[chosen], n_draws, key.child("refine"), loop, peaks)
    usable = peaks.climbed & (fine.ess >= MIN_ESS) & (fine.pareto_k < MAX_PARETO_K)
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
    # The line by which unrefined evidences are corrected has an error of its own, which tilts all log odds of inclusion alike.
    from_line = inclusion * (1.0 - inclusion) * tilt
    inclusion_se = np.sqrt(inclusion_se**2 + from_evidences**2 + from_line**2)
    present = np.concatenate([np.ones((len(masks), mode.shape[1] - masks.shape[1])), masks], axis=1)
    _, from_means = average_over_models(coefficients * present, among, se, errors * present)
    slopes_se = np.hypot(slopes_se, from_means)
    status = _verdict(r, at_best, share, float(share * among.max()), scatter, int((~usable).sum()), len(chosen))
    best = np.arange(min(SEARCHED, len(chosen)))
    status = status.and_(modes_status(family, masks[chosen[best]], peaks.some(best), key.child("look"), loop))
    status = status.and_(nan_status(loop.n_nan))
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
        n_moves=n_moves,
        seed=seed,
        cost=loop.cost(0.0),
    )


def _corrections(masks: Array, cheap: Array, rows: Integers, fine: Array) -> tuple[Array, float, float]:
    """What to add to every cheap evidence, its scatter about a line in the number of covariates, and the error of the slope."""
    if len(rows) < 4:
        return np.zeros(len(cheap)), np.nan, np.nan
    size = masks.sum(axis=1)
    x = np.column_stack([np.ones(len(rows)), size[rows] - size[rows].mean()])
    found = fine - cheap[rows]
    line = np.linalg.lstsq(x, found, rcond=None)[0]
    # Not carried beyond the sizes that were refined: a line through similar models says nothing of the full one.
    inside = np.clip(size, size[rows].min(), size[rows].max())
    correction = line[0] + line[1] * (inside - size[rows].mean())
    scatter = float(np.sqrt(np.sum((found - x @ line) ** 2) / max(len(rows) - 2, 1)))
    correction[rows] = found
    return np.asarray(correction), scatter, scatter / max(float(np.linalg.norm(x[:, 1])), 1.0)


def _averages(
    walks: Walks, joint: Array, correction: Array, masks: Array, coefficients: Array
) -> tuple[Array, Array, Array, Array]:
    """Inclusion of every covariate and averaged coefficients, each with the error that the walks' scatter gives.

    The walks are for the cheap evidences; a pair of models counts by how much refining raises the two together.
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
    # What is in every model (an intercept) is averaged over the models that the walks stood in.
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
    """Share of mass in the models evaluated, R-hat of the walks, share of the walks that came by the best model."""
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
        sentence = f"only {at_best:.0%} of the walks came by the best model found: there may be better ones; give more n_moves."
        status = status.and_(Status.suspect("best-model", sentence))
    if share < FEW_VISITED:
        sentence = (
            f"the models evaluated hold only {share:.0%} of the mass: inclusion probabilities stand, the list of best models may "
            "miss some; give more n_moves."
        )
        status = status.and_(Status.suspect("few-visited", sentence))
    if not scatter <= LARGE_CORRECTION or n_refused > n_chosen // 4:
        sentence = (
            f"refining moved the evidences of the best models by amounts that scatter by {scatter:.2f} nats, and {n_refused} of "
            f"{n_chosen} could not be refined: the posteriors are far from Gaussian; use compare() on the best few."
        )
        status = status.and_(Status.suspect("cheap-evidences", sentence))
    return status
