"""Scouts: the few points of a walk that stand where the crowd does not, rung by rung, to climb from when the walk is over.

A narrow mode that ends with half of the posterior may hold a thousandth of it half way from the prior. A handful of particles are
there for a few rungs and die out, and nobody who looks at those that arrived will ever know; climbs from the prior do not find it
either, because from afar every way up leads to the broad mode. But while they live they can be told apart: they stand where the
target of the rung is high above a Student t that fits the rung's crowd: the frame that shapes its moves, or one fitted to it. So
the highest few above that frame are kept from every rung, and when the walk is over somebody climbs from the highest of all
(`sampling.from_mode`).

Keeping them costs no likelihoods; a climb costs a dozen gradients and Hessians. Those of a black box would be differences, and
cost more than the walk: it has no scouts.

*What it cannot see*: a mode in whose basin no particle ever stood, and one that stands out less than the tails of the crowd do.
"""

from __future__ import annotations

import numpy as np

from zhat.model.model import Model
from zhat.results.records import Array, Draws
from zhat.sampling.kernels._base import Tuning
from zhat.sampling.kernels.tuning import fit_tuning
from zhat.sampling.observer import RungView
from zhat.sampling.tempering.schedules import tempered

# Scouts kept from a rung, and in all (with half as many, modes in twenty and thirty dimensions were missed in silence again).
OF_A_RUNG, IN_ALL = 8, 24
# In more than so many dimensions the highest of every rung is kept, even if it hardly stands apart: when a mode parts from the
# crowd the one particle in it does not do so yet. And so more in all.
MANY, IN_ALL_OF_MANY = 20, 64
# The same for methods that know their answer to thousandths instead of hundredths, for which a smaller mode matters.
MANY_IF_SHARP = 9
# Who stands less than this above the crowd's median, in nats, does not stand apart: on most models hardly anybody does.
APART = 2.0

# Particles to send, and as many where likelihoods are dear: of black boxes, and of many data. Up to so many numbers of data
# all of them are sent: a check of importance sampling then costs about what its draws do.
N_PARTICLES, N_WHERE_DEAR = 2000, 400
CHEAP_DATA = 50_000
# In tens of dimensions a narrow mode may hold so little half way that two thousand never meet it (of two modes in 30 dimensions,
# 0.005 %): up to so many times as many are sent, from ten dimensions on, and fewer again above thirty, where each is dear.
MORE, FEW_DIMENSIONS, MANY_DIMENSIONS = 3.0, 10, 100


class Outliers:
    """Collects points while a walk goes on; above `many` dimensions the highest of every rung, even if it hardly stands apart."""

    def __init__(self, model: Model, many: int = MANY) -> None:
        self._blind = model.is_black_box
        self._many = many
        self._kept: list[tuple[Array, Array, Array, Array]] = []

    def watch(self, beta: float, rung: RungView, choice: object = None) -> None:
        """Look at a rung after its moves."""
        if rung.log_prior is None:
            return
        position = rung.position.swapaxes(0, 1).reshape(-1, rung.position.shape[-1])  # block by block
        self.look(beta, position, rung.log_prior.T.ravel(), rung.log_likelihood.T.ravel(), rung.tuning)

    def look(self, beta: float, position: Array, log_prior: Array, log_likelihood: Array, frame: Tuning | None = None) -> None:
        """Keep the highest of these points, (n, d), above a frame, one that is fitted to them if there is none."""
        n, d = position.shape
        if self._blind or n <= 2 * d:
            return
        if frame is None:
            alive = position[np.isfinite(log_likelihood) & np.isfinite(position).all(axis=1)]
            if len(alive) <= 2 * d:
                return
            frame = fit_tuning(alive, np.ones(len(alive)), 1.0)
        with np.errstate(invalid="ignore", over="ignore"):
            height = tempered(log_prior, log_likelihood, beta, np) - frame.log_frame(position, np)
            if not np.isfinite(height.sum()):
                height = np.where(np.isfinite(height) & np.isfinite(log_likelihood), height, -np.inf)
        possible = height[height > -np.inf]
        if len(possible) <= 2 * d:
            return
        middle = np.partition(possible, len(possible) // 2)[len(possible) // 2]
        best = np.argpartition(-height, OF_A_RUNG)[:OF_A_RUNG] if n > OF_A_RUNG else np.arange(n)
        needed = middle + APART
        best = best[height[best] > (needed if d <= self._many else min(needed, np.partition(height, -2)[-2]))]
        if best.size:
            self._kept.append((position[best], log_likelihood[best], log_prior[best], height[best] - middle))

    @property
    def draws(self) -> Draws | None:
        """The highest of all; None if there are none."""
        if not self._kept:
            return None
        position, log_likelihood, log_prior, height = (np.concatenate(parts) for parts in zip(*self._kept, strict=True))
        n_wanted = IN_ALL if position.shape[1] <= self._many else IN_ALL_OF_MANY
        best = np.argsort(-height, kind="stable")[:n_wanted]
        return Draws(position[best], log_likelihood[best], log_prior[best], n_drawn=len(best))


def how_many(model: Model) -> int:
    """Particles that are worth sending up from the prior to look for hidden modes, a multiple of four."""
    if model.is_black_box:
        return N_WHERE_DEAR
    d = max(model.n_dimensions, 1)
    wanted = N_PARTICLES * max(1.0, min(d / FEW_DIMENSIONS, MANY_DIMENSIONS / d, MORE))
    return 4 * int(0.25 * max(N_WHERE_DEAR, min(wanted, N_PARTICLES * CHEAP_DATA / max(model.data_size, 1))))
