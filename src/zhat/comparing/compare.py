"""Compare models: run what is not yet run, each model with a seed of its own, and lay the evidences side by side.

    compare({"linear": model_1, "quadratic": model_2}, seed=1)
    compare({"linear": evidence_1, "quadratic": Evidence.load("quadratic.json")})
    compare({...}, until="decided")         # more runs, only where the decision is not clear
    compare({...}, workers=4)               # the same digits, sooner

Seeds are drawn from the caller's seed and the model's name, so that a result does not depend on which other models are
compared, nor on their order, and no two models share one: on one seed their errors would move together and not add up as
independent ones do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from zhat.comparing.comparison import Comparison
from zhat.errors import BadInput, BadType
from zhat.methods._base import Method
from zhat.model.model import Model
from zhat.numerics.uncertainty import combine_repeats
from zhat.results.estimate import Evidence, Kind
from zhat.run.distribution.executors import opened
from zhat.run.many_models import run_models, seed_for
from zhat.sampling.backend.loop import Budget
from zhat.seeding import check_seed

DECIDED = "decided"
# Rounds of more runs before a pair is left undecided: each doubles what was spent on its two models.
MAX_ROUNDS = 5


def compare(
    models: Mapping[str, Model | Evidence],
    method: Method | str | None = None,
    *,
    prior: Mapping[str, float] | Sequence[float] | None = None,
    seed: int | None = None,
    repeats: int = 1,
    until: str | None = None,
    progress: bool | None = None,
    budget: Budget | None = None,
    executor: Executor | str | None = None,
    workers: int | None = None,
) -> Comparison:
    """Log Bayes factors and posterior probabilities of models, with errors and a verdict.

    Parameters
    ----------
    models : mapping of str to Model or Evidence
        Models are run; evidences, also loaded ones, are taken as they are.
    method : Method, name of one, or None
        For the models; None as in `evidence`.
    prior : mapping or sequence of float, optional
        Prior probabilities of the models, summing to one; equal ones by default.
    seed, repeats, progress, budget
        As in `evidence`; the budget is for each model.
    until : "decided", optional
        Run models again, doubling what was spent, as long as they are tied with the best within the error. Evidences that were
        given are not run again.
    executor, workers
        Where models and repeats are run, as in `evidence`; the digits are the same everywhere.
    """
    if not isinstance(models, Mapping):
        raise BadType(f"compare() takes a dict of models or evidences by name, not a {type(models).__name__}.")
    if until not in (None, DECIDED):
        raise BadInput(f"until={until!r}: give until='decided', or leave it out.")
    _check_models(models)
    seed = check_seed(seed)
    with opened(executor, workers) as where:

        def run(repeats_of: Mapping[str, int], round_: int) -> dict[str, Evidence]:
            asked = {name: (runnable[name], seed_for(seed, name, round_), many) for name, many in repeats_of.items()}
            made = run_models(asked, method, progress, budget, where)
            return {name: replace(result, model=_label(name, runnable[name])) for name, result in made.items()}

        runnable = {name: item for name, item in models.items() if isinstance(item, Model)}
        first = run(dict.fromkeys(runnable, repeats), 0)
        found = {name: item if isinstance(item, Evidence) else first[name] for name, item in models.items()}
        comparison = Comparison.of(found, prior)
        for round_ in range(1, MAX_ROUNDS + 1 if until else 1):
            again = {name: max(1, len(found[name].repeats)) for name in _tied(comparison) if name in runnable}
            if not again:
                break
            for name, more in run(again, round_).items():
                found[name] = _pooled(found[name], more)
            comparison = Comparison.of(found, prior)
    return comparison


def _label(name: str, model: Model) -> str:
    """What tells models apart: their own name, unless it is the one that every unnamed model has."""
    return model.name if model.name != Model.__dataclass_fields__["name"].default else name


def _check_models(models: Mapping[str, Any]) -> None:
    seen: dict[int, str] = {}
    for name, item in models.items():
        if not isinstance(name, str) or not name:
            raise BadType(f"compare(): model names are words, not {name!r}.")
        if not isinstance(item, Model | Evidence):
            raise BadType(f"{name!r} is a {type(item).__name__}: give a Model or an Evidence.")
        if id(item) in seen:
            raise BadInput(f"{seen[id(item)]!r} and {name!r} are the same model: it would count twice.")
        seen[id(item)] = name


def _tied(comparison: Comparison) -> list[str]:
    """The models that take part in an undecided pair with the one that is ahead."""
    ahead = max(comparison.names, key=lambda name: comparison.evidences[name].log_evidence)
    pairs = [comparison.log_bayes_factor(ahead, other) for other in comparison.names if other != ahead]
    # Without an error no number of runs decides; a suspect evidence wants another method, not more of the same.
    open_ = [pair.second for pair in pairs if pair.se is not None and not pair.decided]
    return [ahead, *open_] if open_ else []


def _pooled(first: Evidence, second: Evidence) -> Evidence:
    """Both sets of runs as one evidence: every run counts by its precision."""
    runs = (*first.repeats, *second.repeats)
    # Later rounds have seeds of their own: who repeats the run from its seed must know where they begin.
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
