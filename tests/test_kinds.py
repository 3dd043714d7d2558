"""Kinds of settings, read off annotations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from zhat.errors import BadInput, BadType
from zhat.kinds import checked_kinds, shown


@dataclass(frozen=True)
@checked_kinds
class Mine:
    """Some settings."""

    count: int = 1
    rate: float | None = 0.5
    switch: bool = True
    anything: object = None


def test_kinds():
    assert Mine(np.int64(3), None, False, "x").count == 3
    for settings, message in [
        ({"count": 1.5}, r"Mine\(count=1.5\): give a whole number"),
        ({"count": True}, "give a whole number"),
        ({"rate": "a\nb"}, r"Mine\(rate='a\\nb'\): give a number"),
        ({"switch": 1}, "give True or False"),
    ]:
        with pytest.raises(BadType, match=message):
            Mine(**settings)
    with pytest.raises(BadInput, match="NaN is no setting"):
        Mine(rate=float("nan"))


def test_values_in_messages_are_short():
    assert len(shown("x" * 1000)) == 60
    assert "\n" not in shown(np.eye(5))
