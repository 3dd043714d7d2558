"""Some runs of one method on one model, independent of each other, and their combination.

Every run has a key of its own, drawn from the seed, the method's name and the run's number, so that a run gives the same digits
alone, among others, in this process or in another one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import jax
import numpy as np
from scipy.special import gammaincc

from zhat.methods._base import Method
from zhat.missed_mass.nan_check import NanFound, nan_near
from zhat.model.model import Model
from zhat.numerics.combining.uncertainty import combine_repeats
from zhat.results.estimate import Estimate, Kind, Level, Status
from zhat.results.records import Cost, Draws
from zhat.run.checkpoint.finished import finished, keep
from zhat.run.distribution.travel import Task
from zhat.run.from_draws import judged
from zhat.run.model_check import preflight
from zhat.run.price import WORTH_SAYING, announce, price_of
from zhat.sampling.backend.batches import densities_at
from zhat.sampling.backend.evaluation import saturated_share
from zhat.sampling.backend.loop import Budget, Loop, Stopped, log
from zhat.sampling.backend.own_coordinates import in_users_coordinates
from zhat.sampling.chains.given import Given
from zhat.sampling.workbench import Workbench
from zhat.seeding import Key
from zhat.threads import one_thread
from zhat.verdicts.given_draws import joint_density_note
from zhat.verdicts.nan import nan_status

# Significance level of the test that repeats scatter more than their standard errors.
SCATTER_CHANCE = 1e-3
# Share of the weight at the very edge of a support that no proper posterior has.
EDGE_SHARE = 0.01
# Of a model's name, in the line of progress.
LONGEST_NAME = 24
# Seconds of a compiled call below which it is measured again where the plan seems long.
PAUSE = 2.0


@dataclass(frozen=True)
class Runs:
    """The results of some runs, each by itself, and what they cost."""

    estimates: tuple[Estimate, ...]
    cost: Cost

    def __add__(self, other: Runs) -> Runs:
        """Both, in this order."""
        return Runs(self.estimates + other.estimates, self.cost + other.cost)

    @property
    def is_final(self) -> bool:
        """Whether neither a budget nor the user ended a run."""
        return not any(reason.code in ("budget", "interrupted") for e in self.estimates for reason in e.status.reasons)

    @property
    def kept(self) -> tuple[Estimate, ...]:
        """Estimates up to the first that failed, where sequential runs would have ended."""
        failed = [i for i, estimate in enumerate(self.estimates) if estimate.status.level is Level.FAILED]
        return self.estimates[: failed[0] + 1] if failed else self.estimates


def some_runs(
    model: Model,
    method: Method,
    seed: int,
    numbers: Sequence[int],
    progress: bool | None,
    budget: Budget | None,
    given: Given | None = None,
) -> Runs:
    """The runs of these numbers, one after the other, within one budget; the first that fails is the last.

    With `given` posterior draws the method uses these, if they are the model's. Each finished run is kept in the checkpoint, if there is one.
    """
    name = model.name if len(model.name) <= LONGEST_NAME else model.name[: LONGEST_NAME - 1] + "…"
    loop = Loop(budget, progress, f"{name}  {method.name}")
    estimates: list[Estimate] = []
    earlier = Cost()  # seconds of runs that were finished before this process began
    with loop.listening(), compile_clock() as clock, jax.enable_x64(True), one_thread():
        for i in numbers:
            task = Task(some_runs, model, kept=Runs, key=(method, seed, i, given))
            known = finished(task) if len(numbers) > 1 else None
            if known is not None:
                (estimate,) = known.estimates
                _count(loop, known.cost)
                earlier += Cost(seconds=known.cost.seconds, compile_seconds=known.cost.compile_seconds)
                log.info("%s: run %d was finished before", loop.label, i)
            else:
                before = loop.cost(clock.seconds)
                loop.begin_run()
                key = Key(seed).child(method.name, i)
                bench = Workbench(model, key, loop)
                log.info("%s: run %d begins, seed %d, %r", loop.label, i, seed, method)
                try:
                    estimate = _one_run(model, method, bench, key, given, is_first=i == 0)
                    if loop.stopped is not None and math.isnan(
                        estimate.log_evidence
                    ):  # it ended before the method's own first number
                        estimate = _so_far(bench, loop.stopped)
                except Stopped as stop:
                    estimate = _so_far(bench, stop)
                estimate = replace(estimate, record=in_users_coordinates(model, estimate.record))
                log.info("%s: run %d ended, log Z = %.6g, %s", loop.label, i, estimate.log_evidence, estimate.status)
                # A record is large, and of several good runs only the first one's is kept.
                estimate = estimate if i == numbers[0] or not estimate.status.is_ok else replace(estimate, record=None)
                if len(numbers) > 1:
                    keep(task, Runs((estimate,), loop.cost(clock.seconds).since(before)))
            estimates.append(estimate)
            if loop.interrupted or estimate.status.level is Level.FAILED:
                break
        cost = loop.cost(clock.seconds) + earlier
    return Runs(tuple(estimates), cost)


def _count(loop: Loop, cost: Cost) -> None:
    """Count what a run took that was finished before."""
    loop.count(cost.n_likelihood, cost.n_gradient, cost.n_hessian)
    loop.seconds_per_likelihood = loop.seconds_per_likelihood or cost.seconds_per_likelihood


def _one_run(model: Model, method: Method, bench: Workbench, key: Key, given: Given | None, *, is_first: bool) -> Estimate:
    """One run, after the checks of the model that the first one makes, with the verdicts that every method needs."""
    loop = bench.loop
    n_nan, n_evaluated = loop.n_nan, loop.n_likelihood + loop.n_gradient
    status, prior_share = Status.ok(), None
    if is_first and method.evaluates and model.space.has_prior:
        _measure(bench)
        price = price_of(model, method, loop.seconds_per_likelihood)
        if price.seconds >= WORTH_SAYING and _may_have_been_a_pause(bench):
            _measure_again(bench)
            price = price_of(model, method, loop.seconds_per_likelihood)
        announce(price, loop)
        status = preflight(model, bench.prior(), loop)
        prior_share = (loop.n_nan - n_nan) / bench.prior().n_drawn
    estimate = method.run(model, bench, key) if given is None else _from(given, model, method, bench, key)
    status = status.and_(_edge_status(model, estimate))
    if not model.space.has_prior:
        status = status.and_(joint_density_note())
    if loop.n_nan > n_nan:
        met = NanFound(loop.n_nan - n_nan, loop.n_likelihood + loop.n_gradient - n_evaluated, prior_share)
        status = status.and_(_nan_status(model, estimate, met, key.child("nan"), loop))
    return estimate.doubted(status)


def _so_far(bench: Workbench, stop: Stopped) -> Estimate:
    """The best number that a stopped run has: from the modes it found, else from its prior draws; without a standard error."""
    found = bench.found
    if found.survey is not None and (masses := [mode.log_mass for mode in found.survey.modes.usable]):
        value, how = float(np.logaddexp.reduce(masses)), f"Laplace's approximation at the modes found so far ({len(masses)})"
    elif found.prior is not None and np.isfinite(found.prior.log_likelihood).any():
        value = float(np.logaddexp.reduce(found.prior.log_likelihood) - np.log(found.prior.n_drawn))
        how = f"the mean likelihood of {found.prior.n_drawn:,} prior draws, most often far too low"
    else:
        return Estimate(np.nan, None, Status.failed(stop.code, f"no evidence yet: {stop}."))
    sentence = f"the method did not get to its estimate: {stop}. The number is {how}."
    return Estimate(value, None, Status.failed(stop.code, sentence), record=found.prior)


def _measure(bench: Workbench) -> None:
    """What one likelihood takes at the first prior draws, without compilation."""
    loop = bench.loop
    n, begun = loop.n_likelihood, time.perf_counter()
    with compile_clock() as clock:
        bench.prior()
    seconds = time.perf_counter() - begun - clock.seconds
    loop.seconds_per_likelihood = max(seconds, 0.0) / max(loop.n_likelihood - n, 1)


def _may_have_been_a_pause(bench: Workbench) -> bool:
    """Whether a compiled call was short enough that a pause of a busy machine may have passed for a slow likelihood."""
    return not bench.model.is_black_box and bench.loop.seconds_per_likelihood * bench.prior().n_drawn < PAUSE


def _measure_again(bench: Workbench) -> None:
    """The smaller of what one likelihood took and takes; the second time is not counted."""
    position = bench.prior().position
    begun = time.perf_counter()
    densities_at(bench.model, position)
    again = (time.perf_counter() - begun) / len(position)
    bench.loop.seconds_per_likelihood = min(bench.loop.seconds_per_likelihood, again)


def _from(given: Given, model: Model, method: Method, bench: Workbench, key: Key) -> Estimate:
    """The method on given draws; nothing is estimated from draws that are not the model's."""
    draws = judged(model, given, bench)
    if draws.status.level is Level.FAILED:
        return Estimate(np.nan, None, draws.status, diagnostics=draws.diagnostics, record=draws.chains.draws)
    bench.given = draws.chains
    status = draws.status
    if not model.space.has_prior:  # elsewhere the first checks are made on prior draws
        status = status.and_(preflight(model, draws.chains.draws, bench.loop))
    return method.run(model, bench, key).doubted(status, draws.diagnostics)


def together(runs: Runs) -> Estimate:
    """One estimate from all runs that are kept."""
    return _combine(list(runs.kept))


def _nan_status(model: Model, estimate: Estimate, met: NanFound, key: Key, loop: Loop) -> Status:
    """The verdict on NaN likelihoods, after points near the posterior are evaluated."""
    if estimate.status.level is Level.FAILED:
        return Status.ok()
    error = estimate.log_evidence_se if estimate.log_evidence_se is not None else estimate.approximation_error
    if model.zero_where_nan:
        return nan_status(met, True, error)
    try:
        return nan_status(nan_near(model, _draws_of(estimate), met, key, loop), False, error)
    except Stopped as stop:
        sentence = (
            f"the log likelihood was NaN at {met.n_nan:,} points, and whether any is near the posterior was not checked: {stop}."
        )
        return Status.suspect("unchecked", sentence)


def _draws_of(estimate: Estimate) -> Draws | None:
    """The posterior draws of a record."""
    record = estimate.record
    return record if record is None or isinstance(record, Draws) else record.final


def _edge_status(model: Model, estimate: Estimate) -> Status:
    """Flag a result whose weight lies where parameters equal the edge of their support."""
    draws = _draws_of(estimate)
    if draws is None or estimate.status.level is Level.FAILED:
        return Status.ok()
    share = saturated_share(model, draws)
    if share < EDGE_SHARE:
        return Status.ok()
    return Status.suspect(
        "edge",
        f"{share:.0%} of the posterior's weight lies where a parameter cannot be told from the edge of its support: the "
        "likelihood may be unbounded there and the evidence infinite; check the parameters near their bounds.",
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
        return replace(failed, status=status, log_evidence_se=None)
    if first.kind is Kind.EXACT:
        return first
    if first.kind is Kind.APPROXIMATION:
        worst = max(e.approximation_error or 0.0 for e in estimates)
        return replace(first, log_evidence=float(np.mean(values)), approximation_error=worst, status=status)
    all_errors = [e for e in errors if e is not None] if None not in errors else None
    combined = combine_repeats(values, all_errors)
    if all_errors is not None and combined.ratio is not None and combined.within_se:
        df = len(values) - 1
        if gammaincc(df / 2, df * combined.ratio**2 / 2) < SCATTER_CHANCE:
            status = status.and_(
                Status.suspect(
                    "scatter",
                    f"{len(values)} runs scatter {combined.ratio:.1f} times as much as their standard errors allow, so these are too "
                    f"small; the scatter alone gives a standard error of {combined.between_se:.3g}; take more particles or draws a run.",
                )
            )
    between = float(combined.between_sd or 0.0)
    diagnostics = {**first.diagnostics, "between_run_sd": between, "between_run_se": float(combined.between_se or 0.0)}
    return Estimate(
        log_evidence=float(combined.mean),
        log_evidence_se=float(combined.se),
        degrees_of_freedom=float(combined.degrees_of_freedom),
        status=status,
        kind=first.kind,
        diagnostics=diagnostics,
        record=first.record,
    )


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
def compile_clock() -> Iterator[_Clock]:
    """Seconds that JAX spends tracing and compiling while this is open."""
    _listen()
    clock = _Clock()
    _clocks.append(clock)
    try:
        yield clock
    finally:
        _clocks.remove(clock)
