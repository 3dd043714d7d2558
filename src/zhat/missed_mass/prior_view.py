"""The view from the prior: a small tempered population, which estimates the evidence without knowing any mode.

It serves three purposes beside an answer from the modes. Its log evidence is a second estimate, with a standard error of a tenth of a
nat or so. Its particles show regions that a proposal does not reach, and can shape a better one. Its outlying points are starts of a
search for modes (`missed_mass.outliers`); for precise answers in ten to twenty dimensions further populations, which temper half of the
way, add to them.
"""

from __future__ import annotations

from dataclasses import dataclass

from zhat.missed_mass.effort import Effort
from zhat.missed_mass.finding import SecondEstimate
from zhat.missed_mass.outliers import Outliers
from zhat.model.model import Model
from zhat.results.records import Draws, PathRun
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels.defaults import kernels_for
from zhat.sampling.tempering.path_sums import genealogical_se, path_sums
from zhat.sampling.tempering.population import Population, run_along_path
from zhat.sampling.tempering.schedules import AdaptiveESS
from zhat.seeding import Key


@dataclass(frozen=True)
class PriorView:
    """A tempered population from the prior.

    Attributes
    ----------
    path : PathRun
    outliers : Outliers
        Its outlying points; further populations may add to them.
    """

    path: PathRun
    outliers: Outliers

    @property
    def draws(self) -> Draws | None:
        """Its weighted posterior draws; None if it was stopped."""
        final = self.path.final
        return final if self.path.complete and final is not None and final.log_weight is not None else None

    @property
    def estimate(self) -> SecondEstimate | None:
        """Its log evidence; None if it was stopped."""
        return None if self.draws is None else estimate_along(self.path)


def estimate_along(path: PathRun) -> SecondEstimate:
    """The log evidence of a resampled path, with the larger of its two standard errors."""
    sums = path_sums(path)
    genealogical, _ = genealogical_se(path, sums.islands)
    return SecondEstimate(sums.log_evidence, max(sums.se, genealogical), sums.worst_pareto_k)


def view_from_prior(model: Model, effort: Effort, key: Key, loop: Loop, every_point: bool = False) -> PriorView:
    """Temper a population of the size that `effort` gives for the model, and keep its outlying points, or every point too."""
    outliers = Outliers(model, effort, every_point)
    path = run_along_path(model, _population(model, effort), key, loop, observer=outliers)
    if path.complete:
        watch_further(model, effort, outliers, path, key, loop)
    return PriorView(path, outliers)


def watch_further(model: Model, effort: Effort, outliers: Outliers, path: PathRun, key: Key, loop: Loop) -> None:
    """Add the outlying points of further populations, which temper half of the way of the first one's path."""
    half_way = float(path.betas[len(path.betas) // 2])
    for i in range(effort.n_further_populations(model)):
        run_along_path(model, _population(model, effort), key.child("other", i), loop, observer=outliers, until=half_way)


def _population(model: Model, effort: Effort) -> Population:
    kernels = kernels_for(model, gibbs=False)
    if model.n_dimensions > effort.hundreds:
        kernels = kernels[-1:]  # moves by gradients: others hardly move there, and the first rungs would lose mass
    return Population(
        effort.population_size(model),
        kernels,
        AdaptiveESS(effort.ess_kept),
        effort.moves,
        effort.islands,
    )
