"""Whether two models are the same: by content, whatever they are called.

The same functions (the same objects: two lambdas of one text may hold different numbers in their closures), an equal prior,
equal data and equal hyperparameters make the same model. Where equality cannot be established, the models count as different:
a comparison would rather carry a model twice than refuse two different ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MethodType
from typing import Any

import jax
import numpy as np
import numpyro.distributions as dist

from zhat.model.data import fingerprint
from zhat.model.model import Model


def same_model(first: Model, second: Model) -> bool:
    """Whether both have the same likelihood, prior, data and hyperparameters."""
    if first.zero_where_nan != second.zero_where_nan or first.is_black_box != second.is_black_box:
        return False
    if first.core is not second.core and not _all_same(first.core.made_from, second.core.made_from):
        return False
    return all(
        fingerprint(a) == fingerprint(b) for a, b in ((first.data, second.data), (first.hyper, second.hyper)) if a is not b
    )


def _all_same(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    return bool(first) and len(first) == len(second) and all(_same(a, b) for a, b in zip(first, second, strict=True))


def _same(a: Any, b: Any) -> bool:
    """Whether two parts are the same object, equal priors, or equal plain values."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, dist.Distribution):
        return _same_distribution(a, b)
    if callable(a) and not isinstance(a, MethodType):
        return False  # another function object, though perhaps of the same text
    try:
        return bool(np.all(a == b))
    except (TypeError, ValueError):  # values that cannot be compared
        return False


def _same_distribution(a: dist.Distribution, b: dist.Distribution) -> bool:
    forms: list[Any] = [jax.tree.structure(a), jax.tree.structure(b)]
    if forms[0] != forms[1]:
        return False
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)
    return all(np.shape(x) == np.shape(y) and bool(np.all(np.asarray(x) == np.asarray(y))) for x, y in pairs)
