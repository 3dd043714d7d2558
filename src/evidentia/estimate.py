"""The front door: a model in, an evidence out.

    evidence(model)                                          # importance sampling, or SMC where that refuses
    evidence(model, SMC(n_particles=4000), seed=1, repeats=4)

Needs are checked before any work. Everything that methods would otherwise repeat is added here: seeds, cost, versions,
repeats and their combination, stopping by budget or Ctrl-C.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import jax
import numpy as np
from scipy.special import gammaincc

from evidentia.check import preflight
from evidentia.errors import BadType, EvidenceFailed, UnsupportedModel
from evidentia.methods._base import Method, check_count, method_named, registry
from evidentia.methods.importance import Importance
from evidentia.methods.smc import SMC
from evidentia.model import Model
from evidentia.numerics.uncertainty import combine_repeats
from evidentia.records import Draws
from evidentia.result import Cost, Estimate, Evidence, Kind, Level, Repeat, Status
from evidentia.sampling.evaluate import saturated_share
from evidentia.sampling.loop import Budget, Loop, Stopped
from evidentia.sampling.workbench import Workbench
from evidentia.seeding import Key, check_seed

# Chance of calling honest repeats scattered, below which they are.
SCATTER_CHANCE = 1e-3
# Share of the weight at the very edge of a support that no proper posterior has.
EDGE_SHARE = 0.01


def evidence(
    model: Model,
    method: Method | str | None = None,
    *,
    seed: int | None = None,
    repeats: int = 1,
    progress: bool | None = None,
    budget: Budget | None = None,
    strict: bool = False,
) -> Evidence:
    """Estimate how strongly the data support a model: its log evidence, with an error and a verdict.

    Parameters
    ----------
    model : Model
    method : Method, name of one, or None
        None runs `Importance`, and where its own checks refuse the answer, `SMC`; the result says which and why.
    seed : int, optional
        The same seed gives the same digits; without one, a seed is drawn and stored in the result.
    repeats : int
        Independent runs, combined; their scatter is compared with the errors they report.
    progress : bool, optional
        Show what is going on; by default only on a terminal.
    budget : Budget, optional
        Limits for the whole call; a run that is stopped hands over what it has, with status failed.
    strict : bool
        Raise `EvidenceFailed` instead of returning a failed result.
    """
    _check_arguments(model, repeats, budget)
    seed = check_seed(seed)
    if method is None:
        result = _by_default(model, seed, repeats, progress, budget)
    else:
        chosen = method_named(method) if isinstance(method, str) else method
        _check_needs(model, chosen)
        result = _run(model, chosen, seed, repeats, progress, budget)
    if strict and result.status.level is Level.FAILED:
        raise EvidenceFailed(result.explain(), result)
    return result


def read(result: Evidence, method: Method | str) -> Evidence:
    """Estimate the evidence anew from the record of a run, by another method, without sampling again.

    A tempered run of SMC, power posteriors or stepping stones can be read by power posteriors and by stepping stones, also after
    it was loaded from a file. What is checked from the model itself (modes, edges) is not checked again.
    """
    if not isinstance(result, Evidence):
        raise BadType(f"read() takes an Evidence first, not a {type(result).__name__}: the result of evidence(...).")
    chosen = method_named(method) if isinstance(method, str) else method
    if not isinstance(chosen, Method):
        raise BadType(f"method is a {type(chosen).__name__}: give a method such as SteppingStone(), or its name.")
    estimate = chosen.read(result.record)
    if not result.status.is_ok:  # what the run said against itself stands
        estimate = estimate.doubted(result.status)
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


def _by_default(model: Model, seed: int, repeats: int, progress: bool | None, budget: Budget | None) -> Evidence:
    first = _run(model, Importance(), seed, repeats, progress, budget)
    if first.status.is_ok:
        k = first.diagnostics.get("pareto_k", float("nan"))
        return _because(first, f"importance sampling at the mode, whose weights are well behaved (Pareto k {k:.2f})")
    if any(reason.code in ("interrupted", "budget") for reason in first.status.reasons):
        return first
    why = first.status.reasons[0]
    second = _run(model, SMC(), seed, repeats, progress, _remaining(budget, first.cost))
    return _because(second, f"SMC, because importance sampling refused ({why.code}): {why.sentence}", first.cost)


def _because(result: Evidence, why: str, spent_before: Cost | None = None) -> Evidence:
    cost = result.cost if spent_before is None else spent_before + result.cost
    return Evidence(**{**vars(result), "why_this_method": why, "cost": cost})


def _remaining(budget: Budget | None, spent: Cost) -> Budget | None:
    if budget is None:
        return None
    left = budget.likelihoods - spent.n_likelihood - spent.n_gradient
    return Budget(max(left, 1), max(budget.seconds - spent.seconds, 1e-3))


def _run(model: Model, method: Method, seed: int, repeats: int, progress: bool | None, budget: Budget | None) -> Evidence:
    loop = Loop(budget, progress, method.name)
    estimates: list[Estimate] = []
    with loop.listening(), _compile_clock() as clock, jax.enable_x64(True):
        for i in range(repeats):
            key = Key(seed).child(method.name, i)
            bench = Workbench(model, key, loop)
            try:
                seen = preflight(model, bench.prior(), loop) if i == 0 else Status.ok()
                estimate = method.run(model, bench, key)
                seen = seen.and_(_edge_status(model, estimate))
            except Stopped as stop:
                sentence = f"no evidence yet: {stop}."
                seen = Status.failed(stop.code, sentence)
                estimate = Estimate(np.nan, None, no_se_because=sentence)
            estimates.append(estimate.doubted(seen))
            if loop.interrupted or estimate.status.level is Level.FAILED or seen.level is Level.FAILED:
                break
        cost = loop.cost(clock.seconds)
    combined = _combine(estimates).doubted(_nan_status(loop))
    return Evidence(
        log_evidence=combined.log_evidence,
        log_evidence_se=combined.log_evidence_se,
        status=combined.status,
        kind=combined.kind,
        degrees_of_freedom=combined.degrees_of_freedom,
        no_se_because=combined.no_se_because,
        approximation_error=combined.approximation_error,
        diagnostics=combined.diagnostics,
        record=combined.record,
        method=method.name,
        settings=settings_of(method),
        cites=method.cites,
        model=model.name,
        data_id=model.data_id,
        n_dimensions=model.n_dimensions,
        cost=cost,
        seed=seed,
        versions=_versions(),
        repeats=tuple(Repeat(e.log_evidence, e.log_evidence_se, e.status) for e in estimates),
    )


def _nan_status(loop: Loop) -> Status:
    if not loop.n_nan:
        return Status.ok()
    return Status.suspect(
        "nan-as-zero",
        f"the log likelihood was NaN at {loop.n_nan:,} points, which were taken as impossible (zero_where_nan): make sure that "
        "they are.",
    )


def _edge_status(model: Model, estimate: Estimate) -> Status:
    """Doubt a result whose weight lies where the parameters have run into the edge of their support."""
    record = estimate.record
    draws = record if record is None or isinstance(record, Draws) else record.final
    if draws is None or estimate.status.level is Level.FAILED:
        return Status.ok()
    share = saturated_share(model, draws)
    if share < EDGE_SHARE:
        return Status.ok()
    return Status.suspect(
        "edge",
        f"{share:.0%} of the posterior's weight lies where a parameter cannot be told from the edge of its support: the "
        "likelihood may be unbounded there and the evidence infinite; look at the parameters near their bounds.",
    )


def _combine(estimates: list[Estimate]) -> Estimate:
    """One estimate from independent repeats; the record and diagnostics are the first run's."""
    if len(estimates) == 1:
        return estimates[0]
    status = Status.ok()
    for estimate in estimates:
        status = status.and_(estimate.status)
    values = [estimate.log_evidence for estimate in estimates]
    errors = [estimate.log_evidence_se for estimate in estimates]
    first = estimates[0]
    if status.level is Level.FAILED or not np.isfinite(values).all():
        failed = next(e for e in estimates if not e.status.is_ok or not np.isfinite(e.log_evidence))
        return Estimate(**{**vars(failed), "status": status, "log_evidence_se": None})
    if first.kind is Kind.APPROXIMATION:
        worst = max(e.approximation_error or 0.0 for e in estimates)
        return Estimate(
            **{**vars(first), "log_evidence": float(np.mean(values)), "approximation_error": worst, "status": status}
        )
    all_errors = [e for e in errors if e is not None] if None not in errors else None
    combined = combine_repeats(values, all_errors)
    if all_errors is not None and combined.ratio is not None and combined.within_se:
        df = len(values) - 1
        if gammaincc(df / 2, df * combined.ratio**2 / 2) < SCATTER_CHANCE:
            status = status.and_(
                Status.suspect(
                    "scatter",
                    f"{len(values)} runs scatter {combined.ratio:.1f} times as much as their own errors allow: the errors are "
                    "too small; trust the scatter, and take more particles or draws.",
                )
            )
    shown = status.is_ok or (any(reason.code == "scatter" for reason in status.reasons) and len(status.reasons) == 1)
    diagnostics = {**first.diagnostics, "between_run_sd": float(combined.between_sd or 0.0)}
    return Estimate(
        log_evidence=float(combined.mean),
        log_evidence_se=float(combined.se) if shown else None,
        degrees_of_freedom=float(combined.degrees_of_freedom),
        no_se_because=None if shown else status.reasons[0].sentence,
        status=status,
        kind=first.kind,
        diagnostics=diagnostics,
        record=first.record,
    )


# -- the door's own checks -----------------------------------------------------------------------------------------


def _check_arguments(model: Any, repeats: Any, budget: Any) -> None:
    if not isinstance(model, Model):
        raise BadType(f"evidence() takes a Model first, not a {type(model).__name__}: Model(log_likelihood, prior).")
    check_count("evidence", "repeats", repeats, 1, "there must be a run")
    if budget is not None and not isinstance(budget, Budget):
        raise BadType(f"budget is a {type(budget).__name__}: give Budget(likelihoods=...) or Budget(seconds=...).")


def _check_needs(model: Model, method: Any) -> None:
    if not isinstance(method, Method):
        raise BadType(f"method is a {type(method).__name__}: give a method such as SMC(), or its name, one of {_names()}.")
    missing = method.missing(model)
    if not missing:
        return
    would_do = [name for name, other in registry().items() if other.needs <= model.offers]
    wants = " and ".join(sorted(offer.value for offer in missing))
    raise UnsupportedModel(
        f"{type(method).__name__} needs {wants}, which model {model.name!r} does not offer. These methods would do: "
        f"{', '.join(would_do)}."
    )


def _names() -> str:
    return ", ".join(registry())


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
    found = {"python": platform.python_version()}
    for package in ("evidentia", "jax", "numpyro", "numpy", "scipy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed as a package"
    return found


# -- compile time, apart ---------------------------------------------------------------------------------------------


class _Clock:
    seconds = 0.0


_clocks: list[_Clock] = []


def _hear(event: str, duration_secs: float, **kwargs: Any) -> None:
    if event.startswith("/jax/core/compile/"):
        for clock in _clocks:
            clock.seconds += duration_secs


@cache
def _listen() -> None:
    jax.monitoring.register_event_duration_secs_listener(_hear)


@contextmanager
def _compile_clock() -> Iterator[_Clock]:
    """Seconds that JAX spends tracing and compiling while this is open."""
    _listen()
    clock = _Clock()
    _clocks.append(clock)
    try:
        yield clock
    finally:
        _clocks.remove(clock)
