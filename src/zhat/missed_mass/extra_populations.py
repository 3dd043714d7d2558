"""Populations that are sent up from the prior only to look: one to the posterior, others half of the way.

In some tens of dimensions a narrow mode that ends with half of the posterior may hold one part in twenty thousand of it when the
modes part, which is early on the way: a population of thousands has nobody there, or one particle for a rung or two. Whether it
is met is a matter of how many go that part of the way, and the rest of it need not be gone by all. Only scouts are heard of them
(`sampling.scouts`). Two modes in 30 dimensions: 17 of 32 populations of 6,000 that go half of the way meet the narrow one; a
first one and three of these do in 20 of 24 trials, a first one and seven in 23.

In twenty dimensions and less one population is enough for who estimates by walking (of the traps there none is missed), and
beyond fifty each is dear. An answer that is exact to a few thousandths wants more (`sampling.from_particles`).
"""

from __future__ import annotations

from zhat.missed_mass.outliers import MANY, Outliers, how_many
from zhat.model.model import Model
from zhat.results.records import Draws, PathRun
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels.defaults import kernels_for
from zhat.sampling.tempering.population import Moves, run_along_path
from zhat.sampling.tempering.schedules import AdaptiveESS
from zhat.seeding import Key

# Populations beside the first, in tens of dimensions and below, and up to how many dimensions they are sent.
OTHERS, OTHERS_IN_FEW, TOO_MANY = 7, 3, 50


def walk(model: Model, outliers: Outliers, key: Key, loop: Loop, until: float = 1.0) -> PathRun:
    """A quick population from the prior, watched by scouts."""
    steps, moves, kernels = AdaptiveESS(0.5), Moves(0.3, 2, 20), kernels_for(model, gibbs=False)
    return run_along_path(
        model, how_many(model), 4, steps, kernels, moves, False, key, loop, observer=outliers.watch, until=until
    )


def run_more_populations(model: Model, first: PathRun, outliers: Outliers, key: Key, loop: Loop, many: int = MANY) -> None:
    """Others after a first one, where that is worth it: above `many` dimensions."""
    if many < model.n_dimensions <= TOO_MANY and not model.is_black_box:
        for i in range(OTHERS if model.n_dimensions > MANY else OTHERS_IN_FEW):
            walk(model, outliers, key.child("other", i), loop, until=float(first.betas[len(first.betas) // 2]))


def extra_populations(model: Model, key: Key, loop: Loop, many: int = MANY) -> Draws | None:
    """The scouts of all of them, where they are worth sending."""
    if not many < model.n_dimensions <= TOO_MANY or model.is_black_box:
        return None
    outliers = Outliers(model, many)
    first = walk(model, outliers, key, loop)
    run_more_populations(model, first, outliers, key, loop, many)
    return outliers.draws
