"""Compare models: run each with a seed of its own, and put the evidences side by side.

    compare({"linear": model_1, "quadratic": model_2}, seed=1)
    compare({"linear": evidence_1, "quadratic": Evidence.load("quadratic.json")})
    compare({...}, until="decided")                     # more precise, only where the decision is not clear
    compare({...}, check="smc")                         # every model by a second method, and whether the two agree
    compare({...}, vary={"tau": [0.01, 0.1, 1.0]})      # log evidence over a hyperparameter of the priors
    compare({...}, workers=4)                           # the same digits, sooner
    compare({"linear": (model_1, draws_1), ...})        # from posterior draws that you already have

Seeds are derived from the caller's seed and the model's name in the mapping, so that a result depends neither on the other
models nor on their order, and no two models share a seed: with a common seed their errors would be correlated.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

from zhat.comparing.beforehand import apart, check_items, check_vary
from zhat.comparing.comparable import check_prior, check_usable
from zhat.comparing.comparison import Comparison
from zhat.comparing.sensitivity import Sensitivity, sensitivity
from zhat.errors import BadInput
from zhat.methods._base import Method
from zhat.model.model import Model
from zhat.numerics.combining.uncertainty import combine_repeats
from zhat.results.estimate import Evidence, Kind
from zhat.run.checkpoint.checkpoint import checkpointed
from zhat.run.distribution.executors import arranged
from zhat.run.distribution.plans import carry_out
from zhat.run.estimate import Runner, described, given, plan
from zhat.run.many_models import check_runs, run_models, seed_for
from zhat.sampling.backend.loop import Budget
from zhat.seeding import Key

DECIDED = "decided"
# Rounds of more precise runs before a pair is left undecided.
MAX_ROUNDS = 6
# Standard errors of log Z below which no model is refined: two models that are nearer to each other are equally supported for any purpose.
FINEST = 0.01
# A pair is decided when its 95 % interval excludes zero: the difference in joint standard errors, with a margin for its own error.
DECISIVE = 2.5
# A round divides the standard error by two to four: what decides a pair is predicted from a difference that is itself uncertain.
LEAST, MOST = 2.0, 4.0


def compare(
    models: Mapping[str, Model | Evidence | tuple[Model, Any]],
    method: Method | str | None = None,
    *,
    prior: Mapping[str, float] | Sequence[float] | None = None,
    seed: int | None = None,
    repeats: int = 1,
    precision: float | None = None,
    until: str | None = None,
    check: Method | str | None = None,
    vary: Mapping[str, Sequence[float]] | None = None,
    progress: bool | None = None,
    budget: Budget | None = None,
    executor: Executor | str | None = None,
    workers: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Log Bayes factors and posterior probabilities of models, with errors and a verdict.

    Different data, one model twice, a method that a model does not support and a hyperparameter that a model lacks are
    refused before anything is run. Models are told apart by content; the names of the mapping are labels.

    Parameters
    ----------
    models : mapping of str to Model, Evidence or (Model, draws)
        Models are run; evidences, also loaded ones, are taken as they are. Of a pair the evidence comes from the posterior draws, in any
        of the forms that `evidence(draws=...)` takes; NumPyro's MCMC object is such a pair by itself. `repeats` and `precision` are for
        models that are run.
    method : Method, name of one, or None
        For the models; None as in `evidence`.
    prior : mapping or sequence of float, optional
        Prior probabilities of the models, summing to one; equal ones by default.
    seed, repeats, precision, progress, budget
        As in `evidence`; the budget is for each model.
    until : "decided", optional
        Run models again, more precisely, as long as they are tied with the best within the error, or until their standard
        errors are 0.01. All runs of a model are pooled. Evidences that were given are not run again.
    check : Method or name of one, optional
        A second opinion: every model is estimated once more by this method. Whether the two agree is part of the result
        (`Comparison.agreements`), of its sentence and of its report.
    vary : mapping of str to sequence of float, optional
        For every hyperparameter named here, the log evidence of each model over these values (`Comparison.curves`); see
        `sensitivity`.
    executor, workers
        Where models and repeats are run, as in `evidence`; the digits are the same everywhere.
    checkpoint : path, optional
        As in `evidence`.
    """
    models, brought = apart(models)
    check_items(models)
    if until not in (None, DECIDED):
        raise BadInput(f"until={until!r}: give until='decided', or leave it out.")
    chances = check_prior(tuple(models), prior)
    every = {name: item.named(name) for name, item in models.items() if isinstance(item, Model)}
    runnable = {name: model for name, model in every.items() if name not in brought}
    grids = check_vary(every, vary)
    check_runs(runnable, method, repeats, budget, precision)
    if check is not None:
        check_runs(every, check, 1, budget)
    with_draws = {name: given(every[name], draws) for name, draws in brought.items()}
    for name, draws in with_draws.items():
        plan(Runner(every[name], 0, 1, False, False, draws), method, budget)  # refuses methods that do not use draws
    about = {
        "method": described(method),
        "repeats": repeats,
        "precision": precision,
        "until": until,
        "check": described(check),
        "vary": vary,
        "draws": with_draws,
    }
    with (
        checkpointed(checkpoint, "compare", every, about, seed) as seed,
        arranged(executor, workers, list(every.values()), repeats) as where,
    ):
        runs = _Runs(runnable, seed, progress, budget, where)
        first = {}
        for name, draws in with_draws.items():  # before the others: draws that are of something else are refused at once
            runner = Runner(every[name], seed_for(seed, name, 0), 1, progress, False, draws)
            (first[name],) = carry_out([plan(runner, method, budget)], None, progress)
            check_usable(name, first[name])
        first |= runs.by(method, repeats, dict.fromkeys(runnable, precision), 0)
        found = {name: item if isinstance(item, Evidence) else first[name] for name, item in models.items()}
        comparison = _comparison(found, chances)
        for round_ in range(1, MAX_ROUNDS + 1 if until else 1):
            again = {name: target for name, target in _targets(comparison).items() if name in runnable}
            if not again:
                break
            for name, more in runs.by(method, 1, again, round_).items():
                found[name] = _pooled(found[name], more)
            comparison = _comparison(found, chances)
        all_runs = replace(runs, models=every)
        checks = {} if check is None else all_runs.second_opinions(check)
        curves = [
            all_runs.curve(name, None if name in with_draws else method, hyper, grid)
            for hyper, grid in grids.items()
            for name in every
        ]
    return replace(comparison, checks=checks, curves=tuple(curves))


@dataclass(frozen=True)
class _Runs:
    """The models of a comparison and what all of its runs share."""

    models: Mapping[str, Model]
    seed: int
    progress: bool | None
    budget: Budget | None
    executor: Executor | None

    def by(
        self, method: Method | str | None, repeats: int, precision: Mapping[str, float | None], round_: int
    ) -> dict[str, Evidence]:
        """One round: these models, each to its precision."""
        asked = {name: (self.models[name], seed_for(self.seed, name, round_), repeats) for name in precision}
        return run_models(asked, method, self.progress, self.budget, self.executor, precision=precision)

    def second_opinions(self, method: Method | str) -> dict[str, Evidence]:
        """Every model once more, by another method and from another seed."""
        asked = {name: (model, self._seed("second opinion", name), 1) for name, model in self.models.items()}
        return run_models(asked, method, self.progress, self.budget, self.executor)

    def curve(self, name: str, method: Method | str | None, hyperparameter: str, values: Sequence[float]) -> Sensitivity:
        """One model over one hyperparameter."""
        own = self._seed("sensitivity of", name)
        return sensitivity(self.models[name], hyperparameter, values, method, seed=own, progress=self.progress)

    def _seed(self, purpose: str, name: str) -> int:
        return int(Key(self.seed).child(purpose, name).generator().integers(2**63))


def _comparison(found: Mapping[str, Evidence], prior: tuple[float, ...]) -> Comparison:
    """Not `Comparison.of`, which tells evidences apart by the names they carry: here the models themselves were told apart."""
    for name, result in found.items():
        check_usable(name, result)
    return Comparison(dict(found), prior)


def _targets(comparison: Comparison) -> dict[str, float]:
    """The standard errors to run to next: of the model that is ahead, and of those that form an undecided pair with it.

    The joint standard error that would decide a pair is shared equally by its two models.
    """
    ahead = max(comparison.names, key=lambda name: comparison.evidences[name].log_evidence)
    pairs = [comparison.log_bayes_factor(ahead, other) for other in comparison.names if other != ahead]
    # Without an error no number of runs decides; a suspect evidence calls for another method, not for more runs.
    open_ = [(pair.second, abs(pair.value), pair.se) for pair in pairs if pair.se is not None and not pair.decided]
    targets: dict[str, float] = {}
    for other, gap, se in open_:
        if se <= math.sqrt(2.0) * FINEST:
            continue
        joint = min(max(gap / DECISIVE, se / MOST), se / LEAST)
        each = max(joint / math.sqrt(2.0), FINEST)
        for name in (ahead, other):
            targets[name] = min(each, targets.get(name, math.inf))
    return targets


def _pooled(first: Evidence, second: Evidence) -> Evidence:
    """Both sets of runs as one evidence: every run counts by its precision."""
    runs = (*first.repeats, *second.repeats)
    # Later rounds have seeds of their own; this seed repeats the first runs only.
    first = replace(first, diagnostics={"runs_before_pooling": len(first.repeats), **first.diagnostics})
    errors = [run.log_evidence_se for run in runs]
    status, cost = first.status.and_(second.status), first.cost + second.cost
    if first.kind is Kind.APPROXIMATION:
        return replace(first, status=status, cost=cost, repeats=runs)
    if any(e is None for e in errors) or not status.is_ok:  # a number in doubt comes without an error bar
        because = status.reasons[0].sentence if status.reasons else first.no_se_because
        return replace(first, log_evidence_se=None, no_se_because=because, status=status, cost=cost, repeats=runs)
    combined = combine_repeats([run.log_evidence for run in runs], [e for e in errors if e is not None])
    return replace(
        first,
        log_evidence=float(combined.mean),
        log_evidence_se=float(combined.se),
        degrees_of_freedom=float(combined.degrees_of_freedom),
        status=status,
        cost=cost,
        repeats=runs,
    )
