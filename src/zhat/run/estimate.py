"""`evidence`: a model in, an evidence out.

    evidence(model)                                          # several families of methods, until two views agree
    evidence(model, SMC(n_particles=4000), seed=1, repeats=4)

    evidence(model, repeats=20, workers=4)                   # the same digits, sooner
    evidence(model, draws=fit)                               # from posterior draws that you already have: from_draws.py

Needs are checked before any work. Everything that methods would otherwise repeat is added here and in `repeats.py`: seeds, cost,
versions, repeats and their combination, stopping by budget or Ctrl-C. Which methods run by default is decided in `auto.py`.
"""

from __future__ import annotations

import math
import operator
import os
import platform
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, reduce
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import jax
import numpy as np

from zhat.errors import BadType, EvidenceFailed, UnsupportedModel
from zhat.methods._base import Method, check_count, method_named, registry
from zhat.methods.bridge import Bridge
from zhat.model.model import Model
from zhat.results.estimate import Estimate, Evidence, Level, Repeat
from zhat.results.records import Cost
from zhat.run.auto import by_default
from zhat.run.checkpoint.checkpoint import checkpointed
from zhat.run.distribution.executors import arranged
from zhat.run.distribution.plans import Plan, carry_out
from zhat.run.distribution.travel import Task
from zhat.run.from_draws import by_draws, check_method, given_draws, model_of
from zhat.run.precision import check_precision, to_precision
from zhat.run.repeats import Runs, some_runs, together
from zhat.run.whose_model import not_a_model
from zhat.sampling.backend.loop import Budget
from zhat.sampling.chains.given import Given
from zhat.seeding import check_seed
from zhat.surroundings import check_surroundings


def evidence(
    model: Model,
    method: Method | str | None = None,
    *,
    draws: Any = None,
    seed: int | None = None,
    repeats: int = 1,
    precision: float | None = None,
    progress: bool | None = None,
    budget: Budget | None = None,
    strict: bool = False,
    executor: Executor | str | None = None,
    workers: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Evidence:
    """Estimate how strongly the data support a model: its log evidence, with a standard error and a verdict.

    Parameters
    ----------
    model : Model
        Or NumPyro's MCMC object after its run, which holds model, data and draws.
    method : Method, name of one, or None
        None runs `Importance`, and where it is flagged or a second view from the prior differs, further families (`SMC`,
        `NestedSampling`, ...) until two agree; the result states which and why.
        With `draws` it runs `Bridge`, and where that refuses, `Importance` from a density fitted to the draws.
    draws : optional
        Posterior draws of this model: a dict of arrays (chains, draws, ...) by parameter, an ArviZ DataTree or InferenceData,
        NumPyro's MCMC object, an emcee sampler, an Evidence, or the path of a NetCDF, Zarr, .npz or Stan CSV file. They are checked
        against the model, and nothing is sampled again for the estimate.
    seed : int, optional
        The same seed gives the same digits; without one, a seed is drawn and stored in the result.
    repeats : int
        Independent runs, combined; their scatter is compared with the standard errors that they report.
    precision : float, optional
        The standard error of log Z that is wanted: the sizes of the method grow from an eighth of its own until it is reached, and no
        further. The result has the sizes of the last run, which is the answer.
    progress : bool, optional
        Show progress; by default only on a terminal.
    budget : Budget, optional
        Limits for the whole call; a run that is stopped returns its partial record, with status failed.
    strict : bool
        Raise `EvidenceFailed` instead of returning a failed result.
    executor : concurrent.futures.Executor, or "dask://host:port", optional
        Where the repeats run, or, if there are fewer of them than workers, the likelihoods of a black box; the digits are the same
        everywhere. The cost is then the sum over all runs.
    workers : int, optional
        The same with this many processes on this machine, for this call.
    checkpoint : path, optional
        A folder in which the run keeps what it has computed. A run that was killed, or ended by its budget, goes on from there when the
        same call is made again, and ends with the same digits.
    """
    if draws is None and (inside := model_of(model)) is not None:
        model, draws = inside, model
    own = None if draws is None else given(model, draws)
    runner = Runner(model, check_seed(seed), repeats, progress, False, own)
    plan(runner, method, budget, precision)  # checks all arguments; it is never run
    several = repeats if precision is None else max(repeats, 2)  # to reach a precision several runs may be combined
    about = {"method": described(method), "repeats": repeats, "precision": precision, "draws": own}
    with (
        checkpointed(checkpoint, "evidence", {model.name: model}, about, seed) as own_seed,
        arranged(executor, workers, [model], several) as where,
    ):
        way = plan(replace(runner, seed=own_seed, spread=where is not None), method, budget, precision)
        result = carry_out([way], where, progress)[0]
    if strict and result.status.level is Level.FAILED:
        raise EvidenceFailed(result.explain(), result)
    return result


def read(result: Evidence, method: Method | str) -> Evidence:
    """Estimate the evidence anew from the record of a run, by another method, without sampling again.

    A tempered run of SMC, power posteriors or stepping stones can be read by power posteriors and by stepping stones, also after
    it was loaded from a file. Checks that need the model itself (modes, edges of the support) are not repeated.
    """
    if not isinstance(result, Evidence):
        raise BadType(f"read() takes an Evidence first, not a {type(result).__name__}: the result of zhat.evidence(...).")
    chosen = method_named(method) if isinstance(method, str) else method
    if not isinstance(chosen, Method):
        raise BadType(f"method is a {type(chosen).__name__}: give a method such as zhat.SteppingStone(), or its name.")
    estimate = chosen.read(result.record)
    estimate = estimate.doubted(result.status)  # the verdict of the run still applies
    return replace(
        result,
        **{f.name: getattr(estimate, f.name) for f in fields(Estimate)},
        method=chosen.name,
        settings=settings_of(chosen),
        cites=tuple(dict.fromkeys((*chosen.cites, *result.cites))),
        cost=Cost(),
        repeats=(Repeat(estimate.log_evidence, estimate.log_evidence_se, estimate.status),),
        why_this_method=f"read from the record of a run of {result.method}",
    )


@dataclass(frozen=True)
class Runner:
    """What runs one method on a model.

    Attributes
    ----------
    model : Model
    seed, repeats : int
    progress : bool or None
    spread : bool
        Whether every run is a task of its own.
    given : Given or None
        Posterior draws that the caller brings.
    """

    model: Model
    seed: int
    repeats: int
    progress: bool | None
    spread: bool
    given: Given | None = None

    def on(self, model: Model) -> Runner:
        """The same for the model in other coordinates."""
        return replace(self, model=model)

    def __call__(self, method: Method, number: int = 0, budget: Budget | None = None, n: int = 1) -> Plan[Evidence]:
        """The plan of a run from a number of its own, or of n of them, combined, within a budget."""
        model, repeats = self.model, self.repeats * n
        # Runs that share a budget run one after the other: which of them spends it first would depend on the workers.
        apart = self.spread and (budget is None or (math.isinf(budget.likelihoods) and math.isinf(budget.seconds)))
        numbers = range(number * repeats, (number + 1) * repeats)
        groups = [(i,) for i in numbers] if apart else [tuple(numbers)]
        progress = False if self.spread else self.progress
        parts = yield [
            Task(
                some_runs,
                model,
                (method, self.seed, some, progress, budget, self.given),
                Runs,
                (settings_of(method), method.name, self.seed, some, self.given),
            )
            for some in groups
        ]
        runs: Runs = reduce(operator.add, parts)
        combined = together(runs)
        return Evidence(
            labels=dict(model.labels or {}),
            units=dict(model.units or {}),
            log_evidence=combined.log_evidence,
            log_evidence_se=combined.log_evidence_se,
            status=combined.status,
            kind=combined.kind,
            degrees_of_freedom=combined.degrees_of_freedom,
            no_se_because=combined.no_se_because,
            approximation_error=combined.approximation_error,
            diagnostics={**combined.diagnostics, **in_words(model)},
            record=combined.record,
            method=method.name,
            settings=settings_of(method),
            cites=tuple(dict.fromkeys((*method.cites, *(model.described.cites if model.described else ())))),
            model=model.name,
            data_id=model.data_id,
            n_dimensions=model.n_dimensions,
            cost=runs.cost,
            seed=self.seed,
            versions=_versions(),
            repeats=tuple(Repeat(e.log_evidence, e.log_evidence_se, e.status) for e in runs.kept),
        )


def in_words(model: Model) -> dict[str, str]:
    """What a model says of itself, as diagnostics: its formula, its priors, what is odd about its data."""
    told = model.described
    if told is None:
        return {}
    words = {"model_in_words": told.model, "prior_in_words": told.prior, "data_in_words": told.warning}
    return {name: text for name, text in words.items() if text}


def plan(runner: Runner, method: Method | str | None, budget: Budget | None, precision: float | None = None) -> Plan[Evidence]:
    """The plan of one evidence, its arguments checked."""
    _check_arguments(runner.model, runner.repeats, budget)
    chosen = method_named(method) if isinstance(method, str) else method
    if chosen is not None:
        _check_needs(runner.model, chosen, runner.given is not None)
    elif runner.given is None and not runner.model.space.has_prior:
        raise UnsupportedModel(only_joint(runner.model, "the default"))
    if precision is not None:
        check_precision(precision, chosen)
    if runner.given is not None:
        check_method(chosen or Bridge(), runner.repeats, precision)
        return by_draws(lambda m, draws: replace(runner, repeats=1, given=draws)(m, 0, budget), runner.given, chosen)
    if chosen is None:
        return by_default(runner.model, runner, budget, precision, False if runner.spread else runner.progress)
    if precision is None:
        return runner(chosen, 0, budget)
    return to_precision(lambda sized, left, n=1: runner(sized, 0, left, n), chosen, precision, budget)


def given(model: Any, draws: Any) -> Given:
    """Posterior draws that the caller brings, as vectors of this model."""
    if not isinstance(model, Model):
        raise BadType(not_a_model(model, "evidence"))
    with jax.enable_x64(True):
        return given_draws(model, draws)


# -- checks of arguments -------------------------------------------------------------------------------------------


def _check_arguments(model: Any, repeats: Any, budget: Any) -> None:
    if not isinstance(model, Model):
        raise BadType(not_a_model(model, "evidence"))
    check_surroundings()
    check_count("evidence", "repeats", repeats, 1, "there must be a run")
    if budget is not None and not isinstance(budget, Budget):
        raise BadType(f"budget is a {type(budget).__name__}: give zhat.Budget(likelihoods=100_000) or zhat.Budget(seconds=60).")


def _check_needs(model: Model, method: Any, with_draws: bool = False) -> None:
    if not isinstance(method, Method):
        if any(hasattr(method, name) for name in ("posterior", "get_samples", "get_chain")):
            raise BadType(f"method is a {type(method).__name__}, which holds draws: zhat.evidence(model, draws=...) takes them.")
        raise BadType(f"method is a {type(method).__name__}: give a method such as zhat.SMC(), or its name, one of {_names()}.")
    missing = method.missing(model, with_draws)
    if not missing:
        return
    if not model.space.has_prior:
        raise UnsupportedModel(only_joint(model, type(method).__name__, with_draws))
    would_do = [name for name, other in registry().items() if other.needs <= model.offers]
    wants = " and ".join(sorted(offer.value for offer in missing))
    raise UnsupportedModel(
        f"{type(method).__name__} needs {wants}, which model {model.name!r} does not offer. These methods would do: "
        f"{', '.join(would_do)}."
    )


def only_joint(model: Model, what: str, with_draws: bool = False) -> str:
    """The sentence for a method that needs more than the joint density."""
    able = ", ".join(name for name, cls in registry().items() if cls.needs_of(True) <= model.offers)
    how = "" if with_draws else ", from posterior draws of it: zhat.evidence(model, draws=...)"
    return (
        f"{what} needs prior and likelihood apart, and of model {model.name!r} only the joint density is known. These methods use that "
        f"alone{how}: {able}. Or write the model as zhat.Model(log_likelihood, prior)."
    )


def _names() -> str:
    return ", ".join(registry())


def described(method: Method | str | None) -> Any:
    """A method by its name and settings; by its default settings where it is given by name."""
    chosen = method_named(method) if isinstance(method, str) else method
    return None if chosen is None else (chosen.name, settings_of(chosen))


def settings_of(value: Any) -> Any:
    """A method's settings as plain values: nested objects become dictionaries that name their type."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = {f.name: settings_of(getattr(value, f.name)) for f in fields(value)}
        return inner if isinstance(value, Method) else {"type": type(value).__name__, **inner}
    if isinstance(value, tuple | list):
        return [settings_of(item) for item in value]
    if isinstance(value, Mapping):
        return {str(k): settings_of(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return repr(value)


@cache
def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in ("zhat", "jax", "numpyro", "numpy", "scipy"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed as a package"
    return versions
