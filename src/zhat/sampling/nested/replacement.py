"""Draws from the prior where the likelihood exceeds a threshold: what nested sampling needs for every batch of dead points.

There are two ways, each a frozen object:

* `FromPrior`: draw from the prior and keep the points above. Exact and independent, but infeasible once little prior mass is left.
* `MarkovReplacement`: any kernel (`sampling.kernels`) moves copies of survivors under the target `AboveLikelihood`.

*Markov replacement.* Each new point starts at a survivor, which already has the right distribution, and moves until the new
points are hardly correlated with their starts (`sampling.mixing`): until the correlation between start and present, of the rank
of the likelihood and of every coordinate, is below a limit. Moves are shaped by the covariance of the survivors. The survivors
form `N_BLOCKS` blocks, and moves that start in one block are shaped by the *other* blocks: a kernel shaped by the points that it
moves does not leave their distribution invariant. Nor does one shaped by their relatives, which are in the same place. So a block
is a consecutive part of the survivors in the order of descent (`nested.run`), and relatives are in one block. (With random blocks
two modes in forty dimensions came out 0.9 nats too high in every run, because points keep the mode in which they started.)

A whole batch moves in one compiled call that has the threshold as an argument.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from zhat.errors import BadInput, BadType
from zhat.kinds import checked_kinds, shown
from zhat.model.model import Model
from zhat.sampling.backend.evaluation import prior_positions, state_at
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._base import Kernel, TunedKernel
from zhat.sampling.kernels._checks import check_whole
from zhat.sampling.kernels.defaults import threshold_kernel
from zhat.sampling.kernels.sweep import sweep
from zhat.sampling.mixing import Centred, Moves, centred, correlations, decorrelated, ranks, within_threshold
from zhat.sampling.state import State
from zhat.sampling.target import AboveLikelihood
from zhat.sampling.tuning import Moments, Scale, Tuning
from zhat.seeding import Key

IntArray = NDArray[np.int64]

N_BLOCKS = 4
# Prior draws for each live point at the beginning. Thirty moves and more make a new point of half a level: five levels of moves, 90 for each live
# point, are saved by 32 draws, the next one would be by as many again.
FIRST_DRAWS = 32
# Calls of shorter moves when some point has not moved: at least, and at most.
SHORT_CALLS, MAX_SHORT = 4, 12


class Vacancies(NamedTuple):
    """Dead points to be replaced: `n_new` new ones above the threshold, `batch_size` at a time, given all live points above it.

    `log_mass` is the expected log prior mass above the threshold, `dead` the positions of the last dead points; `numbers` those of survivors and dead among all points that the run evaluated.
    `by_moves` is whether earlier points were moved and hold some of the evidence: then regions are of no more use.
    """

    survivors: State
    threshold: float
    n_new: int
    batch_size: int
    log_mass: float = 0.0
    dead: Any = None
    numbers: Any = None
    by_moves: bool = False


class Replaced(NamedTuple):
    """New points above a threshold, where each came from, and how the moves went.

    `parent` is the index of the survivor that a point started from (-1: none). `memory` and `correlation` are correlations with
    the start: of the likelihood's rank, and the largest over coordinates. `scale` is the next one to use. `drawn` is what was
    evaluated in a region around the survivors (`sampling.nested.region`).
    """

    points: State
    parent: IntArray
    n_moves: int
    acceptance: float
    memory: float
    correlation: float
    scale: Scale
    drawn: Any = None


class Replacement(Protocol):
    """A way to draw from the prior above a threshold."""

    def first_scale(self, n_dimensions: int) -> Scale:
        """Where tuning of the scale begins."""
        ...

    def replace(self, model: Model, vacancies: Vacancies, scale: Scale, key: Key, loop: Loop) -> Replaced:
        """New points for these dead ones, by moves of this scale."""
        ...


@dataclass(frozen=True)
@checked_kinds
class FromPrior:
    """Rejection: prior draws, of which those above the threshold are kept; at most `at_most` draws for one batch."""

    at_most: int = 2_000_000

    def __post_init__(self) -> None:
        """Check the limit."""
        check_whole("FromPrior", "at_most", self.at_most, 1000)

    def first_scale(self, n_dimensions: int) -> Scale:
        """Nothing to tune."""
        return 1.0

    def replace(self, model: Model, vacancies: Vacancies, scale: Scale, key: Key, loop: Loop) -> Replaced:
        """See `Replacement`."""
        threshold, n_new = vacancies.threshold, vacancies.n_new
        kept: list[State] = []
        n_above = n_drawn = 0
        size = 1024
        while n_above < n_new:
            if n_drawn >= self.at_most:
                loop.stop(
                    "rejection",
                    f"{n_drawn:,} draws from the prior gave {n_above} of {n_new} points above the log likelihood "
                    f"{threshold:.6g}; give zhat.NestedSampling(replacement=zhat.settings.MarkovReplacement()) instead",
                )
            drawn = state_at(model, prior_positions(model, size, key.child(n_drawn)), loop)
            above = np.flatnonzero(drawn.log_likelihood > threshold)
            kept.append(drawn.take(above))
            n_above, n_drawn = n_above + len(above), n_drawn + size
            loop.tick(f"log likelihood above {threshold:.6g}: {n_above} of {n_new} from {n_drawn:,} prior draws")
            size = min(4 * size, 65_536)
        points = State.joined(kept).take(slice(0, n_new))
        return Replaced(points, np.full(n_new, -1), 0, n_above / n_drawn, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
@checked_kinds
class MarkovReplacement:
    """Survivors, moved by a kernel above the threshold until they are hardly correlated with their starts.

    Attributes
    ----------
    kernel : Kernel
        Any that moves the unconstrained vector; by default Crank-Nicolson moves, in many dimensions mostly turns.
    moves : Moves
        How long to move: random walks and slices need more moves a call than the default kernel.
    first_draws : int
        Prior draws at the beginning of a run for each live point, of which the highest stay alive (`sampling.nested.run`).
    """

    kernel: Kernel = field(default_factory=threshold_kernel)
    moves: Moves = field(default_factory=lambda: Moves(correlation=0.15, at_once=4, at_most=400))
    first_draws: int = FIRST_DRAWS

    def __post_init__(self) -> None:
        """Check the settings."""
        check_whole("MarkovReplacement", "first_draws", self.first_draws, 1)
        if not callable(getattr(self.kernel, "step", None)) or isinstance(self.kernel, type):
            raise BadType(f"MarkovReplacement(kernel={shown(self.kernel)}): give a kernel such as zhat.kernels.CrankNicolson().")
        if self.kernel.moves_parameters:
            raise BadInput(
                f"MarkovReplacement(kernel={type(self.kernel).__name__}(...)): its conditionals are those of a tempered posterior "
                "and know no threshold; give a kernel such as zhat.kernels.CrankNicolson()."
            )
        if not isinstance(self.moves, Moves):
            raise BadType(
                f"MarkovReplacement(moves={self.moves!r}): give zhat.settings.Moves(correlation=..., at_once=..., at_most=...)."
            )

    def first_scale(self, n_dimensions: int) -> Scale:
        """The kernel's."""
        return self.kernel.first_scale(n_dimensions)

    def replace(self, model: Model, vacancies: Vacancies, scale: Scale, key: Key, loop: Loop) -> Replaced:
        """See `Replacement`; a batch at a time, so that one program serves any number."""
        if model.is_black_box and self.kernel.needs_gradient:
            raise BadInput(
                f"MarkovReplacement(kernel={self.kernel!r}): {model.name!r} is a black box and has no gradients; give a kernel "
                "such as zhat.kernels.CrankNicolson()."
            )
        parts, n_new, size = [], vacancies.n_new, vacancies.batch_size
        for first in range(0, n_new, size):
            part = self._batch(model, vacancies, scale, key.child(first), loop)
            wanted = np.arange(size)
            if n_new - first < size:  # a random part of the batch, so that no block is preferred
                wanted = key.child("some", first).generator().permutation(size)[: n_new - first]
            parts.append(part._replace(points=part.points.take(wanted), parent=part.parent[wanted]))
            scale = part.scale
        worst = max(parts, key=lambda part: part.memory)
        return worst._replace(
            points=State.joined([part.points for part in parts]),
            parent=np.concatenate([part.parent for part in parts]),
            correlation=max(part.correlation for part in parts),
            scale=scale,
        )

    def _batch(self, model: Model, vacancies: Vacancies, scale: Scale, key: Key, loop: Loop) -> Replaced:
        """One batch of new points, hardly correlated with the survivors from which they started."""
        rng, threshold, moves = key.generator(), vacancies.threshold, self.moves
        parent, tuning = _starts(vacancies.survivors, vacancies.batch_size, rng)
        moving = TunedKernel(self.kernel, AboveLikelihood(threshold), tuning)
        start = points = vacancies.survivors.take(parent)
        before = _compared(tuning, start)
        n_moves, accepted, memory = 0, [], 1.0
        left: list[float] = []
        while n_moves < moves.at_most and not decorrelated(left, memory, moves, within_threshold(model.n_dimensions)):
            part = sweep(model, moving.scaled(scale), points, moves.at_once, rng, loop)
            points = part.last
            scale = self.kernel.next_scale(scale, part.accepted.for_scale(scale))
            n_moves += moves.at_once
            accepted.append(part.accepted.mean)
            largest, memory = correlations(before, _compared(tuning, points))
            left.append(largest)
            loop.tick(f"log likelihood above {threshold:.6g}  moves {n_moves}  correlation left {largest:.2f}")
        # A few points in a separate mode may reject every step of a length that suits the rest: shorter moves, for all points.
        calls, shorter = 0, 0.5
        while n_moves + moves.at_once <= moves.at_most:
            still = (points.position == start.position).all(axis=1)
            if not (0 < calls < SHORT_CALLS or (still.any() and calls < MAX_SHORT)):
                break
            moved = sweep(model, moving.scaled(shorter * np.asarray(scale)), points, moves.at_once, rng, loop).last
            calls, n_moves = calls + 1, n_moves + moves.at_once
            freed = (moved.position != points.position).any(axis=1)
            points = moved
            if still.any() and freed[still].mean() < 0.5:
                shorter *= 0.5
        return Replaced(points, parent, n_moves, float(np.mean(accepted)), memory, left[-1], scale)


def _compared(tuning: Tuning, points: State) -> Centred:
    """Likelihoods are compared by rank, because their sizes near a rising threshold are very uneven."""
    return centred(tuning, points.position, ranks(points.log_likelihood))


def _starts(survivors: State, batch_size: int, rng: np.random.Generator) -> tuple[IntArray, Tuning]:
    """The survivor at which each point starts, every survivor equally often; and the tuning of each block, from the others.

    Survivors are ordered by descent, and a block is a consecutive part with a random beginning, so that relatives stay together.
    """
    m = len(survivors.position)
    order = np.roll(np.arange(m), rng.integers(m))
    blocks = N_BLOCKS if m >= 2 * N_BLOCKS else 1
    rows = rng.permuted(order[: m - m % blocks].reshape(blocks, -1), axis=1)
    centre = survivors.position[order[0]]
    tuning = Moments.of(survivors.position[rows], np.ones(rows.shape), centre).of_others().tuning(centre, 1.0)
    if blocks < N_BLOCKS:
        rows = np.broadcast_to(rows, (N_BLOCKS, m))
        mean, factor, inverse = (np.repeat(array, N_BLOCKS, axis=0) for array in tuning[:3])
        tuning = Tuning(mean, factor, inverse, tuning.scale)
    columns = np.arange(-(-batch_size // N_BLOCKS)) % rows.shape[1]
    return rows[:, columns].ravel()[:batch_size], tuning
