"""Whether the posterior narrows without end somewhere: the tails of the slopes at its draws, and after short moves of them.

In a neck of local width s the slope of the log posterior is of the order 1 / s. Where the share of the posterior that is narrower than
s falls like s^a, the slopes have the tail index 1 / a. Chains whose steps are those of the bulk enter such a neck rarely or never, all
alike, so that R-hat and the halves agree on an answer without it. The draws at its entrance show it: their slopes have a heavy tail.
For a normal posterior the index is zero or below.

Steep places that are no necks are walls: the edge of a wide region (classes that a regression separates, a likelihood that is zero beyond
a line), which chains reach and leave. They have slopes of one sign. On every line across the posterior the mean slope is zero, so that
its upward and its downward part are equal, and for one peak on the line both are its height: 1 / s in a neck, also in a lopsided one, and
moderate beside a wall. So where one sign is far steeper than the other, the index is that of the sign with the lighter tail.

Where chains stop early the tail is cut off and the index too low. So some of the draws move on, by Hamiltonian trajectories of steps so
short that they enter the neck. Moves leave the posterior as it is, so that they change nothing where the chains have been everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zhat.model.model import Model
from zhat.numerics.weights import pareto_k
from zhat.results.records import Array
from zhat.sampling.backend.evaluation import slopes, state_at
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import TunedKernel
from zhat.sampling.kernels.hmc import HMC
from zhat.sampling.kernels.sweep import sweep
from zhat.sampling.target import Tempered
from zhat.sampling.tuning import fit_tuning
from zhat.seeding import Key

# Draws that are moved, one in so many of all chains: about as many gradients as the tempered population beside the chains takes. Fewer
# above this many numbers of data, where a gradient is expensive.
N_MOVED, FEWEST_MOVED, CHEAP_DATA = 1000, 200, 5_000
# Their step, in standard deviations of the posterior (chains step by about one), and their moves: 24 leaps each, so that the
# trajectories together are several standard deviations long.
STEP, N_MOVES = 0.05, 8
# A wall: the fifth steepest slope of one sign (the first few are chance where the tail is heavy) is so many times that of the other. Seen: at
# most 3 in the necks of a mixture with tied data, at least 7 at walls.
FIFTH, WALL = 5, 5.0


@dataclass(frozen=True)
class Neck:
    """Tail index of the slopes at the draws and after short moves; NaN: not known."""

    at_draws: float = float("nan")
    after_moves: float = float("nan")


def look_into_neck(model: Model, position: Array, key: Key, loop: Loop) -> Neck:
    """Measure the slopes at n posterior draws, (n, d), and at some of them after short moves. Nothing is known of a black box."""
    if model.is_black_box:
        return Neck()
    wanted = max(FEWEST_MOVED, int(N_MOVED * min(1.0, CHEAP_DATA / max(model.data_size, 1))))
    some = position[:: max(1, len(position) // wanted)]
    moving = TunedKernel(HMC(), Tempered(1.0), fit_tuning(position, np.ones(len(position)), 1.0)).scaled(STEP)
    moved = sweep(model, moving, state_at(model, some, loop), N_MOVES, key.generator(), loop).last.position
    return Neck(_tail(slopes(model, position, loop)), _tail(slopes(model, moved, loop)))


def _tail(slope: Array) -> float:
    """The largest tail index over coordinates."""
    return max(_index(column) for column in slope.T)


def _index(slope: Array) -> float:
    """The tail index of the absolute slopes in one coordinate; beside a wall that of the sign with the lighter tail."""
    signs = [np.maximum(slope, 0.0), np.maximum(-slope, 0.0)]
    gentler, steeper = sorted(float(np.sort(sign)[-FIFTH]) for sign in signs)
    with np.errstate(divide="ignore"):
        if steeper <= WALL * gentler:
            return pareto_k(np.log(np.abs(slope)))
        return min(pareto_k(np.log(sign)) for sign in signs)
