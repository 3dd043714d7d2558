"""An Evidence as plain JSON values and named arrays, and back.

What may stand where is read off our own dataclasses, never off the file: a file cannot name a class to import, a
function to call or a type that is not expected at that place. Records, of which there are several kinds, carry a tag
out of a closed list. Floats that JSON has no word for are written as ``{"float": "nan"}``, ``"inf"`` or ``"-inf"``.
"""

from __future__ import annotations

import dataclasses
import enum
import math
import operator
import re
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, Union

import numpy as np

from zhat.errors import BadType, CorruptFile
from zhat.results.estimate import Diagnostic, Evidence
from zhat.results.records import Draws, NestedRun, OrdinateRun, PathRun

Arrays = dict[str, np.ndarray]

# Every kind of record a file may hold, and every kind of number an array may hold.
RECORDS: dict[str, type] = {"Draws": Draws, "NestedRun": NestedRun, "OrdinateRun": OrdinateRun, "PathRun": PathRun}
DTYPES: dict[str, np.dtype[Any]] = {
    "f": np.dtype(np.float64),
    "i": np.dtype(np.int64),
    "u": np.dtype(np.int64),
    "b": np.dtype(np.bool_),
}
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def to_plain(evidence: Evidence) -> tuple[dict[str, Any], Arrays]:
    """JSON values of an evidence, and the arrays of its record by the names that stand in for them there."""
    arrays: Arrays = {}
    plain = _encode(evidence, Evidence, "evidence", arrays)
    return plain, arrays


def from_plain(plain: Any, arrays: Arrays) -> Evidence:
    """The evidence that `to_plain` took apart; anything else raises `CorruptFile`."""
    evidence = _decode(plain, Evidence, "evidence", arrays)
    assert isinstance(evidence, Evidence)
    return evidence


def plain_of(value: Any, cls: type) -> tuple[Any, Arrays]:
    """The same for a value of another of our dataclasses."""
    arrays: Arrays = {}
    return _encode(value, cls, cls.__name__, arrays), arrays


def value_of(plain: Any, cls: type, arrays: Arrays) -> Any:
    """What `plain_of` took apart; anything else raises `CorruptFile`."""
    return _decode(plain, cls, cls.__name__, arrays)


# -- out ---------------------------------------------------------------------------------------------------------


def _encode(value: Any, hint: Any, where: str, arrays: Arrays) -> Any:
    """`value`, which stands at `where` and is declared as `hint`, in JSON values."""
    if value is None:
        return None
    kind, inner = _kind_of(hint)
    if kind == "plain":
        return _plain(value, where)
    if kind == "array":
        return _store(value, where, arrays)
    if kind == "record":
        tag = type(value).__name__
        if RECORDS.get(tag) is not type(value):
            raise BadType(f"{where} is a {tag}: only {', '.join(RECORDS)} can be saved; use dataclasses.replace to drop it.")
        return {"type": tag, **_encode_fields(value, where, arrays)}
    if kind == "dataclass":
        return _encode_fields(value, where, arrays)
    if kind == "enum":
        return value.value
    if kind == "tuple":
        return [_encode(item, inner, f"{where}[{i}]", arrays) for i, item in enumerate(value)]
    if kind == "mapping":
        return {_text_key(k, where): _encode(v, inner, f"{where}[{k!r}]", arrays) for k, v in value.items()}
    return _plain(operator.index(value) if inner is int else inner(value), where)


def _encode_fields(value: Any, where: str, arrays: Arrays) -> dict[str, Any]:
    cls: type = type(value)
    hints = _field_hints(cls)
    return {name: _encode(getattr(value, name), hint, f"{where}.{name}", arrays) for name, hint in hints.items()}


def _plain(value: Any, where: str) -> Any:
    """A value that needs no declaration: numbers, text, lists and dictionaries of such."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, np.generic):
        return _plain(value.item(), where)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": _name_of_non_finite(value)}
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, Mapping):
        if set(value) == {"float"}:
            raise BadType(f"{where} is a dictionary with the one key 'float', which files keep for nan and inf; rename it.")
        return {_text_key(k, where): _plain(v, f"{where}[{k!r}]") for k, v in value.items()}
    raise BadType(
        f"{where} is a {type(value).__name__}, which cannot be saved: only numbers, text, and lists and dictionaries of them can."
    )


def _text_key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise BadType(f"{where} has the key {key!r}: only text can be a key in a saved result.")
    return key


def _name_of_non_finite(value: float) -> str:
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _store(value: Any, where: str, arrays: Arrays) -> dict[str, str]:
    """Put an array aside under a name that is unique and readable, and leave the name in its place."""
    array = np.asarray(value)
    if array.dtype.kind not in DTYPES:
        raise BadType(f"{where} holds values of type {array.dtype}: only real numbers and truth values can be saved.")
    name = f"{len(arrays):04d}_" + re.sub(r"[^A-Za-z0-9]+", "_", where.removeprefix("evidence.")).strip("_")
    arrays[name] = np.ascontiguousarray(array, DTYPES[array.dtype.kind]).reshape(array.shape)
    return {"array": name}


# -- in ----------------------------------------------------------------------------------------------------------


def _decode(plain: Any, hint: Any, where: str, arrays: Arrays) -> Any:
    """The value declared as `hint` from its JSON values."""
    hint, optional = _without_none(hint)
    if plain is None and optional:
        return None
    kind, inner = _kind_of(hint)
    if kind == "plain":
        return _from_plain_value(plain)
    if kind == "array":
        return _fetch(plain, inner, where, arrays)
    if kind == "record":
        tag = _expect(plain, dict, where).get("type")
        if not isinstance(tag, str) or tag not in RECORDS:
            raise CorruptFile(f"{where} is of type {tag!r}; known are {', '.join(RECORDS)}.")
        return _decode_fields({k: v for k, v in plain.items() if k != "type"}, RECORDS[tag], where, arrays)
    if kind == "dataclass":
        return _decode_fields(plain, hint, where, arrays)
    if kind == "enum":
        if plain not in [member.value for member in inner]:
            raise CorruptFile(f"{where} is {plain!r}; known are {', '.join(str(m.value) for m in inner)}.")
        return inner(plain)
    if kind == "tuple":
        items = _expect(plain, list, where)
        return tuple(_decode(item, inner, f"{where}[{i}]", arrays) for i, item in enumerate(items))
    if kind == "mapping":
        return {k: _decode(v, inner, f"{where}[{k!r}]", arrays) for k, v in _expect(plain, dict, where).items()}
    value = _from_plain_value(plain)
    if inner is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return _expect(value, inner, where)


def _decode_fields(plain: Any, cls: type, where: str, arrays: Arrays) -> Any:
    hints, given = _field_hints(cls), _expect(plain, dict, where)
    required = {
        field.name
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }
    if missing := sorted(required - set(given)):
        raise CorruptFile(f"{where} lacks {', '.join(missing)}.")
    if unknown := sorted(set(given) - set(hints)):
        raise CorruptFile(f"{where} has {', '.join(map(repr, unknown[:5]))}, which no {cls.__name__} has.")
    return cls(**{name: _decode(value, hints[name], f"{where}.{name}", arrays) for name, value in given.items()})


def _from_plain_value(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_from_plain_value(item) for item in plain]
    if isinstance(plain, dict):
        if set(plain) == {"float"}:
            name = plain["float"]
            if not isinstance(name, str) or name not in _NON_FINITE:
                raise CorruptFile(f"{plain!r} stands for no float; known are {', '.join(_NON_FINITE)}.")
            return _NON_FINITE[name]
        return {k: _from_plain_value(v) for k, v in plain.items()}
    return plain


def _fetch(plain: Any, dtype: np.dtype[Any], where: str, arrays: Arrays) -> np.ndarray:
    name = _expect(plain, dict, where).get("array")
    if not isinstance(name, str) or name not in arrays:
        raise CorruptFile(f"{where} refers to the array {name!r}, which is not there.")
    if arrays[name].dtype != dtype:
        raise CorruptFile(f"{where} is an array of {arrays[name].dtype}, where {dtype} belongs.")
    return arrays[name]


def _expect(value: Any, cls: type, where: str) -> Any:
    if not isinstance(value, cls) or (isinstance(value, bool) and cls is not bool):
        raise CorruptFile(f"{where} is {_short(value)}, where {cls.__name__} belongs.")
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


# -- what our dataclasses declare --------------------------------------------------------------------------------


@cache
def _field_hints(cls: type) -> dict[str, Any]:
    """Declared types of a dataclass's fields (Evidence names its records only for the type checker)."""
    hints = typing.get_type_hints(cls, localns=RECORDS)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def _without_none(hint: Any) -> tuple[Any, bool]:
    """The declared type without its None, and whether it had one."""
    if typing.get_origin(hint) not in (Union, types.UnionType):
        return hint, False
    members = typing.get_args(hint)
    rest = tuple(m for m in members if m is not type(None))
    return Union[rest], len(rest) < len(members)  # noqa: UP007 - a union of what is left, made at run time


def _kind_of(hint: Any) -> tuple[str, Any]:
    """How a declared type is written, and what is inside of it."""
    hint, _ = _without_none(hint)
    if hint is Any or hint == Diagnostic:
        return "plain", None
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType) and set(inside) <= set(RECORDS.values()):
        return "record", None
    if hint in RECORDS.values():
        return "record", None
    if origin is np.ndarray:
        return "array", np.dtype(typing.get_args(inside[1])[0])
    if origin is tuple and inside[1:] == (...,):
        return "tuple", inside[0]
    if origin in (dict, Mapping):
        return "mapping", inside[1]
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return "enum", hint
    if dataclasses.is_dataclass(hint):
        return "dataclass", hint
    assert hint in (float, int, str, bool), f"{hint} is declared in a result but has no form in a file"
    return "scalar", hint
