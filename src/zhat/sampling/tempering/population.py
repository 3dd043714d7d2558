"""Many particles along the path from prior to posterior, moved by Markov kernels, resampled or not.

One engine serves sequential Monte Carlo (resampling between rungs) and annealed importance sampling (none). What
varies is said by small objects: the schedule chooses rungs, the kernels move, `Moves` says when a rung has moved enough.

The moves of a rung are repeated until the particles have forgotten where they stood after resampling: until the largest
correlation, over coordinates and the log likelihood, between start and present falls below a limit. The first kernel is
used as long as it gets there by itself; if it labours, the next one (a gradient kernel, when the model has gradients) is
tried on the same rung, and whichever forgets faster for its cost serves the rungs that follow.

A few particles that steps which suit the rest do not move would fall behind unseen: `sampling.idle` cares for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.numerics.resampling import systematic_in_rows
from zhat.results.records import Array, Draws, PathRun
from zhat.sampling.backend.evaluation import prior_draws
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.kernels._base import Kernel, State, Tuning
from zhat.sampling.kernels.tuning import Moments
from zhat.sampling.observer import Observer
from zhat.sampling.tempering.schedules import Schedule, progress_of
from zhat.sampling.tempering.stragglers import idleness_after, move_stragglers
from zhat.sampling.tempering.sweep import Swept, sweep
from zhat.seeding import Key

IntArray = NDArray[np.int64]

# What a gradient costs in likelihoods, for choosing between kernels; measured 1.5 to 2 on logistic likelihoods.
GRADIENT_COST = 2.0
# Rungs after which a kernel that was not in use is tried again, its scale having had no chance to be tuned meanwhile.
STALE = 8
# Moves after which a kernel that has not made the particles forget is said to labour, and others are tried.
LABOUR = 4
# Particles among which correlations are looked at.
LOOK_AT = 1000


@dataclass(frozen=True)
class Moves:
    """How long to move at a rung: `at_once` moves a call, until the correlation left is below `correlation`."""

    correlation: float = 0.2
    at_once: int = 4
    at_most: int = 40

    def __post_init__(self) -> None:
        """Check the three numbers."""
        if not 0.0 < self.correlation < 1.0:
            raise BadInput(f"Moves(correlation={self.correlation}): give a correlation between 0 and 1.")
        if self.at_once < 1 or self.at_most < self.at_once:
            raise BadInput(f"Moves(at_once={self.at_once}, at_most={self.at_most}): needs 1 <= at_once <= at_most.")


@dataclass
class KernelChoice:
    """The kernels of a run, their tuned scales, and how fast each forgets for its cost."""

    kernels: tuple[Kernel, ...]
    scales: list[float]
    current: int = 0
    rung: int = 0
    # The part of a kernel's first scale that moves idle particles.
    shorter: float = 0.5
    efficiency: dict[int, float] = field(default_factory=dict)
    measured_at: dict[int, int] = field(default_factory=dict)

    @property
    def for_short(self) -> Kernel:
        """The kernel for short moves: the first one without gradients, because many short leaps make a dear trajectory."""
        fitted = [kernel for kernel in self.kernels if kernel.needs_tuning]
        return next((kernel for kernel in fitted if not kernel.needs_gradient), fitted[0] if fitted else self.kernels[0])

    def measure(self, efficiency: float) -> None:
        """Take in what the current kernel just did, together with what it did before."""
        known = self.efficiency.get(self.current, efficiency)
        self.efficiency[self.current] = 0.5 * (known + efficiency)
        self.measured_at[self.current] = self.rung

    def reconsider(self) -> None:
        """Try a kernel not tried for `STALE` rungs, or else take the one that forgets fastest for its cost."""
        others = [i for i in range(len(self.kernels)) if self.rung - self.measured_at.get(i, -STALE) >= STALE]
        if others:
            self.current = others[0]
        else:
            self.current = max(self.efficiency, key=lambda i: self.efficiency[i])


class Rung(NamedTuple):
    """A rung after its moves: m states of each of n particles, which stand in equal blocks, one an island."""

    position: Array  # (m, n, d)
    log_prior: Array  # (m, n)
    log_likelihood: Array
    ancestors: IntArray  # (n,)
    acceptance: float
    correlation: float
    memory: float
    n_moves: int
    idleness: Array  # (n,): how improbable it is, as -log, that a particle has stood still so long
    unmoved: float = 0.0  # the share of particles that even short moves did not move
    tuning: Tuning | None = None  # what shaped the moves


def run_along_path(
    model: Model,
    n_particles: int,
    n_islands: int,
    schedule: Schedule,
    kernels: tuple[Kernel, ...],
    moves: Moves,
    keep_all: bool,
    key: Key,
    loop: Loop,
    resample: bool = True,
    observer: Observer | None = None,
    until: float = 1.0,
) -> PathRun:
    """A population from the prior to the posterior: sequential Monte Carlo, or annealed importance sampling.

    With `keep_all` every state of the moves counts as a draw of its rung (waste-free, Dau & Chopin 2022); otherwise only
    the last one does. Without `resample` every particle keeps its own lineage and gathers its own weight (Neal 2001), which
    is in the final draws. The `observer` sees every rung after its moves. Stopped by budget or Ctrl-C, or once it has come as far
    as `until`, it returns the rungs that it finished.
    """
    if keep_all and not resample:
        raise BadInput("keep_all needs resample: without resampling a particle has one state a rung.")
    choice = KernelChoice(kernels, [kernel.first_scale(model.n_dimensions) for kernel in kernels])
    start = prior_draws(model, n_particles * (moves.at_once if keep_all else 1), key.child("prior"), loop)
    first = (start.position[None], start.log_prior[None], start.log_likelihood[None])
    rung = Rung(*first, np.arange(start.n_drawn), 1.0, 0.0, 0.0, 0, np.zeros(start.n_drawn))
    betas, rungs = [0.0], [rung]
    log_evidence, gathered = 0.0, np.zeros((1, start.n_drawn))
    try:
        while betas[-1] < until:
            beta = schedule.next_beta(rung.log_likelihood.ravel(), betas[-1])
            if not beta > betas[-1]:
                loop.stop(
                    "stalled",
                    f"beyond beta = {betas[-1]:.3g} the likelihood varies so much that no next step is a number; rescale the "
                    "log likelihood or bound the prior",
                )
            log_weights = increments(rung.log_likelihood, beta - betas[-1])
            if not resample:
                log_weights = gathered = gathered + log_weights
            top = float(log_weights.max())
            weights = np.exp(log_weights - top)
            log_evidence = (log_evidence if resample else 0.0) + top + float(np.log(weights.mean()))
            betas.append(beta)
            if beta >= 1.0:
                return _record(model, n_islands, betas, rungs, log_weights, resample)
            words, share = progress_of(betas)
            loop.stage(f"{words}  log Z so far {log_evidence:.3f}", share)
            choice.rung += 1
            rng = key.child("rung", len(betas)).generator()
            islands = _islands(rung, log_weights, weights, n_particles, n_islands, rng if resample else None)
            rung = move_until_forgotten(model, islands, beta, choice, moves, rng, loop, keep_all)
            if observer is not None:
                observer(beta, rung, choice)
            # Only the last rung's points are wanted: those of a hundred rungs in a hundred dimensions would be a gigabyte.
            rungs[-1] = rungs[-1]._replace(position=np.empty(0), log_prior=np.empty(0), tuning=None)
            rungs.append(rung)
    except Stopped:
        if len(betas) > len(rungs):  # stopped inside a rung: its beta was chosen, its particles never moved there
            betas.pop()
        return _record(model, n_islands, betas, rungs, None, resample)
    finally:
        loop.end_stage()
    return _record(model, n_islands, betas, rungs, None, resample)


class Start(NamedTuple):
    """The resampled particles of all islands, block by block, with the tuning that the *other* islands give each."""

    state: State
    ancestors: IntArray
    tuning: Tuning
    idleness: Array


def _islands(
    rung: Rung, log_weights: Array, weights: Array, n_particles: int, n_islands: int, rng: np.random.Generator | None
) -> Start:
    """Resample within each island (not without a generator), and tune each island's moves on the others.

    A kernel shaped by the very particles that it moves is not invariant for them: in d dimensions with N particles the
    bias grows like d^2 / N, and was 24 nats for 1,000 particles in 100 dimensions before islands tuned each other.
    """
    m, n = rung.log_likelihood.shape

    def blocks(array: Any) -> Any:  # (m, n, ...) -> (islands, states of an island, ...), a view unless m > 1
        return array.reshape(m, n_islands, -1, *array.shape[2:]).swapaxes(0, 1).reshape(n_islands, -1, *array.shape[2:])

    position, log_prior, log_likelihood = blocks(rung.position), blocks(rung.log_prior), blocks(rung.log_likelihood)
    once = rung.ancestors[None], rung.idleness[None]  # of m states of a particle, the same
    ancestors, idleness = (blocks(field if m == 1 else np.broadcast_to(field, (m, n))) for field in once)
    logs, weights = blocks(log_weights), blocks(weights)
    alive = weights.any(axis=1)
    known = int(np.argmax(alive))
    centre = position[known, int(np.argmax(weights[known]))]
    tuning = Moments.of(position, weights, centre).of_others().tuning(centre, 1.0)
    fields = [array.reshape(-1, *array.shape[2:]) for array in (position, log_prior, log_likelihood, ancestors, idleness)]
    if rng is not None:
        source = np.where(alive, np.arange(n_islands), known)  # an island of impossible particles starts from another
        chosen = systematic_in_rows(logs[source], rng.random(n_islands), n_particles // n_islands)
        # Out of one row of all islands: indexing by island and place takes five times as long.
        places = (source[:, None] * logs.shape[1] + chosen).ravel()
        fields = [array.take(places, axis=0) for array in fields]
    position, log_prior, log_likelihood, ancestors, idleness = fields
    return Start(State(position, log_prior, log_likelihood, None), ancestors, tuning, idleness)


def move_until_forgotten(
    model: Model,
    start: Start,
    beta: float,
    choice: KernelChoice,
    moves: Moves,
    rng: np.random.Generator,
    loop: Loop,
    keep_all: bool = False,
    priors: bool = True,
) -> Rung:
    """Sweep until the particles have forgotten their start, choosing between kernels when the first one labours.

    Short moves for the idle end the rung; with `keep_all` they count as part of its last move. Without `priors` a log prior that
    no kernel needs is not computed (it is None).
    """
    state = start.state
    n = len(state.log_likelihood)
    before_moves = _centred(start.tuning, state)
    parts: list[Swept] = []
    left, memory, n_moves = 1.0, 1.0, 0
    idleness, lefts = start.idleness, list[float]()
    while not _forgotten(lefts, memory, moves) and n_moves < moves.at_most:
        kernel, scale = choice.kernels[choice.current], choice.scales[choice.current]
        before, spent = left, loop.n_likelihood + GRADIENT_COST * loop.n_gradient
        tuning = start.tuning._replace(scale=np.float64(scale))
        part = sweep(model, kernel, state, moves.at_once, beta, tuning, rng, loop, priors=priors)
        parts.append(part)
        n_moves += moves.at_once
        loop.tick(f"moves {n_moves}  acceptance {part.acceptance:.2f}")
        choice.scales[choice.current] = kernel.next_scale(scale, part.acceptance)
        idleness = idleness_after(idleness, state, part)
        state = part.last
        left, memory = _correlations(before_moves, _centred(start.tuning, state))
        cost = (loop.n_likelihood + GRADIENT_COST * loop.n_gradient - spent) / n
        lefts.append(left)
        choice.measure(float(np.log(before / max(left, 0.01)) / cost))
        if left > moves.correlation and n_moves >= LABOUR and len(choice.kernels) > 1:
            choice.reconsider()
    roused = move_stragglers(model, choice.for_short, state, idleness, beta, start.tuning, choice.shorter, rng, loop)
    choice.shorter = roused.shorter
    states: list[Any] = [None if field is None else field[None] for field in roused.state[:3]]
    if keep_all:
        earlier = [np.concatenate([part[i] for part in parts])[:-1] for i in range(3)]
        states = [np.concatenate([before, last]) for before, last in zip(earlier, states, strict=True)]
    acceptance = sum(part.acceptance for part in parts) / len(parts)
    position, log_prior, log_likelihood = states
    counted = acceptance, left, memory, n_moves
    return Rung(position, log_prior, log_likelihood, start.ancestors, *counted, idleness, roused.unmoved, start.tuning)


def _forgotten(lefts: list[float], memory: float, moves: Moves) -> bool:
    """Whether the particles have moved enough.

    Particles in separate modes never forget which one they are in: when the log likelihoods have been forgotten and the
    last few moves hardly changed what is left of the rest, more would not either. (Which mode a particle is in then stays with
    its descendants, and the genealogical error sees that.)
    """
    if not lefts:
        return False
    if lefts[-1] <= moves.correlation:
        return True
    back = 1 + -(-2 * LABOUR // moves.at_once)
    return memory <= moves.correlation and len(lefts) > back and lefts[-1] > 0.9 * lefts[-back]


class _Centred(NamedTuple):
    """White coordinates and log likelihood of some particles, (n, d + 1), less their means; and their root sums of squares."""

    values: Array
    size: Array


def _centred(tuning: Tuning, state: State) -> _Centred:
    """Some particles as correlations want them; as many from each island: more would tell them no better from a limit."""
    k, d = tuning.mean.shape
    some = min(-(-LOOK_AT // k), len(state.log_likelihood) // k)
    values = np.empty((k, some, d + 1))
    with np.errstate(over="ignore", invalid="ignore"):  # a log likelihood of -1e300 for zero: correlated with nothing
        values[..., :d] = tuning.whiten(state.position.reshape(k, -1, d)[:, :some]).reshape(k, some, d)
        values[..., d] = state.log_likelihood.reshape(k, -1)[:, :some]
        values = values.reshape(-1, d + 1)
        total = np.ones(len(values)) @ values  # a fraction of the time of a sum over the first axis
        if not np.isfinite(total).all():  # conditionals may draw what underflows
            values = np.where(np.isfinite(values), values, 0.0)
            total = values.sum(axis=0)
        values -= total / len(values)
        size = np.sqrt(np.einsum("ij,ij->j", values, values))
    return _Centred(values, np.where(np.isfinite(size), size, 0.0))


def _correlations(before: _Centred, after: _Centred) -> tuple[float, float]:
    """Correlations between the particles' start and now: the largest over coordinates, and the log likelihood's."""
    product = np.einsum("ij,ij->j", before.values, after.values)
    # What is constant has nothing to remember.
    varies = (before.size > 1e-12) & (after.size > 1e-12)
    correlation = np.divide(product, before.size * after.size, out=np.zeros_like(product), where=varies)
    return float(correlation.max()), float(max(correlation[-1], 0.0))


def increments(log_likelihood: Array, step: float) -> Array:
    """Log weights L^step, with zero likelihood weighing nothing for every step."""
    weights = np.asarray(step * log_likelihood)
    return weights if step > 0.0 else np.where(log_likelihood == -np.inf, -np.inf, weights)


def _record(
    model: Model, n_islands: int, betas: list[float], rungs: list[Rung], log_weights: Array | None, resample: bool
) -> PathRun:
    last = rungs[-1]
    final = Draws(
        last.position.reshape(-1, model.n_dimensions),
        last.log_likelihood.ravel(),
        last.log_prior.ravel(),
        n_drawn=last.log_likelihood.size,
        log_weight=np.zeros(last.log_likelihood.size) if log_weights is None else log_weights.ravel(),
    )
    return PathRun(
        betas=np.asarray(betas),
        log_likelihood=tuple(rung.log_likelihood for rung in rungs),
        ancestors=tuple(rung.ancestors for rung in rungs),
        n_islands=n_islands,
        acceptance=np.asarray([rung.acceptance for rung in rungs]),
        correlation=np.asarray([rung.correlation for rung in rungs]),
        memory=np.asarray([rung.memory for rung in rungs]),
        n_moves=np.asarray([rung.n_moves for rung in rungs], dtype=np.int64),
        resampled=resample,
        settled=resample,
        final=final,
        idle=np.asarray([rung.unmoved for rung in rungs]),
    )
