"""A second view of an evidence that was walked up to from the prior: from the modes, by importance sampling.

What starts from the prior cannot see a peak that no particle came near (a first-order transition). From the particles
that reached the posterior, from many draws of the prior, and from the scouts of the walk, one can climb to the modes and
importance sample there. (From the prior and scouts too, because a mode that the walk has lost on its way is near none of those
that arrived.) That estimate of Z is unbiased, so by Markov's inequality it exceeds log Z by b with probability at most exp(-b):
one that is clearly larger than what the walk found proves that the walk missed mass.

A method that knows its answer to thousandths is asked more sharply: whether its draws stand at every mode as often as importance
sampling finds that they should. A mode of two hundredths is too little to show in the total, and twenty errors of such an answer.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from zhat.errors import NonFiniteLikelihood
from zhat.missed_mass.extra_populations import extra_populations
from zhat.missed_mass.outliers import MANY, MANY_IF_SHARP
from zhat.model.model import Model
from zhat.numerics.weights import Weights
from zhat.results.estimate import Diagnostic, Status
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import prior_draws
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.importance.modes import Mode, Search, different, find_modes, thorough_starts
from zhat.sampling.importance.proposals import at_modes
from zhat.sampling.importance.weighted_draws import weighted_draws
from zhat.seeding import Key
from zhat.verdicts.weights import unchecked

# Draws that stand at a mode less than this part as often as they should have missed it.
SELDOM = 0.25


def mode_check(
    model: Model,
    particles: Draws,
    log_evidence: float,
    se: float,
    key: Key,
    loop: Loop,
    from_prior: bool = True,
    outliers: Draws | None = None,
    sharp: bool = False,
) -> tuple[Status, dict[str, Diagnostic]]:
    """Climb from the last particles, the prior and the scouts to the modes; see whether importance sampling there finds more.

    `sharp`: the particles are posterior draws of equal weight behind an answer that is known to thousandths.
    """
    try:
        modes = climb(model, particles, key, loop, from_prior, outliers)
        others = extra_populations(model, key.child("vanguard"), loop, MANY_IF_SHARP if sharp else MANY)
        if others is not None:
            modes = (*modes, *_above(model, others, key.child("climb of vanguard"), loop))
        return compare(model, modes, log_evidence, se, key, loop, visitors=particles if sharp else None)
    except (Stopped, NonFiniteLikelihood) as trouble:  # the finished run must not be lost for its check, nor pass without
        return unchecked(str(trouble)), {"mode_check": "not done"}


def climb(
    model: Model, particles: Draws, key: Key, loop: Loop, from_prior: bool = False, outliers: Draws | None = None
) -> tuple[Mode, ...]:
    """The usable modes above some particles, the prior and the scouts; the same one may be found from several of them."""
    usable = find_modes(model, particles, key.child("climb"), loop, Search(n_starts=4, max_iterations=40)).usable
    if from_prior:
        n = thorough_starts(model)
        prior, search = prior_draws(model, n, key.child("prior"), loop), Search(n_starts=n, max_iterations=40)
        usable = (*usable, *find_modes(model, prior, key.child("climb from prior"), loop, search).usable)
    if outliers is not None:
        usable = (*usable, *_above(model, outliers, key.child("climb of scouts"), loop))
    return usable


def _above(model: Model, outliers: Draws, key: Key, loop: Loop) -> tuple[Mode, ...]:
    """The modes above scouts. Who stands in a basin is up in a few steps; those in the crowd's tails need not arrive."""
    # Some of them twice, up to a power of two: climbs are compiled for every number of climbers, which takes longer than they do.
    n = len(outliers.position)
    twice = np.arange(1 << (n - 1).bit_length()) % n
    some = Draws(outliers.position[twice], outliers.log_likelihood[twice], outliers.log_prior[twice], n_drawn=len(twice))
    return find_modes(model, some, key, loop, Search(n_starts=len(twice), max_iterations=12)).usable


def compare(
    model: Model,
    modes: tuple[Mode, ...],
    log_evidence: float,
    se: float,
    key: Key,
    loop: Loop,
    visitors: Draws | None = None,
) -> tuple[Status, dict[str, Diagnostic]]:
    """Whether importance sampling at these modes finds more than an answer does; and all that these visitors should have."""
    if not modes:
        return Status.ok(), {"mode_check": "no usable mode: no second view"}
    draws = weighted_draws(model, at_modes(modes), 2000, key.child("draws"), loop)
    assert draws.log_weight is not None
    weights = Weights.of(draws.log_weight)
    more: dict[str, Diagnostic] = {
        "mode_check": "done",
        "from_mode_log_evidence": float(weights.log_mean),
        "from_mode_se": float(weights.log_mean_se),
        "from_mode_pareto_k": float(weights.pareto_k),
    }
    status = more_than(log_evidence, se, more)
    if visitors is not None and status.is_ok and weights.pareto_k < 0.7:
        status, unvisited = _visited(modes, draws, visitors.position, se)
        more["unvisited_share"] = unvisited
    return status, more


def _visited(modes: tuple[Mode, ...], draws: Draws, visitors: Array, se: float) -> tuple[Status, float]:
    """Whether posterior draws stand at every mode that matters for an error; and the largest share that they do not see."""
    assert draws.log_weight is not None
    weight = np.exp(draws.log_weight - draws.log_weight.max())
    weight /= weight.sum()
    worst = 0.0
    for mode in different(modes):
        inside = _near(mode, draws.position)
        share, seen = float(weight[inside].sum()), float(_near(mode, visitors).mean())
        noise = float(np.sqrt((weight**2 * (inside - share) ** 2).sum()))
        # Chains are correlated, so a share that is only somewhat small proves nothing.
        if seen < SELDOM * share and share - seen > 4.0 * noise:
            worst = max(worst, share - seen)
    if worst <= 2.0 * se:
        return Status.ok(), worst
    sentence = (
        f"importance sampling finds a mode with {worst:.1%} of the posterior where the draws hardly ever stand: this answer is "
        "low by about as much; use Importance, or SMC."
    )
    return Status.suspect("missed-peak", sentence), worst


def _near(mode: Mode, position: Array) -> NDArray[np.bool_]:
    """Who stands where nearly all of a normal at this mode would."""
    d = len(mode.position)
    return np.asarray(mode.distances(position) ** 2 <= d + 3.0 * np.sqrt(2.0 * d))


def more_than(log_evidence: float, se: float, seen: Mapping[str, Diagnostic]) -> Status:
    """What an importance sample at the modes, as `compare` has noted it, says against an answer."""
    found, its_se, k = (seen.get(f"from_mode_{name}") for name in ("log_evidence", "se", "pareto_k"))
    if not (isinstance(found, float) and isinstance(its_se, float) and isinstance(k, float)):
        return Status.ok()
    excess = found - log_evidence
    # Trusted weights: three joint errors and a little (chance exceeds that in one of a thousand runs at most), so that nobody is
    # four errors low unnoticed. Untrusted ones: Markov's inequality, exp(-12) < 1e-5, needs no variance.
    if excess > 3.0 * float(np.hypot(se, its_se)) + 0.05 and (k < 0.7 or excess > 12.0):
        return Status.suspect(
            "missed-peak",
            f"importance sampling at the modes finds {excess:.2f} nats more than this run did, which missed a peak on its way; "
            "compare SMC and Importance, and trust neither alone.",
        )
    return Status.ok()
