"""The check for missed mass of an answer from posterior chains, of this library or of the caller, or from a density fitted to them.

Chains of this library start from a tempered population, whose outlying points were kept on the way (`outliers`). Draws that the
caller brings come alone; then a population is tempered here, from the prior, beside them. Three comparisons follow.

* *The mode check*: searches for modes start from the draws, from prior draws, from the outlying points, from points of the population
  at any temperature that no known mode explains and, beside given draws, from some of the last particles. A mode that the chains never visited shows as importance weight that the answer lacks, or as a mode
  with a share of the posterior and no draw.
* *The population's own log evidence*, which must not exceed the answer.
* *Coverage*: the share of the population's weight at points where a density fitted to the draws is far smaller than at nearly all
  draws, against the same share of the draws. It shows mass that has no mode of its own, such as a broad slab around the spike in which all chains are.

*What it cannot see*: mass that no search, no particle and no prior draw comes near.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from zhat.errors import BadInput
from zhat.missed_mass.around_draws import look_around_draws
from zhat.missed_mass.coverage_check import huge_share
from zhat.missed_mass.effort import Effort
from zhat.missed_mass.finding import Answer, Coverage, Finding
from zhat.missed_mass.mode_check import mode_check
from zhat.missed_mass.outliers import Outliers
from zhat.missed_mass.prior_view import estimate_along, view_from_prior, watch_further
from zhat.missed_mass.witnesses import Sampled
from zhat.model.model import Model
from zhat.numerics.resampling import systematic
from zhat.results.records import Array, Draws
from zhat.sampling.chains.posterior import Chains
from zhat.sampling.chains.transitions import moments
from zhat.sampling.importance.proposals import StudentT
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key


def look_beside_chains(
    model: Model, answer: Answer, chains: Chains | Draws, watched: Outliers | None, bench: Workbench, effort: Effort, key: Key
) -> Finding:
    """Compare an answer from chains with the modes and with a population from the prior.

    `watched` has the outlying points of the run from which the chains started; without it a population is run. Draws of equal
    weight that are in no chains are compared in the same way.
    """
    effort = replace(effort, always_nats=False)
    draws, path = (chains, None) if isinstance(chains, Draws) else (chains.draws, chains.path)
    if not model.space.has_prior:
        return look_around_draws(model, answer, draws, True, effort, key, bench.loop)
    starts, passed = None, None
    if watched is not None:
        if path is not None:
            watch_further(model, effort, watched, path, key.child("population"), bench.loop)
        starts, passed = watched.draws, watched.passed
    if watched is None and not model.is_black_box:
        view = view_from_prior(model, effort, key.child("population"), bench.loop, every_point=True)
        path, passed = view.path, view.outliers.passed
        starts = _joined(view.outliers.draws, _some(path.final, effort, key.child("particles")))
    witnesses = Sampled(draws, starts, bench.prior(), equal_weight=True, passed=passed)
    finding = mode_check(model, answer, witnesses, effort, key, bench.loop)
    if path is None or not path.complete or path.final is None or path.final.log_weight is None:
        return finding
    margin = max(effort.sharp_margin, effort.harmless_errors * answer.se)
    return replace(
        finding,
        effort=replace(effort, margin=margin),
        coverage=_coverage(draws, path.final, answer, effort),
        from_population=estimate_along(path),
    )


def _coverage(draws: Draws, population: Draws, answer: Answer, effort: Effort) -> Coverage | None:
    nu = effort.heavy_tails
    mean, covariance = moments(draws.position)
    try:
        density = StudentT(mean, covariance * (nu - 2.0) / nu, nu)
    except BadInput:  # the covariance of the draws is singular: R-hat or the number of draws has flagged them
        return None

    def log_ratio(points: Draws) -> Array:
        with np.errstate(invalid="ignore"):
            ratio = points.log_prior + points.log_likelihood - density.log_density(points.position) - answer.log_evidence
        return np.where(np.isnan(ratio), -np.inf, ratio)

    assert population.log_weight is not None
    own, there = log_ratio(draws), log_ratio(population)
    usual = float(np.quantile(own, effort.covered_quantile))
    return Coverage(
        population=huge_share(population.log_weight, there - usual, effort.huge),
        draws=huge_share(np.zeros(len(own)), own - usual, effort.huge),
    )


def _some(population: Draws | None, effort: Effort, key: Key) -> Draws | None:
    """Some of the last particles, in proportion to their weights."""
    if population is None or population.log_weight is None:
        return None
    uniform = float(key.generator().random())
    rows = np.unique(systematic(population.log_weight, uniform, effort.particles_searched))
    return Draws(
        position=population.position[rows],
        log_prior=population.log_prior[rows],
        log_likelihood=population.log_likelihood[rows],
        n_drawn=len(rows),
    )


def _joined(*parts: Draws | None) -> Draws | None:
    some = [part for part in parts if part is not None]
    if not some:
        return None
    position, log_prior, log_likelihood = (
        np.concatenate([getattr(part, name) for part in some]) for name in ("position", "log_prior", "log_likelihood")
    )
    return Draws(position=position, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=len(position))
