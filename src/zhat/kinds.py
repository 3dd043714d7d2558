"""Kinds of settings: a number is a number, a switch is True or False. Read off the annotations, before a class's own checks compare values.

`checked_kinds` stands between `@dataclass` and the class. Annotations that are not plain numbers or switches are the class's own business.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeVar

from zhat.errors import BadInput, BadType

T = TypeVar("T", bound=type)
# Letters of a value that a message shows.
SHOWN = 60


def checked_kinds(cls: T) -> T:
    """Check the kinds of all settings before the class's own `__post_init__`."""
    own: Callable[[Any], None] | None = getattr(cls, "__post_init__", None)

    def __post_init__(self: Any) -> None:  # noqa: N807 - the hook of dataclasses
        check_kinds(self)
        if own is not None:
            own(self)

    cls.__post_init__ = __post_init__  # type: ignore[attr-defined]
    return cls


def check_kinds(settings: Any) -> None:
    """Refuse a setting of a frozen dataclass that is of another kind than its annotation says, and NaN."""
    for field in dataclasses.fields(settings):
        value, kind = getattr(settings, field.name), str(field.type)
        if kind.endswith(" | None"):
            if value is None:
                continue
            kind = kind.removesuffix(" | None")
        if kind not in ("bool", "int", "float"):
            continue
        where = f"{type(settings).__name__}({field.name}={shown(value)})"
        if kind == "bool" and not isinstance(value, bool):
            raise BadType(f"{where}: give True or False.")
        if kind == "int" and (isinstance(value, bool) or not isinstance(value, Integral)):
            raise BadType(f"{where}: give a whole number.")
        if kind == "float" and (isinstance(value, bool) or not isinstance(value, Real)):
            raise BadType(f"{where}: give a number.")
        if kind == "float" and math.isnan(value):
            raise BadInput(f"{where}: NaN is no setting; give a number.")


def shown(value: Any) -> str:
    """A value for a message: one line, and short."""
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
