"""Populations from the prior that serve only to find modes: a first one to the posterior, further ones half of the way.

In some tens of dimensions a narrow mode that ends with half of the posterior may hold one part in twenty thousand of it when the
modes separate, which is early on the path. A population of thousands has no particle there, or one for a rung or two. Whether the
mode is found depends on the number of particles on that part of the path; the rest of the path needs fewer. Of these extra
populations only the outlying points are kept (`missed_mass.outliers`). Two modes in 30 dimensions: 17 of 32 populations of 6,000
particles that temper half of the way find the narrow one; a first one and three of these find it in 20 of 24 trials, a first one
and seven in 23.

In twenty dimensions and fewer one population is sufficient for methods that temper from the prior (of the traps there none is
missed), and beyond fifty each is expensive. An answer with a standard error of a few thousandths needs more of them, from ten
dimensions on (`missed_mass.effort.SHARP`).
"""

from __future__ import annotations

from zhat.missed_mass.effort import Effort
from zhat.missed_mass.outliers import Outliers
from zhat.model.model import Model
from zhat.results.records import Draws, PathRun
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels.defaults import kernels_for
from zhat.sampling.mixing import Moves
from zhat.sampling.tempering.population import Population, run_along_path
from zhat.sampling.tempering.schedules import AdaptiveESS
from zhat.seeding import Key


def run_population(model: Model, outliers: Outliers, effort: Effort, key: Key, loop: Loop, until: float = 1.0) -> PathRun:
    """A quick tempered population from the prior, whose outlying points are kept."""
    population = Population(
        effort.population_size(model),
        kernels_for(model, gibbs=False),
        AdaptiveESS(effort.ess_kept),
        Moves(effort.correlation, effort.moves_at_once, effort.moves_at_most),
        effort.islands,
    )
    return run_along_path(model, population, key, loop, observer=outliers.watch, until=until)


def run_extra_populations(model: Model, first: PathRun, outliers: Outliers, effort: Effort, key: Key, loop: Loop) -> None:
    """Further populations after a first one, as many as `effort` gives for the model."""
    half_way = float(first.betas[len(first.betas) // 2])
    for i in range(effort.n_extra_populations(model)):
        run_population(model, outliers, effort, key.child("other", i), loop, until=half_way)


def extra_outliers(model: Model, effort: Effort, key: Key, loop: Loop) -> Draws | None:
    """Outlying points of a first population and of the extra ones; None where extra ones are not worth their cost."""
    if not effort.n_extra_populations(model):
        return None
    outliers = Outliers(model, effort)
    first = run_population(model, outliers, effort, key, loop)
    run_extra_populations(model, first, outliers, effort, key, loop)
    return outliers.draws
