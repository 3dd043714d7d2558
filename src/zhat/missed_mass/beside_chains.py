"""The mode check of an answer from posterior chains, whoever made these.

Chains of this library start from a tempered population, whose outlying points were kept on the way (`outliers`). Draws that somebody
else made come alone. Then a population is tempered here, from the prior, beside them: its outlying points and some of its last
particles are points from which the search for modes starts too. A mode that the chains never visited shows as importance weight
that the answer lacks, or as a mode with a share of the posterior and no draw.

*What it cannot see*: a mode that no search, no particle and no prior draw comes near.
"""

from __future__ import annotations

import numpy as np

from zhat.missed_mass.effort import Effort
from zhat.missed_mass.extra_populations import run_population
from zhat.missed_mass.finding import Answer, Finding
from zhat.missed_mass.mode_check import mode_check
from zhat.missed_mass.outliers import Outliers
from zhat.missed_mass.witnesses import Sampled
from zhat.model.model import Model
from zhat.numerics.resampling import systematic
from zhat.results.records import Draws
from zhat.sampling.backend.loop import Loop
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key


def look_beside_chains(
    model: Model, answer: Answer, draws: Draws, watched: Outliers | None, bench: Workbench, effort: Effort, key: Key
) -> Finding:
    """Compare an answer from chains with importance sampling at the modes; `watched` has the outliers of the run they started from."""
    loop = bench.loop
    if watched is not None:
        outliers = watched.draws
    else:
        outliers = None if model.is_black_box else _of_a_population(model, effort, key.child("population"), loop)
    witnesses = Sampled(draws, outliers, bench.prior(), equal_weight=True)
    return mode_check(model, answer, witnesses, effort, key, loop)


def _of_a_population(model: Model, effort: Effort, key: Key, loop: Loop) -> Draws | None:
    """Outlying points and some last particles of a tempered population from the prior."""
    outliers = Outliers(model, effort)
    final = run_population(model, outliers, effort, key, loop).final
    parts = [] if outliers.draws is None else [outliers.draws]
    if final is not None and final.log_weight is not None:
        uniform = float(key.child("particles").generator().random())
        chosen = systematic(final.log_weight, uniform, effort.particles_searched)
        parts.append(_rows(final, np.unique(chosen)))
    if not parts:
        return None
    position, log_prior, log_likelihood = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("position", "log_prior", "log_likelihood")
    )
    return Draws(position=position, log_prior=log_prior, log_likelihood=log_likelihood, n_drawn=len(position))


def _rows(draws: Draws, rows: np.ndarray) -> Draws:
    return Draws(
        position=draws.position[rows],
        log_prior=draws.log_prior[rows],
        log_likelihood=draws.log_likelihood[rows],
        n_drawn=len(rows),
    )
