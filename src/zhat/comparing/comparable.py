"""What evidences must have to stand side by side: the same data, different models, no failure, prior probabilities.

An evidence carries the name of its model, the fingerprint of the data and the number of parameters; these tell evidences apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from zhat.errors import BadInput, BadType
from zhat.results.estimate import Evidence, Level


def check_prior(names: tuple[str, ...], prior: Mapping[str, float] | Sequence[float] | None) -> tuple[float, ...]:
    """Prior model probabilities in the order of `names`; equal when none are given."""
    if prior is None:
        return tuple([1.0 / len(names)] * len(names))
    if isinstance(prior, Mapping):
        missing, extra = [n for n in names if n not in prior], [n for n in prior if n not in names]
        if missing or extra:
            raise BadInput(f"prior: it must name every model and no other; missing {missing}, not compared {extra}.")
        values = [float(prior[name]) for name in names]
    else:
        values = [float(p) for p in prior]
    if len(values) != len(names):
        raise BadInput(f"prior has {len(values)} entries for {len(names)} models: give one each, in the same order.")
    if any(not math.isfinite(p) or p < 0.0 for p in values):
        raise BadInput(f"prior={values}: probabilities are not negative.")
    if abs(sum(values) - 1.0) > 1e-9:
        raise BadInput(f"prior={values}: the probabilities sum to {sum(values):.9g}, not to one; divide by their sum.")
    return tuple(values)


def check_usable(name: str, e: Any) -> None:
    """Refuse what is no evidence, and an evidence that failed."""
    if not isinstance(e, Evidence):
        raise BadType(f"{name!r} is a {type(e).__name__}: give an Evidence (or use compare() with models).")
    if e.status.level is Level.FAILED or math.isnan(e.log_evidence):
        why = " ".join(reason.sentence for reason in e.status.reasons[:1]) or "run it again, or leave it out."
        raise BadInput(f"the evidence of {name!r} failed and cannot be compared ({e.status}): {why}")


def different_data(first: str, second: str, one: str | None, other: str | None) -> BadInput:
    """The sentence for models of different data."""
    (same, _, kind), (data, _, another) = (str(one).partition(", "), str(other).partition(", "))
    if same == data:
        return BadInput(
            f"{first!r} and {second!r} have the same response, but their evidences are of different kinds: {kind or 'of the data as they are'}, "
            f"and {another or 'of the data as they are'}. Their ratio is no Bayes factor: give both the same family and priors of one kind "
            "(zhat.priors)."
        )
    return BadInput(
        f"{first!r} and {second!r} have different data (fingerprints {one} and {other}): evidences can only be compared on the "
        'same data. If both have the same data in another form, give both models the same fingerprint: zhat.Model(..., data_id="...").'
    )


def counted_twice(first: str, second: str, model: str, n_dimensions: int) -> BadInput:
    """The sentence for two evidences of one model, as far as evidences can tell."""
    return BadInput(
        f"{first!r} and {second!r} are the same model as far as an evidence can tell ({model!r}, {n_dimensions} parameters, the "
        "same data): it would count twice. If they are different models, give them different names before they are run: "
        'zhat.Model(..., name="..."), or model.named("...").'
    )


def check_evidences(evidences: Any) -> None:
    """Refuse evidences that cannot stand side by side: fewer than two, failed, of different data, of one model twice."""
    if not isinstance(evidences, Mapping):
        raise BadType(f"a comparison takes a dict of evidences by name, not a {type(evidences).__name__}.")
    if len(evidences) < 2:
        raise BadInput(f"there are {len(evidences)} models: a comparison needs two or more.")
    for name, e in evidences.items():
        check_usable(name, e)
    first = next(iter(evidences))
    for name, e in evidences.items():
        if e.data_id != evidences[first].data_id:
            raise different_data(first, name, evidences[first].data_id, e.data_id)
    seen: dict[tuple[str, int], str] = {}
    for name, e in evidences.items():
        carried = e.model, e.n_dimensions
        if carried in seen:
            raise counted_twice(seen[carried], name, *carried)
        seen[carried] = name
