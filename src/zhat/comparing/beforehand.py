"""What a comparison refuses before anything is run: different data, one model twice, hyperparameters that a model lacks.

Models are told apart by content (`zhat.model.identity`). An evidence carries less: the name of its model, the fingerprint of
the data and the number of parameters, and these decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from zhat.comparing.comparable import check_usable, counted_twice, different_data
from zhat.comparing.sensitivity import check_curve
from zhat.errors import BadInput, BadType
from zhat.model.identity import same_model
from zhat.model.model import UNNAMED, Model
from zhat.results.estimate import Evidence
from zhat.run.from_draws import model_of


def apart(models: Any) -> tuple[Any, dict[str, Any]]:
    """The models or evidences by name, and the posterior draws of those that come as (model, draws)."""
    if not isinstance(models, Mapping):
        return models, {}
    pairs = {name: pair for name, item in models.items() if (pair := _pair(item)) is not None}
    return {name: pairs[name][0] if name in pairs else item for name, item in models.items()}, {
        name: draws for name, (_, draws) in pairs.items()
    }


def _pair(item: Any) -> tuple[Any, Any] | None:
    """Model and draws of an item that has both; None for anything else."""
    if isinstance(item, tuple) and len(item) == 2:
        return item
    if isinstance(item, Model | Evidence) or (inside := model_of(item)) is None:
        return None
    return inside, item


def check_items(models: Any) -> None:
    """Refuse what cannot be compared: no mapping, fewer than two, failed evidences, different data, the same model twice."""
    if not isinstance(models, Mapping):
        raise BadType(f"compare() takes a dict of models or evidences by name, not a {type(models).__name__}.")
    for name, item in models.items():
        if not isinstance(name, str) or not name:
            raise BadType(f"compare(): model names are non-empty strings, not {name!r}.")
        if not isinstance(item, Model | Evidence):
            raise BadType(f"{name!r} is a {type(item).__name__}: give a Model, an Evidence, or (Model, posterior draws).")
        if isinstance(item, Evidence):
            check_usable(name, item)
    if len(models) < 2:
        raise BadInput(f"there are {len(models)} models: a comparison needs two or more.")
    (first, one), *others = models.items()
    for name, item in others:
        if item.data_id != one.data_id:
            raise different_data(first, name, one.data_id, item.data_id)
    for (first, one), (second, other) in combinations(models.items(), 2):
        if not _same(one, other):
            continue
        if isinstance(one, Model) and isinstance(other, Model):
            raise BadInput(
                f"{first!r} and {second!r} are the same model (likelihood, prior, data and hyperparameters are equal): it would "
                "count twice; leave one out."
            )
        raise counted_twice(first, second, _name(one), one.n_dimensions)


def check_vary(models: Mapping[str, Model], vary: Any) -> dict[str, list[float]]:
    """The values of each hyperparameter, rising; every model that is run must have each of them."""
    if vary is None:
        return {}
    if not isinstance(vary, Mapping):
        raise BadType(
            f"vary is a {type(vary).__name__}: give a dict of a hyperparameter's name and its values, such as "
            'vary={"tau": [0.01, 0.1, 1.0]}.'
        )
    if not models:
        raise BadInput("vary=...: there is no model to run, only evidences; give the models themselves.")
    grids: dict[str, list[float]] = {}
    for hyperparameter, values in vary.items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise BadType(f"vary[{hyperparameter!r}] is a {type(values).__name__}: give at least two values.")
        values = list(values)
        for name, model in models.items():
            grids[hyperparameter] = check_curve(model, hyperparameter, values, f"vary: model {name!r}")
    return grids


def _same(one: Model | Evidence, other: Model | Evidence) -> bool:
    if isinstance(one, Model) and isinstance(other, Model):
        return same_model(one, other)
    if isinstance(one, Evidence) and isinstance(other, Evidence):
        return one is other or (_name(one), one.n_dimensions) == (_name(other), other.n_dimensions)
    return _name(one) == _name(other) != UNNAMED and one.n_dimensions == other.n_dimensions


def _name(item: Model | Evidence) -> str:
    return item.model if isinstance(item, Evidence) else item.name
