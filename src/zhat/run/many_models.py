"""The evidences of many models: one call, a seed of its own for each, one after the other or spread over workers.

    evidences({"first": model_1, "second": model_2, ...}, seed=1, workers=4)

Unlike `compare` it compares nothing, so the models may have different data: simulated data sets, patients, stars.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import Executor

from zhat.errors import BadInput, BadType
from zhat.methods._base import Method
from zhat.model.model import Model
from zhat.results.estimate import Evidence
from zhat.run.checkpoint.checkpoint import checkpointed
from zhat.run.distribution.executors import arranged
from zhat.run.distribution.plans import carry_out
from zhat.run.estimate import Runner, described, plan
from zhat.sampling.backend.loop import Budget
from zhat.seeding import Key


def evidences(
    models: Mapping[str, Model],
    method: Method | str | None = None,
    *,
    seed: int | None = None,
    repeats: int = 1,
    precision: float | None = None,
    progress: bool | None = None,
    budget: Budget | None = None,
    executor: Executor | str | None = None,
    workers: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> dict[str, Evidence]:
    """Evidences by name; arguments as in `evidence`, the budget for each model, one checkpoint for all.

    A model's seed is derived from `seed` and its name in the mapping, as in `compare`: a result depends neither on the other
    models nor on the workers. Results, messages and progress carry that name.
    """
    if not isinstance(models, Mapping):
        raise BadType(f"evidences() takes a dict of models by name, not a {type(models).__name__}.")
    for name, model in models.items():
        if not isinstance(name, str) or not name:
            raise BadInput(f"evidences(): a model's name is a non-empty string, not {name!r}: its seed is derived from it.")
        if not isinstance(model, Model):
            raise BadType(f"{name!r} is a {type(model).__name__}: give a Model.")
    check_runs(models, method, repeats, budget, precision)
    named = {name: model.named(name) for name, model in models.items()}
    about = {"method": described(method), "repeats": repeats, "precision": precision}
    with (
        checkpointed(checkpoint, "evidences", named, about, seed) as own_seed,
        arranged(executor, workers, list(named.values()), repeats) as where,
    ):
        tasks = {name: (model, seed_for(own_seed, name, 0), repeats) for name, model in named.items()}
        return run_models(tasks, method, progress, budget, where, precision=precision)


def check_runs(
    models: Mapping[str, Model],
    method: Method | str | None,
    repeats: int,
    budget: Budget | None,
    precision: float | None = None,
) -> None:
    """Refuse, before anything is run, settings and models that do not go together."""
    for model in models.values():
        # Arguments are checked when the plan is made; it is never run.
        plan(Runner(model, 0, repeats, False, False), method, budget, precision)


def run_models(
    tasks: Mapping[str, tuple[Model, int, int]],
    method: Method | str | None,
    progress: bool | None,
    budget: Budget | None,
    executor: Executor | None,
    *,
    precision: Mapping[str, float | None] | float | None = None,
) -> dict[str, Evidence]:
    """The evidence of every (model, seed, number of repeats), to a precision for all or for each."""
    spread = executor is not None
    targets = precision if isinstance(precision, Mapping) else dict.fromkeys(tasks, precision)
    plans = [
        plan(Runner(model, seed, repeats, progress, spread), method, budget, targets[name])
        for name, (model, seed, repeats) in tasks.items()
    ]
    if spread:
        return dict(zip(tasks, carry_out(plans, executor, progress), strict=True))
    evidences_by_name: dict[str, Evidence] = {}
    for name, one in zip(tasks, plans, strict=True):
        (evidences_by_name[name],) = carry_out([one])
        if any(reason.code == "interrupted" for reason in evidences_by_name[name].status.reasons):  # Ctrl-C ends the whole call
            raise KeyboardInterrupt(f"while {name!r} was run; {len(evidences_by_name) - 1} of {len(tasks)} models were done")
    return evidences_by_name


def seed_for(seed: int, name: str, round_: int) -> int:
    """The seed of one model's runs, derived from the caller's seed, the model's name and the round."""
    key = Key(seed).child("compare", name, round_)
    return int(key.generator().integers(2**63))
