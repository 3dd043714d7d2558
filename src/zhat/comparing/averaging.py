"""Bayesian model averaging: quantities and predictions averaged over models, weighted by their posterior probabilities.

    p(q | y) = sum_m P(m | y) p(q | y, m)            a quantity, from pooled posterior draws
    p(y_new | y) = sum_m P(m | y) p(y_new | y, m)     new data, each density a mean of likelihoods over posterior draws

(Hoeting, Madigan, Raftery & Volinsky 1999; section 2 of Friel & Wyse 2012.) The posterior draws are those in the records of a
comparison's runs, weighted or not; nothing is sampled. Sums over models are computed in logs, so that weights near zero or one
lose no digits.

*When it lies.* As its parts do: a suspect evidence makes a suspect average, which is reported. The error of a log predictive
density covers the mean of likelihoods alone (delta method); where the posterior draws explain new data poorly, few draws
dominate that mean, and its Pareto k is large.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import jax
import numpy as np

from zhat.comparing.comparison import Comparison
from zhat.errors import BadInput, BadType
from zhat.formatting import one_line, with_error
from zhat.model.model import Model
from zhat.numerics.logspace import log_sum_exp
from zhat.numerics.resampling import residual, systematic
from zhat.numerics.weights import Weights
from zhat.results.estimate import Evidence
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.loop import Loop
from zhat.seeding import Key, check_seed


class Weighed(Protocol):
    """Models with probabilities and posterior draws: a `Comparison`, or the result of reversible jump (`Jump`)."""

    @property
    def names(self) -> tuple[str, ...]:
        """The models."""
        ...

    @property
    def probabilities(self) -> Array:
        """Their posterior probabilities."""
        ...

    @property
    def suspects(self) -> tuple[str, ...]:
        """The models whose evidence did not pass its checks."""
        ...

    @property
    def best(self) -> str:
        """The most probable one."""
        ...


Quantity = str | Callable[[dict[str, Array]], Array] | Mapping[str, Callable[[dict[str, Array]], Array]]


@dataclass(frozen=True)
class Average:
    """Pooled draws of a quantity, (n, ...), the model each comes from, and its mean within every model that has draws."""

    values: Array
    model: tuple[str, ...]
    by_model: dict[str, Array]
    suspects: tuple[str, ...]

    @property
    def mean(self) -> Array:
        """The averaged posterior mean."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def sd(self) -> Array:
        """The averaged posterior standard deviation: within models and between them."""
        return np.asarray(self.values.std(axis=0))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Central interval of the averaged posterior."""
        low, high = np.quantile(self.values, [0.5 - level / 2, 0.5 + level / 2], axis=0)
        return low, high

    def rows(self, quantity: str) -> tuple[list[str], list[list[str]]]:
        """Header and cells of a table: a row for every element of the quantity, under this name."""
        low, high = self.interval()
        flat = [array.reshape(-1) for array in (self.mean, self.sd, low, high)]
        names = [quantity] if self.mean.ndim == 0 else [f"{quantity}[{i}]" for i in range(flat[0].size)]
        rows = [[name, *(f"{array[i]:.5g}" for array in flat)] for i, name in enumerate(names)]
        return ["averaged over models", "mean", "sd", "2.5 %", "97.5 %"], rows

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """For JSON: the averaged posterior, and the mean under each model."""
        low, high = self.interval(level)
        return {
            "n_draws": len(self.values),
            "mean": self.mean.tolist(),
            "sd": self.sd.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
            "level": level,
            "mean_by_model": {name: value.tolist() for name, value in self.by_model.items()},
            "suspects": list(self.suspects),
        }

    def __str__(self) -> str:
        """Mean and standard deviation, and the suspect models."""
        doubt = f"  not to be trusted: {', '.join(map(one_line, self.suspects))}" if self.suspects else ""
        return f"mean {np.array2string(self.mean, precision=4)}  sd {np.array2string(self.sd, precision=4)}{doubt}"


def average(comparison: Weighed, quantity: Quantity, *, n_draws: int = 10_000, seed: int | None = None) -> Average:
    """Average a quantity over models: its posterior draws, pooled in proportion to the models' probabilities.

    Parameters
    ----------
    comparison : Comparison or Jump
        Of runs whose records hold posterior draws.
    quantity : str, callable, or mapping of model name to callable
        A parameter that every model has, or a function of the named parameters (arrays with leading axis n) to an array of
        n values; one for all models, or one each.
    n_draws : int
        Pooled draws.
    """
    if not isinstance(comparison, Comparison) and not hasattr(comparison, "draws_of"):
        raise BadType(f"average() takes a Comparison first, not a {type(comparison).__name__}: the result of compare(...).")
    key = Key(check_seed(seed)).child("average")
    rng = key.generator()
    with np.errstate(divide="ignore"):
        shares = np.log(comparison.probabilities)
    counts = np.bincount(residual(shares, rng.random(n_draws), n_draws), minlength=len(shares))
    values, names, within = [], [], {}
    for name, count in zip(comparison.names, counts, strict=True):
        if count == 0:
            continue  # a model without a share of the pool needs no draws
        draws = _draws(comparison, name)
        log_weight = np.zeros(len(draws.position)) if draws.log_weight is None else draws.log_weight
        chosen = rng.permutation(systematic(log_weight, float(rng.random()), int(count)))
        found = _evaluated(_for(quantity, name), {k: v[chosen] for k, v in draws.parameters.items()}, name, int(count))
        values.append(found)
        names += [name] * int(count)
        within[name] = np.asarray(found.mean(axis=0))
    if len({v.shape[1:] for v in values}) > 1:
        shapes = {name: tuple(v.shape) for name, v in within.items()}
        raise BadInput(f"average(): the quantity has different shapes in different models: {shapes}.")
    suspects = tuple(name for name in comparison.suspects if name in within)
    return Average(np.concatenate(values), tuple(names), within, suspects)


@dataclass(frozen=True)
class Prediction:
    """Log predictive density of new data: under every model, and averaged; with the error of each model's mean."""

    log_density: float
    by_model: dict[str, float]
    se_by_model: dict[str, float]
    pareto_k: dict[str, float]
    best: str
    suspects: tuple[str, ...]

    def __str__(self) -> str:
        """One line a model, and the average."""
        lines = [f"{one_line(name)}: {with_error(value, self.se_by_model[name])}" for name, value in self.by_model.items()]
        return "\n".join([*lines, f"average: {self.log_density:.4f}"])


def predict(comparison: Weighed, models: Mapping[str, Model], new_data: Any) -> Prediction:
    """Log predictive density of new data, averaged over models: the log score, if the data were held out.

    Parameters
    ----------
    comparison : Comparison or Jump
        Of the models, fitted to the data at hand.
    models : mapping of str to Model
        The same models, by the same names.
    new_data
        As `Model.with_data` takes it, or a mapping from model names to it where the models take their data differently. The
        likelihood of the new data is taken as given the parameters alone: independent of the old data.
    """
    missing = [name for name in comparison.names if name not in models]
    if missing:
        raise BadInput(f"predict(): no model for {', '.join(map(repr, missing))}; give all that were compared.")
    loop = Loop(progress=False)
    by_model, errors, tails = {}, {}, {}
    for name in comparison.names:
        draws = _draws(comparison, name)
        data = new_data[name] if isinstance(new_data, Mapping) and set(new_data) >= set(comparison.names) else new_data
        with jax.enable_x64(True):
            _, log_likelihood = log_densities(models[name].with_data(data), draws.position, loop)
        weight = np.zeros(len(log_likelihood)) if draws.log_weight is None else draws.log_weight
        weight = weight - log_sum_exp(weight)
        known = Weights.of(np.log(len(weight)) + weight + log_likelihood)
        by_model[name], errors[name], tails[name] = float(known.log_mean), float(known.log_mean_se), float(known.pareto_k)
    with np.errstate(divide="ignore"):
        joint = np.log(comparison.probabilities) + np.array([by_model[name] for name in comparison.names])
    return Prediction(float(log_sum_exp(joint)), by_model, errors, tails, comparison.best, comparison.suspects)


def _draws(models: Any, name: str) -> Draws:
    """Posterior draws of one of the models."""
    found: Draws = posterior_draws(models.evidences[name], name) if isinstance(models, Comparison) else models.draws_of(name)
    return found


def posterior_draws(result: Evidence, name: str = "") -> Draws:
    """The posterior draws that a run left in its record, weighted or not."""
    record = result.record
    draws = record if isinstance(record, Draws) else getattr(record, "final", None)
    if not isinstance(draws, Draws) or not len(draws.position):
        raise BadInput(
            f"the run of {name or result.model!r} by {result.method} left no posterior draws: use a method that does, such as "
            "zhat.Importance() or zhat.SMC(); a loaded result needs its .npz file."
        )
    return draws


def _for(quantity: Quantity, name: str) -> Callable[[dict[str, Array]], Array]:
    if isinstance(quantity, str):
        return lambda params: _parameter(params, quantity, name)
    if isinstance(quantity, Mapping):
        if name not in quantity:
            raise BadInput(f"average(): no quantity for model {name!r}; give one for each, or one function for all.")
        return quantity[name]
    if not callable(quantity):
        raise BadType(f"average(): the quantity is a {type(quantity).__name__}; give a parameter's name or a function.")
    return quantity


def _parameter(params: dict[str, Array], wanted: str, name: str) -> Array:
    if wanted not in params:
        raise BadInput(f"average(): model {name!r} has no parameter {wanted!r}; it has {', '.join(params)}.")
    return params[wanted]


def _evaluated(function: Callable[[dict[str, Array]], Array], params: dict[str, Array], name: str, n: int) -> Array:
    values = np.asarray(function(params), np.float64)
    if values.ndim == 0 or len(values) != n:
        raise BadInput(
            f"average(): the quantity of {name!r} has shape {values.shape} for {n} draws; it must have one row a draw "
            "(parameters come with a leading axis of draws)."
        )
    if np.isnan(values).any():
        raise BadInput(f"average(): the quantity of {name!r} is NaN at {int(np.isnan(values).sum())} of {n} draws.")
    return values
