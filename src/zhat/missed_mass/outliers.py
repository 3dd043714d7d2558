"""Outlying points of a tempered run: the few of every rung that lie apart from the others, kept as starts of a search for modes.

A narrow mode that ends with half of the posterior may hold a thousandth of it half way from the prior. A handful of particles are
in it for a few rungs and leave no descendants. The particles that reach the posterior hold no trace of it, and searches from
prior draws do not find it either, because from afar every ascent leads to the broad mode. But while these particles exist they
can be recognised: the target of the rung at their position is high above a Student t that fits the rung's points (the frame that
shapes its moves, or one fitted to them). So the highest few above that frame are kept from every rung, and after the run a search
for modes starts from the highest of all (`missed_mass.mode_check`).

Keeping them costs no likelihood evaluations; a search costs a dozen gradients and Hessians. For a black box these would be finite
differences and cost more than the run, so no outlying points of a black box are kept.

*What it cannot see*: a mode whose basin no particle ever entered, and one that is no farther from the other points than their
tails are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat.missed_mass.effort import EFFORT, Effort
from zhat.model.model import Model
from zhat.results.records import Array, Draws
from zhat.sampling.observer import RungView
from zhat.sampling.target import tempered
from zhat.sampling.tuning import Tuning, fit_tuning


class Outliers:
    """Collects outlying points during a run: it is an `Observer` of a tempered run. With `every_point` all points are kept too."""

    def __init__(self, model: Model, effort: Effort = EFFORT, every_point: bool = False) -> None:
        self._is_black_box = model.is_black_box
        self._effort = effort
        self._kept: list[tuple[Array, Array, Array, Array]] = []
        self._every_point = every_point
        self._passed: list[tuple[Array, Array, Array]] = []

    def __call__(self, beta: float, rung: RungView, choice: object = None) -> None:
        """Keep the outlying points of a rung, after its moves."""
        if rung.log_prior is None:
            return
        position = rung.position.swapaxes(0, 1).reshape(-1, rung.position.shape[-1])  # block by block
        self.keep(beta, position, rung.log_prior.T.ravel(), rung.log_likelihood.T.ravel(), rung.tuning)

    def keep(self, beta: float, position: Array, log_prior: Array, log_likelihood: Array, frame: Tuning | None = None) -> None:
        """Keep the highest of these points, (n, d), above a frame; without one, above a frame that is fitted to them."""
        effort, (n, d) = self._effort, position.shape
        if self._is_black_box or n <= 2 * d:
            return
        if self._every_point:
            self._passed.append((position.copy(), log_prior.copy(), log_likelihood.copy()))  # the run may reuse its arrays
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
        of_a_rung = effort.outliers_of_a_rung
        best = np.argpartition(-height, of_a_rung)[:of_a_rung] if n > of_a_rung else np.arange(n)
        needed = middle + effort.apart
        in_few = d <= effort.many_dimensions
        best = best[height[best] > (needed if in_few else min(needed, np.partition(height, -2)[-2]))]
        if best.size:
            self._kept.append((position[best], log_prior[best], log_likelihood[best], height[best] - middle))

    def state(self) -> list[Any]:
        """What was kept so far (see `Watching`)."""
        return [self._kept, self._passed]

    def resume(self, state: Any) -> None:
        """See `Watching`."""
        self._kept, self._passed = state

    @property
    def draws(self) -> Draws | None:
        """The highest of all; None if there are none."""
        if not self._kept:
            return None
        position, log_prior, log_likelihood, height = (np.concatenate(parts) for parts in zip(*self._kept, strict=True))
        effort = self._effort
        n_wanted = effort.outliers_in_all if position.shape[1] <= effort.many_dimensions else effort.outliers_in_many
        best = np.argsort(-height, kind="stable")[:n_wanted]
        return Draws(position=position[best], log_prior=log_prior[best], log_likelihood=log_likelihood[best], n_drawn=len(best))

    @property
    def passed(self) -> Draws | None:
        """The points of all rungs; None if they were not kept."""
        if not self._passed:
            return None
        position, log_prior, log_likelihood = (np.concatenate(parts) for parts in zip(*self._passed, strict=True))
        return Draws(position=position, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=len(position))
