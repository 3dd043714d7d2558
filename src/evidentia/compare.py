"""Compare models: run what is not yet run, each model with a seed of its own, and lay the evidences side by side.

    compare({"linear": model_1, "quadratic": model_2}, seed=1)
    compare({"linear": evidence_1, "quadratic": Evidence.load("quadratic.json")})
    compare({...}, until="decided")         # more runs, only where the decision is not clear

Seeds are drawn from the caller's seed and the model's name, so that a result does not depend on which other models are
compared, nor on their order, and no two models share one: on one seed their errors would move together and not add up as
independent ones do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evidentia.comparison import Comparison
from evidentia.errors import BadInput, BadType
from evidentia.estimate import evidence
from evidentia.methods._base import Method
from evidentia.model import Model
from evidentia.numerics.uncertainty import combine_repeats
from evidentia.result import Evidence, Kind
from evidentia.sampling.loop import Budget
from evidentia.seeding import Key, check_seed

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
    """
    if not isinstance(models, Mapping):
        raise BadType(f"compare() takes a dict of models or evidences by name, not a {type(models).__name__}.")
    if until not in (None, DECIDED):
        raise BadInput(f"until={until!r}: give until='decided', or leave it out.")
    _check_models(models)
    seed = check_seed(seed)
    found: dict[str, Evidence] = {}
    for name, item in models.items():
        if isinstance(item, Evidence):
            found[name] = item
        else:
            run = evidence(item, method, seed=seed_for(seed, name, 0), repeats=repeats, progress=progress, budget=budget)
            found[name] = replace(run, model=_label(name, item))
    comparison = Comparison.of(found, prior)
    if until is None:
        return comparison
    for round_ in range(1, MAX_ROUNDS + 1):
        again = [name for name in _tied(comparison) if isinstance(models[name], Model)]
        if not again:
            break
        for name in again:
            item = models[name]
            assert isinstance(item, Model)
            spent = max(1, len(found[name].repeats))
            more = evidence(item, method, seed=seed_for(seed, name, round_), repeats=spent, progress=progress, budget=budget)
            found[name] = _pooled(found[name], replace(more, model=_label(name, item)))
        comparison = Comparison.of(found, prior)
    return comparison


def seed_for(seed: int, name: str, round_: int) -> int:
    """The seed of one model's runs: from the caller's seed, the model's name and the round, and nothing else."""
    key = Key(seed).child("compare", name, round_)
    return int(key.generator().integers(2**63))


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
    errors = [run.log_evidence_se for run in runs]
    if first.kind is Kind.APPROXIMATION or any(e is None for e in errors) or not second.status.is_ok:
        return replace(first, status=first.status.and_(second.status), cost=first.cost + second.cost, repeats=runs)
    combined = combine_repeats([run.log_evidence for run in runs], [e for e in errors if e is not None])
    return replace(
        first,
        log_evidence=float(combined.mean),
        log_evidence_se=float(combined.se),
        degrees_of_freedom=float(combined.degrees_of_freedom),
        status=first.status.and_(second.status),
        cost=first.cost + second.cost,
        repeats=runs,
    )


