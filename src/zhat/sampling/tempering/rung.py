"""A rung of a tempered path after its moves: its states, and how its moves went."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zhat.model.model import Model
from zhat.results.records import Array, Draws, PathRun
from zhat.sampling.backend.loop import Loop
from zhat.sampling.backend.standing import Standing
from zhat.sampling.observer import Observer, Watching
from zhat.sampling.state import State
from zhat.sampling.tempering.kernel_choice import KernelChoice
from zhat.sampling.tuning import Tuning
from zhat.seeding import Key

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Rung:
    """m states of each of n particles or chains, ordered by island in equal blocks; and how the moves went."""

    states: State  # (m, n, d) positions; the log prior is None if no kernel read it
    ancestors: IntArray  # (n,)
    surprisal: Array  # (n,): -log probability that a particle stays in place for so many moves; see `tempering.stragglers`
    acceptance: float = 1.0
    correlation: float = 0.0
    memory: float = 0.0
    n_moves: int = 0
    unmoved: float = 0.0  # the share of particles that even local moves did not move
    tuning: Tuning | None = None  # what shaped the moves

    @property
    def position(self) -> Array:
        """See `Observer`."""
        return np.asarray(self.states.position)

    @property
    def log_prior(self) -> Array | None:
        """See `Observer`."""
        return None if self.states.log_prior is None else np.asarray(self.states.log_prior)

    @property
    def log_likelihood(self) -> Array:
        """See `Observer`."""
        return np.asarray(self.states.log_likelihood)

    def without_points(self) -> Rung:
        """Only the last rung's points are kept: those of a hundred rungs in a hundred dimensions would be a gigabyte."""
        states = State(position=np.empty(0), log_prior=None, log_likelihood=self.log_likelihood)
        return replace(self, states=states, tuning=None)


class StandingRungs:
    """Where a loop over rungs stands (see `Standing`): its rungs, its choice of kernels, what its observer read, and what else it names."""

    def __init__(
        self, purpose: str, model: Model, settings: Any, key: Key, choice: KernelChoice, observer: Observer | None
    ) -> None:
        self._choice, self._observer = choice, observer
        can = observer is None or isinstance(observer, Watching)
        self._standing = Standing(purpose, model, settings, key, (Rung, State, Tuning)) if can else None

    def found(self, loop: Loop) -> Any:
        """What was noted last; None if nothing was."""
        state = None if self._standing is None else self._standing.found(loop)
        if state is None:
            return None
        noted, choice, watched = state
        self._choice.resume(choice)
        if isinstance(self._observer, Watching):
            self._observer.resume(watched)
        return noted

    def note(self, loop: Loop, *noted: Any) -> None:
        """Offer what the loop needs to go on."""
        if self._standing is not None:
            watched = self._observer.state() if isinstance(self._observer, Watching) else None
            self._standing.note(loop, noted, self._choice.state(), watched)


def path_run(betas: list[float], rungs: list[Rung], n_islands: int, resampled: bool, settled: bool, final: Draws) -> PathRun:
    """The record of a run along the path."""
    return PathRun(
        betas=np.asarray(betas),
        log_likelihood=tuple(rung.log_likelihood for rung in rungs),
        ancestors=tuple(rung.ancestors for rung in rungs),
        n_islands=n_islands,
        acceptance=np.asarray([rung.acceptance for rung in rungs]),
        correlation=np.asarray([rung.correlation for rung in rungs]),
        memory=np.asarray([rung.memory for rung in rungs]),
        n_moves=np.asarray([rung.n_moves for rung in rungs], dtype=np.int64),
        resampled=resampled,
        settled=settled,
        final=final,
        idle=np.asarray([rung.unmoved for rung in rungs]),
    )
