"""The Savage-Dickey density ratio: the Bayes factor of a point hypothesis from the draws of the larger model alone.

    BF(delta = at, against delta free) = posterior density of delta at the point / its prior density there (Dickey 1971).

It holds if the restricted model is the larger one with delta fixed and the priors of the other parameters given delta = at
unchanged; with priors that are independent of delta, that is the larger model with delta left out. Independence is tested on the
model's own prior, and the result is suspect where it fails.

*The posterior density at the point* is not that of a smoothed histogram, which knows nothing of tails. For any conditional density w
(Chen 1994)

    posterior(at) = E_posterior[ w(delta | others) p~(at, others) / p~(delta, others) ],

one further evaluation a draw; w is the conditional of a normal that is fitted on one half of the chains and used on the other, both
ways. If the posterior is normal, all terms of one value of the others are equal. Works in the unconstrained coordinates, in which
the ratio of posterior to prior density is the same.

*Its standard error.* The delta method with the effective sample size of the terms along the chains; the checks are those of
reciprocal importance sampling: R-hat, Pareto k, effective sample size, halves that agree.

*When it lies.* Far from the draws the terms come from few of them: Pareto k shows that; fit the restricted model then. Chains that
missed a mode make it wrong as they make everything wrong, and no check for missed mass is made here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from zhat.comparing.bayes_factor import LogBayesFactor
from zhat.comparing.point import Point, point_of, prior_at
from zhat.errors import BadType, UnsupportedModel
from zhat.formatting import with_error
from zhat.model.model import Model
from zhat.numerics.draws.reciprocal import BothHalves, OneHalf, one_half
from zhat.results.estimate import Diagnostic, Level, Status, promised_se
from zhat.results.records import Draws
from zhat.run.from_draws import given_draws, judged
from zhat.run.whose_model import not_a_model
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.loop import Loop
from zhat.sampling.chains.halves import in_halves
from zhat.sampling.chains.transitions import Linear, conditional_moments, moments
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key, check_seed
from zhat.verdicts.from_chains import chains_status, reciprocal_status

# What to do where the draws do not give the density at the point.
REMEDY = "write the restricted model and use zhat.compare"


@dataclass(frozen=True)
class SavageDickey:
    """The log Bayes factor of `parameter` = `at` against the model in which it is free.

    `value` > 0 favours the point. `se` is None when the status is not ok.
    """

    parameter: str
    at: float | list[float]
    value: float
    se: float | None
    status: Status
    log_posterior_density: float
    log_prior_density: float
    diagnostics: dict[str, Diagnostic] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keep the promise: no standard error beside a status that is not ok."""
        object.__setattr__(self, "se", promised_se(self.se, self.status))

    @property
    def log_bayes_factor(self) -> LogBayesFactor:
        """As a Bayes factor, with its interval and its words."""
        return LogBayesFactor(f"{self.parameter} = {self.at}", "free", self.value, self.se, np.inf)

    def __str__(self) -> str:
        """``log BF(delta = 0.0, free) = 1.32 ± 0.01  ok``."""
        return f"log BF({self.parameter} = {self.at}, free) = {with_error(self.value, self.se)}  {self.status}"

    def explain(self) -> str:
        """The line of `__str__`, then every reason."""
        return "\n".join([str(self), *(f"  {self.status.level.value}: {r.sentence}" for r in self.status.reasons)])


def savage_dickey(model: Model, draws: Any, parameter: str, *, at: Any, seed: int | None = None) -> SavageDickey:
    """The Bayes factor of a point hypothesis inside of a model that was already fitted.

    Parameters
    ----------
    model : Model
        The larger model, in which the parameter is free.
    draws
        Its posterior draws, in any of the forms that `zhat.evidence(draws=...)` takes.
    parameter : str
        Its name, or that of one entry of a vector or matrix, counted from zero: ``"beta[2]"``.
    at : float or array
        The point, of the parameter's shape (a number for one entry), inside of its support.
    seed : int, optional
        Of the prior draws of the first checks.
    """
    if not isinstance(model, Model):
        raise BadType(not_a_model(model, "savage_dickey"))
    if not model.space.has_prior:
        raise UnsupportedModel(
            f"savage_dickey needs the prior density at the point, and of model {model.name!r} only the joint density is known: write it as "
            "zhat.Model(log_likelihood, prior)."
        )
    if model.core.shown is not None:
        raise UnsupportedModel(
            f"savage_dickey: the prior of {model.name!r} is a transform of the unit cube, and its density at the point is not known. "
            "Write the restricted model and use zhat.compare."
        )
    loop = Loop(None, False, model.name)
    with jax.enable_x64(True):
        given = given_draws(model, draws)
        bench = Workbench(model, Key(check_seed(seed)).child("savage-dickey"), loop)
        brought = judged(model, given, bench)
        chains = brought.chains
        point = point_of(model, parameter, at, chains.draws)
        status = brought.status.and_(chains_status(chains, model.n_dimensions))
        if status.level is Level.FAILED:
            return SavageDickey(parameter, _plain(at), np.nan, None, status, np.nan, np.nan, brought.diagnostics)
        log_prior_density, dependent = prior_at(model, chains.draws.position, bench.prior().position, point)
        halves = in_halves(chains.draws)
        first, second = (_density(model, fit, use, point, loop) for fit, use in (halves, halves[::-1]))
        both = BothHalves(first, second)
    status = status.and_(reciprocal_status(both, REMEDY)).and_(dependent)
    diagnostics: dict[str, Diagnostic] = {
        **brought.diagnostics,
        "pareto_k": max(both.first.pareto_k, both.second.pareto_k),
        "ess": min(both.first.ess, both.second.ess),
        "log_density_of_halves": [-both.first.log_ratio, -both.second.log_ratio],
        "n_likelihood": loop.n_likelihood,
    }
    value = -both.log_ratio - log_prior_density
    return SavageDickey(parameter, _plain(at), value, both.se, status, -both.log_ratio, log_prior_density, diagnostics)


def _density(model: Model, fit: Draws, use: Draws, point: Point, loop: Loop) -> OneHalf:
    """One over the posterior density at the point, from a conditional fitted on one half and the draws of the other."""
    mean, covariance = moments(fit.position)
    regression, rest = conditional_moments(covariance, point.columns)
    conditional = Linear(point.columns, mean, regression, rest, np.inf)
    log_prior, log_likelihood = log_densities(model, point.moved(use.position), loop)
    log_terms = (
        conditional.log_density(use.position, use.position) + log_prior + log_likelihood - use.log_prior - use.log_likelihood
    )
    assert use.chain is not None
    return one_half(log_terms.reshape(len(np.unique(use.chain)), -1))


def _plain(at: Any) -> float | list[float]:
    value = np.asarray(at, np.float64)
    return float(value) if value.ndim == 0 else [float(v) for v in value.ravel()]
