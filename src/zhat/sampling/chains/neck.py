"""Whether the posterior narrows without end somewhere: the tails of the slopes at its draws, and after short moves of them.

In a neck of local width s the slope of the log posterior is of the order 1 / s. Where the share of the posterior that is narrower than
s falls like s^a, the slopes have the tail index 1 / a. Chains whose steps are those of the bulk enter such a neck rarely or never, all
alike, so that R-hat and the halves agree on an answer without it. The draws at its entrance show it: their slopes have a heavy tail.
For a normal posterior the index is zero or below.

Steep places that are no necks are walls: the edge of a wide region (classes that a regression separates, a likelihood that is zero beyond
a line), which chains reach and leave. Beside a wall there is room: a standard deviation further uphill the density is no lower, where in a
neck it lies beyond the other side. So a heavy tail counts where some of its steepest places have no room.

Where chains stop early the tail is cut off and the index too low. So some of the draws move on, by Hamiltonian trajectories of steps so
short that they enter the neck. Moves leave the posterior as it is, so that they change nothing where the chains have been everywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from zhat.model.model import Model
from zhat.numerics.weights import pareto_k
from zhat.results.records import Array
from zhat.sampling.backend.evaluation import log_densities, slopes, state_at
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
# An index below this is that of a light tail, whatever its places; the largest that was seen on normal posteriors.
LIGHT = 0.3
# Of the steepest twentieth of the places this share must have no room: of a mixture with tied data 14 % and more had none at the draws and 34 %
# after the moves, beside walls not one.
STEEPEST, WITHOUT_ROOM = 0.05, 0.1
# A place has room if a step uphill of one standard deviation lowers the log density by no more than this, which a normal loses there from its peak.
ROOM = 0.5


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
    covariance = np.atleast_2d(np.cov(position.T))
    return Neck(_tail(model, position, covariance, loop), _tail(model, moved, covariance, loop))


def _tail(model: Model, position: Array, covariance: Array, loop: Loop) -> float:
    """The largest tail index, over coordinates, of the absolute slopes at these points; zero for a coordinate in which they are walls."""
    found = []
    gradient = slopes(model, position, loop)
    for size in np.abs(gradient).T:
        with np.errstate(divide="ignore"):
            found.append(pareto_k(np.log(size)))
        if found[-1] >= LIGHT:
            rows = np.argsort(size)[-math.ceil(STEEPEST * len(size)) :]
            if _without_room(model, position[rows], gradient[rows], covariance, loop) < WITHOUT_ROOM:
                found[-1] = 0.0
    return max(found)


def _without_room(model: Model, position: Array, gradient: Array, covariance: Array, loop: Loop) -> float:
    """Share of the points from which a step uphill, of one standard deviation of the posterior, ends lower."""
    step = gradient @ covariance
    step /= np.sqrt(np.maximum((step * gradient).sum(axis=1, keepdims=True), 1e-300))
    here, there = (np.add(*log_densities(model, points, loop)) for points in (position, position + step))
    return 1.0 - float(np.mean(there >= here - ROOM))
