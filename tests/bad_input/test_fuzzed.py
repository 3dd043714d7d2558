"""Every setting of every public class, each with some fifty absurd values: it is taken, or refused with a sentence of ours."""

from __future__ import annotations

import dataclasses
import inspect
import math

import jax.numpy as jnp
import numpy as np
import pytest

import zhat
from zhat import kernels, proposals, schedules, settings
from zhat.errors import ZhatError

# fmt: off
ABSURD = [
    None, True, False, 0, -1, 1, 2, 7, 10**6, 10**19, -(10**30), 0.0, -0.0, 0.5, 1.0, 1.5, 1e-320, 1e308, math.inf, -math.inf, math.nan,
    "", "many", "0.5", "../../x", "a\nb", "\0", b"x", (), [], {}, (1,), [0.5, 0.5], [0.0, 1.0], {"a": 1}, {1, 2}, range(3),
    np.float64(0.3), np.int64(5), np.array(3.0), np.array([1.0, 2.0]), np.array(["a"]), jnp.ones(2), object(), int, ValueError("x"), 1j,
    lambda x: x, zhat.SMC, zhat.SMC(),
]
# fmt: on
KINDS = {
    kind
    for module in (zhat, settings, kernels, schedules, proposals)
    for name, kind in vars(module).items()
    if inspect.isclass(kind) and dataclasses.is_dataclass(kind) and not name.startswith("_") and "post_init" in str(vars(kind))
}
SETTINGS = [(kind, field.name) for kind in sorted(KINDS, key=str) for field in dataclasses.fields(kind) if field.init]


def others_have_defaults(kind, name):
    """Whether an object can be made from this setting alone."""
    none = dataclasses.MISSING
    return all(
        f.name == name or f.default is not none or f.default_factory is not none for f in dataclasses.fields(kind) if f.init
    )


TRIED = [(kind, name) for kind, name in SETTINGS if others_have_defaults(kind, name)]


@pytest.mark.parametrize(("kind", "name"), TRIED, ids=lambda value: getattr(value, "__name__", value))
def test_a_sentence_or_an_object(kind, name):
    refused = 0
    for value in ABSURD:
        try:
            kind(**{name: value})
        except ZhatError as error:
            refused += 1
            assert str(error)
    assert refused


def test_there_are_a_thousand():
    assert len(TRIED) * len(ABSURD) > 1000
