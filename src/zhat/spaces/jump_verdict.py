"""May the odds of a reversible jump run be believed? Entries, agreement of chains, the test against the prior, and the pilot runs.

This verdict stands beside `Jump` and not in `verdicts/`: it reads nearly all of it (entries, visits, odds, the test against the
prior), and a `Jump` cannot be known below this floor.
"""

from __future__ import annotations

import math

import numpy as np

from zhat.numerics.combining.uncertainty import t_cdf
from zhat.numerics.visits import disagreement
from zhat.results.estimate import Status
from zhat.spaces.jump_result import MIN_ENTRIES, Jump

N_BATCHES = 10
# Models with less than this share of the mass may be entered as seldom as they like.
COUNTS = 0.01
# Chance of calling apart what agrees, below which it is: chains from each other, visits from the prior, odds from the pilots.
DISAGREE = 1e-4


def verdict(result: Jump) -> Status:
    """What the run says of itself."""
    status = Status.ok()
    came, p, n_models = result.entries, result.probabilities, len(result.names)
    if result.likelihood:
        joint = result.pilot + np.log(np.maximum(result.prior, 1e-300))
        expected = np.exp(joint - joint.max())
        counts = (np.maximum(p, expected / expected.sum()) >= COUNTS) | (not result.covariates)
    else:
        counts = np.asarray(result.prior) >= COUNTS
    seldom = [result.names[k] for k in np.flatnonzero(counts & (came < MIN_ENTRIES))]
    if seldom or result.switches < MIN_ENTRIES:
        sentence = (
            f"chains entered {', '.join(seldom[:3]) or 'other models'} fewer than {MIN_ENTRIES} times: odds by such few switches "
            "have no honest error; give more n_moves or a Move of your own."
        )
        status = status.and_(Status.suspect("few-switches", sentence))
    length = result.index.shape[0] // N_BATCHES
    batches = result.index[: N_BATCHES * length].reshape(N_BATCHES, length, -1)
    some = np.argsort(-result.visits.sum(axis=0), kind="stable")[: min(n_models, 16)]
    shares = np.stack([(batches == k).mean(axis=1) for k in some], axis=2)
    chance = disagreement(shares)
    if chance < DISAGREE:
        sentence = (
            f"chains scatter more than their own parts do (chance {chance:.1g}): they have not forgotten where they began, or "
            "some are stuck; give more n_moves or n_within."
        )
        status = status.and_(Status.suspect("chains-disagree", sentence))
    if not result.likelihood:
        found = result.null_test()
        if found[3] < DISAGREE:
            sentence = (
                f"with the likelihood off, visits do not match the prior (F = {found[0]:.1f}, chance {found[3]:.1g}): a move is "
                "wrong; check that the two functions of every Move undo each other."
            )
            status = status.and_(Status.suspect("prior-visits", sentence))
    elif not result.covariates:
        status = status.and_(_against_pilots(result))
    return status


def _against_pilots(result: Jump) -> Status:
    best = int(np.argmax(result.probabilities))
    for k, name in enumerate(result.names):
        if k == best:
            continue
        factor = result.log_bayes_factor(name, result.names[best])
        error = math.hypot(factor.se or math.nan, result.pilot_se[k], result.pilot_se[best])
        off = factor.value - (result.pilot[k] - result.pilot[best])
        # The chains' error is one of a t: as far out as four and a half of a normal's is not far at all with few chains.
        if math.isfinite(error) and 2.0 * t_cdf(-abs(off) / error, factor.degrees_of_freedom) * len(result.names) < DISAGREE:
            return Status.suspect(
                "pilots-disagree",
                f"the odds of {name} differ by {off:.2f} nats from those of the pilot runs, {abs(off) / error:.0f} errors: one "
                "of the two has missed part of a posterior; look at both models with SMC.",
            )
    return Status.ok()
