"""The moves of one rung: repeated until the particles are hardly correlated with their positions after resampling.

The first kernel is used while it needs few moves. Where it needs many, the next one (a gradient kernel, when the model has
gradients) is tried on the same rung, and the more efficient of the two serves the rungs that follow.

A few particles may reject every step of a length that suits the rest; `tempering.stragglers` moves them by shorter, local steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import TunedKernel
from zhat.sampling.kernels.sweep import Swept, sweep
from zhat.sampling.mixing import BETWEEN_RUNGS, Centred, Moves, centred, correlations, decorrelated
from zhat.sampling.state import State
from zhat.sampling.target import Tempered
from zhat.sampling.tempering.kernel_choice import KernelChoice
from zhat.sampling.tempering.rung import IntArray, Rung
from zhat.sampling.tempering.stragglers import move_stragglers, surprisal_after
from zhat.sampling.tuning import Tuning

# Cost of a gradient in likelihood evaluations, for the choice between kernels; measured 1.5 to 2 on logistic likelihoods.
GRADIENT_COST = 2.0
# Moves after which another kernel is tried, if the correlation with the start is still too large.
LONG = 4
# Particles from which correlations are computed: sufficient to compare them with a limit.
N_COMPARED = 1000


class Start(NamedTuple):
    """The resampled particles of all islands, block by block, with the tuning that the *other* islands give each."""

    state: State
    ancestors: IntArray
    tuning: Tuning
    surprisal: Array


class RungPlan(NamedTuple):
    """The beta of a rung, how long it moves, and whether to keep all states and log priors that no kernel reads."""

    beta: float
    moves: Moves
    keep_all: bool = False
    priors: bool = True


def move_until_decorrelated(
    model: Model, start: Start, plan: RungPlan, choice: KernelChoice, rng: np.random.Generator, loop: Loop
) -> Rung:
    """Move until the particles are hardly correlated with their start; choose between kernels when the first one is slow.

    Local moves of stragglers end the rung; with `keep_all` they count as part of its last move.
    """
    state, moves = start.state, plan.moves
    before_moves = _compared(start.tuning, state)
    parts: list[Swept] = []
    left, memory, n_moves = 1.0, 1.0, 0
    surprisal, lefts = start.surprisal, list[float]()
    while not decorrelated(lefts, memory, moves, BETWEEN_RUNGS) and n_moves < moves.at_most:
        moving = TunedKernel(choice.kernel, Tempered(plan.beta), start.tuning).scaled(choice.scale)
        before, spent = left, loop.n_likelihood + GRADIENT_COST * loop.n_gradient
        part = sweep(model, moving, state, moves.at_once, rng, loop, priors=plan.priors)
        parts.append(part)
        n_moves += moves.at_once
        loop.tick(f"moves {n_moves}  acceptance {part.acceptance.mean:.2f}")
        choice.scales[choice.current] = choice.kernel.next_scale(choice.scale, part.acceptance.for_scale(choice.scale))
        surprisal = surprisal_after(surprisal, state, part)
        state = part.last
        left, memory = correlations(before_moves, _compared(start.tuning, state))
        cost = (loop.n_likelihood + GRADIENT_COST * loop.n_gradient - spent) / len(state.log_likelihood)
        lefts.append(left)
        choice.measure(float(np.log(before / max(left, 0.01)) / cost))
        if left > moves.correlation and n_moves >= LONG and len(choice.kernels) > 1:
            choice.reconsider()
    local = TunedKernel(choice.for_local_moves, Tempered(plan.beta), start.tuning)
    freed = move_stragglers(model, local, state, surprisal, choice.local_part, rng, loop)
    choice.local_part = freed.local_part
    states = State(*(None if field is None else field[None] for field in freed.state))
    if plan.keep_all:
        states = State.joined([State.joined([part.states for part in parts]).take(slice(0, -1)), states])
    return Rung(
        states=states,
        ancestors=start.ancestors,
        surprisal=surprisal,
        acceptance=sum(part.acceptance.mean for part in parts) / len(parts),
        correlation=left,
        memory=memory,
        n_moves=n_moves,
        unmoved=freed.unmoved,
        tuning=start.tuning,
    )


def _compared(tuning: Tuning, state: State) -> Centred:
    return centred(tuning, state.position, state.log_likelihood, N_COMPARED)
