"""Many particles along the path from prior to posterior, moved by Markov kernels, resampled or not.

A rung is one inverse temperature beta of the path, and the particles there; the ladder is the sequence of rungs. The same code
serves sequential Monte Carlo (with resampling between rungs) and annealed importance sampling (without). The schedule chooses the
rungs, the kernels move the particles, and `Moves` decides how many moves a rung needs (`tempering.rung_moves`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.numerics.resampling import systematic_in_rows
from zhat.results.records import Array, Draws, PathRun
from zhat.sampling.backend.evaluation import prior_draws
from zhat.sampling.backend.loop import Loop, Stopped
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.mixing import Moves
from zhat.sampling.observer import Observer
from zhat.sampling.state import State
from zhat.sampling.tempering.kernel_choice import KernelChoice
from zhat.sampling.tempering.rung import Rung, StandingRungs, path_run
from zhat.sampling.tempering.rung_moves import RungPlan, Start, move_until_decorrelated
from zhat.sampling.tempering.schedules import AdaptiveESS, Schedule, progress_of
from zhat.sampling.tuning import Moments
from zhat.seeding import Key


@dataclass(frozen=True)
class Population:
    """How a population is tempered.

    Attributes
    ----------
    n_particles, n_islands : int
        Particles, in that many equal islands, which are resampled separately and tune each other's moves.
    kernels : tuple of Kernel
    schedule : Schedule
        Chooses the rungs.
    moves : Moves
        How long a rung moves.
    keep_all : bool
        Whether every state of the moves counts as a draw of its rung (waste-free, Dau & Chopin 2022), or only the last one.
    resample : bool
        Without, every particle keeps its own lineage and gathers its own weight (Neal 2001), which is in the final draws.
    """

    n_particles: int
    kernels: tuple[Kernel, ...]
    schedule: Schedule = field(default_factory=lambda: AdaptiveESS(0.5))
    moves: Moves = field(default_factory=Moves)
    n_islands: int = 4
    keep_all: bool = False
    resample: bool = True

    def __post_init__(self) -> None:
        """Refuse settings that contradict each other."""
        if self.keep_all and not self.resample:
            raise BadInput("keep_all needs resample: without resampling a particle has one state a rung.")


def run_along_path(
    model: Model, population: Population, key: Key, loop: Loop, observer: Observer | None = None, until: float = 1.0
) -> PathRun:
    """A population from the prior to the posterior: sequential Monte Carlo, or annealed importance sampling.

    The `observer` is called with every rung after its moves. Stopped by budget or Ctrl-C, or at the first rung with beta >=
    `until`, the run returns the rungs that are finished.
    """
    moves, resample, keep_all = population.moves, population.resample, population.keep_all
    choice = KernelChoice.of(population.kernels, model.n_dimensions)
    standing = StandingRungs("path", model, population, key, choice, observer)
    betas, rungs, log_evidence, gathered = standing.found(loop) or _first(model, population, key, loop)
    rung = rungs[-1]
    try:
        while betas[-1] < until:
            beta = population.schedule.next_beta(rung.log_likelihood.ravel(), betas[-1])
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
                return _record(model, population, betas, rungs, log_weights)
            words, share = progress_of(betas)
            loop.stage(f"{words}  log Z so far {log_evidence:.3f}", share)
            choice.rung += 1
            rng = key.child("rung", len(betas)).generator()
            islands = _islands(population, rung, log_weights, weights, rng if resample else None)
            rung = move_until_decorrelated(model, islands, RungPlan(beta, moves, keep_all), choice, rng, loop)
            if observer is not None:
                observer(beta, rung, choice)
            rungs[-1] = rungs[-1].without_points()
            rungs.append(rung)
            standing.note(loop, betas, rungs, log_evidence, gathered)
    except Stopped:
        if len(betas) > len(rungs):  # stopped inside a rung: its beta was chosen, its particles never moved there
            betas.pop()
        return _record(model, population, betas, rungs, None)
    finally:
        loop.end_stage()
    return _record(model, population, betas, rungs, None)


def _first(model: Model, population: Population, key: Key, loop: Loop) -> tuple[list[float], list[Rung], float, Array]:
    """Betas and rungs, the log evidence and the gathered weights at the prior."""
    n = population.n_particles * (population.moves.at_once if population.keep_all else 1)
    start = prior_draws(model, n, key.child("prior"), loop)
    rung = Rung(State.of_draws(start).with_moves(1), np.arange(start.n_drawn), np.zeros(start.n_drawn))
    return [0.0], [rung], 0.0, np.zeros((1, start.n_drawn))


def _islands(population: Population, rung: Rung, log_weights: Array, weights: Array, rng: np.random.Generator | None) -> Start:
    """Resample within each island (not without a generator), and tune each island's moves on the others.

    A kernel shaped by the very particles that it moves is not invariant for them: in d dimensions with N particles the
    bias grows like d^2 / N, and was 24 nats for 1,000 particles in 100 dimensions before islands tuned each other.
    """
    n_particles, n_islands = population.n_particles, population.n_islands
    m, n = rung.log_likelihood.shape

    def blocks(array: Any) -> Any:  # (m, n, ...) -> (islands, states of an island, ...), a view unless m > 1
        return array.reshape(m, n_islands, -1, *array.shape[2:]).swapaxes(0, 1).reshape(n_islands, -1, *array.shape[2:])

    position, log_prior, log_likelihood = (blocks(field) for field in rung.states[:3])
    once = rung.ancestors[None], rung.surprisal[None]  # the same for all m states of a particle
    ancestors, surprisal = (blocks(field if m == 1 else np.broadcast_to(field, (m, n))) for field in once)
    logs, weights = blocks(log_weights), blocks(weights)
    alive = weights.any(axis=1)
    known = int(np.argmax(alive))
    centre = position[known, int(np.argmax(weights[known]))]
    tuning = Moments.of(position, weights, centre).of_others().tuning(centre, 1.0)
    fields = [array.reshape(-1, *array.shape[2:]) for array in (position, log_prior, log_likelihood, ancestors, surprisal)]
    if rng is not None:
        source = np.where(
            alive, np.arange(n_islands), known
        )  # an island whose particles all have zero likelihood starts from another
        chosen = systematic_in_rows(logs[source], rng.random(n_islands), n_particles // n_islands)
        # Flat indices over all islands: indexing by island and particle takes five times as long.
        places = (source[:, None] * logs.shape[1] + chosen).ravel()
        fields = [array.take(places, axis=0) for array in fields]
    position, log_prior, log_likelihood, ancestors, surprisal = fields
    state = State(position=position, log_prior=log_prior, log_likelihood=log_likelihood)
    return Start(state, ancestors, tuning, surprisal)


def increments(log_likelihood: Array, step: float) -> Array:
    """Log weights L^step, with zero likelihood weighing nothing for every step."""
    weights = np.asarray(step * log_likelihood)
    return weights if step > 0.0 else np.where(log_likelihood == -np.inf, -np.inf, weights)


def _record(model: Model, population: Population, betas: list[float], rungs: list[Rung], log_weights: Array | None) -> PathRun:
    last = rungs[-1].states
    final = Draws(
        position=last.position.reshape(-1, model.n_dimensions),
        log_prior=last.log_prior.ravel(),
        log_likelihood=last.log_likelihood.ravel(),
        n_drawn=last.log_likelihood.size,
        log_weight=np.zeros(last.log_likelihood.size) if log_weights is None else log_weights.ravel(),
    )
    return path_run(betas, rungs, population.n_islands, population.resample, population.resample, final)
