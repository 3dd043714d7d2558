"""A second view of importance sampling: particles that walked up from the prior, asked whether the proposal knows where they are.

A proposal that misses a mode leaves no trace in its own weights. But a posterior draw in that mode has prior x likelihood /
proposal far above Z. So a small tempered population is sent from the prior, and the share of its weight at points whose
importance weight would be more than a hundred times the mean is compared with the same share among the proposal's own draws. They
estimate one number, and where the particles have clearly more, the proposal has missed about that share of the posterior.

Of particles that stood apart on the way and died out, some are kept as scouts (`sampling.scouts`) and climbed from.

*What it cannot see*: a mode that no particle ever met, and less than three hundredths of the posterior.
"""

from __future__ import annotations

import numpy as np

from evidentia.model import Model
from evidentia.numerics.weights import Weights
from evidentia.records import Array
from evidentia.result import Diagnostic, Status
from evidentia.sampling.from_mode import look_from_mode
from evidentia.sampling.kernel_choice import kernels_for
from evidentia.sampling.loop import Loop
from evidentia.sampling.path import AdaptiveESS
from evidentia.sampling.population import Moves, run_along_path
from evidentia.sampling.proposals import Proposal
from evidentia.sampling.scouts import Scouts
from evidentia.sampling.verdict import unchecked
from evidentia.sampling.weighted import defended
from evidentia.seeding import Key

# Particles of the check, and as many where likelihoods are dear: of black boxes, and of many data. Up to so many numbers of data
# all of them are sent: the check then costs about what the draws do.
N_PARTICLES, N_WHERE_DEAR = 2000, 400
CHEAP_DATA = 50_000
# In tens of dimensions a narrow mode may hold so little half way that two thousand never meet it (of two modes in 30 dimensions,
# 0.005 %): up to so many times as many are sent, from ten dimensions on, and fewer again above thirty, where each is dear.
MORE, FEW_DIMENSIONS, MANY_DIMENSIONS = 3.0, 10, 100
HUGE = 100.0
# A population of a few hundred independent particles knows a share of 1 % to about half that: no alarm below this.
MARGIN = 0.03


def look_from_particles(
    model: Model, proposal: Proposal, defensive: float, weights: Weights, log_weight: Array, key: Key, loop: Loop
) -> tuple[Status, dict[str, Diagnostic]]:
    """Whether particles from the prior stand where these weighted draws of the proposal do not come."""
    n, scouts = how_many(model), Scouts(model)
    kernels = kernels_for(model, gibbs=False)
    path = run_along_path(model, n, 4, AdaptiveESS(0.5), kernels, Moves(0.3, 2, 20), False, key, loop, watch=scouts.watch)
    if not path.complete or path.final is None or path.final.log_weight is None:
        return unchecked(str(loop.stopped)), {"particle_check": "not done"}
    final, path_weight = path.final, path.final.log_weight
    log_proposal = defended(proposal, final.position, final.log_prior, defensive)
    there = _huge_share(path_weight, final.log_prior + final.log_likelihood - log_proposal - weights.log_mean)
    here = _huge_share(log_weight, log_weight - weights.log_mean)
    more: dict[str, Diagnostic] = {"particle_check": "done", "huge_share_particles": there, "huge_share_draws": here}
    if there > here + MARGIN:
        return Status.suspect(
            "missed-mode",
            f"{there:.0%} of particles that came up from the prior stand where the proposal hardly comes ({here:.0%} among its "
            "own draws): it has missed a mode; use SMC.",
        ), more
    if scouts.draws is None:
        return Status.ok(), more
    at = weights.log_mean, weights.log_mean_se
    seen, found = look_from_mode(model, final, *at, key.child("climbs"), loop, from_prior=False, scouts=scouts.draws)
    return seen, {**more, **found}


def how_many(model: Model) -> int:
    """Particles to send, a multiple of four."""
    if model.is_black_box:
        return N_WHERE_DEAR
    d = max(model.n_dimensions, 1)
    wanted = N_PARTICLES * max(1.0, min(d / FEW_DIMENSIONS, MANY_DIMENSIONS / d, MORE))
    return 4 * int(0.25 * max(N_WHERE_DEAR, min(wanted, N_PARTICLES * CHEAP_DATA / max(model.data_size, 1))))


def _huge_share(log_weight: Array, log_ratio: Array) -> float:
    """Share of the weight at points where the ratio is huge."""
    share = np.exp(log_weight - log_weight.max())
    return float(share[log_ratio > np.log(HUGE)].sum() / share.sum())
