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
from zhat.errors import BadInput, BadType, UnsupportedModel
from zhat.formatting import with_error
from zhat.model.model import Model
from zhat.numerics.draws.reciprocal import BothHalves, OneHalf, one_half
from zhat.results.estimate import Diagnostic, Level, Status, promised_se
from zhat.results.records import Array, Draws
from zhat.run.from_draws import given_draws, judged
from zhat.run.whose_model import not_a_model
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.evaluation import log_densities, site_priors, unconstrained
from zhat.sampling.backend.loop import Loop
from zhat.sampling.chains.halves import in_halves
from zhat.sampling.chains.transitions import Columns, Linear, conditional_moments, moments
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key, check_seed
from zhat.verdicts.from_chains import chains_status, reciprocal_status

# Nats by which log priors may differ from draw to draw and still be equal.
ROUNDING = 1e-8


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
        Its name.
    at : float or array
        The point, of the parameter's shape, inside of its support.
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
    columns = _columns(model, parameter)
    loop = Loop(None, False, model.name)
    with jax.enable_x64(True):
        given = given_draws(model, draws)
        bench = Workbench(model, Key(check_seed(seed)).child("savage-dickey"), loop)
        brought = judged(model, given, bench)
        point = _point(model, parameter, at, brought.chains.draws, columns)
        chains = brought.chains
        status = brought.status.and_(chains_status(chains, model.n_dimensions))
        if status.level is Level.FAILED:
            return SavageDickey(parameter, _plain(at), np.nan, None, status, np.nan, np.nan, brought.diagnostics)
        log_prior_density, dependent = _prior_at(model, chains.draws.position, columns, point, parameter)
        halves = in_halves(chains.draws)
        first, second = (_density(model, fit, use, columns, point, loop) for fit, use in (halves, halves[::-1]))
        both = BothHalves(first, second)
    status = status.and_(reciprocal_status(both)).and_(dependent)
    diagnostics: dict[str, Diagnostic] = {
        **brought.diagnostics,
        "pareto_k": max(both.first.pareto_k, both.second.pareto_k),
        "ess": min(both.first.ess, both.second.ess),
        "log_density_of_halves": [-both.first.log_ratio, -both.second.log_ratio],
        "n_likelihood": loop.n_likelihood,
    }
    value = -both.log_ratio - log_prior_density
    return SavageDickey(parameter, _plain(at), value, both.se, status, -both.log_ratio, log_prior_density, diagnostics)


def _density(model: Model, fit: Draws, use: Draws, columns: Columns, point: Array, loop: Loop) -> OneHalf:
    """One over the posterior density at the point, from a conditional fitted on one half and the draws of the other."""
    mean, covariance = moments(fit.position)
    regression, rest = conditional_moments(covariance, columns)
    conditional = Linear(columns, mean, regression, rest, np.inf)
    moved = use.position.copy()
    moved[:, columns] = point
    log_prior, log_likelihood = log_densities(model, moved, loop)
    log_terms = (
        conditional.log_density(use.position, use.position) + log_prior + log_likelihood - use.log_prior - use.log_likelihood
    )
    assert use.chain is not None
    return one_half(log_terms.reshape(len(np.unique(use.chain)), -1))


def _prior_at(model: Model, position: Array, columns: Columns, point: Array, name: str) -> tuple[float, Status]:
    """Log prior density at the point, and whether the priors of this and of the other parameters are independent."""
    some = position[:: max(1, len(position) // 256)][:256]
    moved = some.copy()
    moved[:, columns] = point
    here, there = site_priors(model, some), site_priors(model, moved)
    k = model.space.names.index(name)
    own, others = there[:, k], np.delete(here - there, k, axis=1)
    scale = ROUNDING * max(1.0, float(np.abs(there).max()))
    if np.ptp(own) <= scale and (np.abs(others) <= scale).all():
        return float(own[0]), Status.ok()
    sentence = (
        f"the prior of {name!r} and those of other parameters depend on each other: the ratio of densities is a Bayes factor only if the "
        f"restricted model has the priors that the others have given {name} at the point; write that model and use zhat.compare."
    )
    return float(np.log(np.mean(np.exp(own - own.max()))) + own.max()), Status.suspect("prior-depends", sentence)


def _columns(model: Model, name: str) -> Columns:
    if model.core.shown is not None:
        raise UnsupportedModel(
            f"savage_dickey: the prior of {model.name!r} is a transform of the unit cube, and its density at the point is not known. "
            "Write the restricted model and use zhat.compare."
        )
    if name not in model.space.names:
        raise BadInput(f"savage_dickey: {model.name!r} has no parameter {name!r}; it has {', '.join(model.space.names)}.")
    starts = np.cumsum([0, *(site.size for site in model.space.sites)])
    k = model.space.names.index(name)
    return np.arange(starts[k], starts[k + 1])


def _point(model: Model, name: str, at: Any, draws: Draws, columns: Columns) -> Array:
    """The coordinates of the point."""
    site = model.space.sites[model.space.names.index(name)]
    value = np.asarray(at, np.float64)
    if value.shape != site.shape:
        raise BadInput(f"savage_dickey(at=...): the point has shape {value.shape}, and {name!r} has shape {site.shape}.")
    params, _ = constrain_batch(model, draws.position[:1])
    params = {key: np.asarray(values) for key, values in params.items()}
    params[name] = value[None]
    point = unconstrained(model, params)[0][columns]
    if not np.isfinite(point).all():
        raise BadInput(
            f"savage_dickey(at={at}): the point is at the edge of the support of {name!r}, or outside of it, where the density is not "
            "defined; a hypothesis at an edge needs a model of its own."
        )
    return np.asarray(point)


def _plain(at: Any) -> float | list[float]:
    value = np.asarray(at, np.float64)
    return float(value) if value.ndim == 0 else [float(v) for v in value.ravel()]
