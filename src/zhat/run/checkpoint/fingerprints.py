"""Fingerprints of what a user gives: functions by their code and what they hold, distributions and arrays by their content.

Two processes that run the same script get the same fingerprints; a change of the code, of a constant in it, of a value in a closure or of
a global that the code names gives another. What cannot be read (compiled extensions, open files, loggers) counts by its type. A global or a
variable around a function that the function itself assigns, such as a count of its calls, is its state and does not count.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import hashlib
import io
import logging
import types
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

# Functions in functions, objects in objects: below this depth only types count.
DEPTH = 12


def fingerprint_of(value: Any) -> str:
    """A short hash of a value."""
    digest = hashlib.sha256()
    _add(digest, value, DEPTH, [])
    return digest.hexdigest()[:16]


def _add(digest: Any, value: Any, depth: int, above: list[Any]) -> None:
    """Add a value to the digest, type first; `above` are the objects that contain it."""
    digest.update(f"|{type(value).__qualname__}:".encode())
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        digest.update(repr(value).encode())
    elif isinstance(value, np.ndarray | np.generic | jax.Array):
        array = np.ascontiguousarray(value)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes())
    elif depth == 0 or any(value is other for other in above):
        return
    else:
        for part in _parts(value):
            _add(digest, part, depth - 1, [*above, value])


def _parts(value: Any) -> list[Any]:
    """What a value consists of."""
    if isinstance(value, Mapping):
        return [part for item in sorted(value.items(), key=lambda item: str(item[0])) for part in item]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, value))
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, types.FunctionType):
        return _function(value)
    if isinstance(value, types.CodeType):
        return [value.co_code, value.co_names, value.co_varnames, *value.co_consts]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, io.IOBase | logging.Logger | logging.LoggerAdapter):
        return []
    if isinstance(value, type | types.ModuleType | types.BuiltinFunctionType):
        return [getattr(value, "__module__", ""), getattr(value, "__qualname__", getattr(value, "__name__", ""))]
    if hasattr(value, "__wrapped__"):
        return [value.__wrapped__]
    if hasattr(type(value), "tree_flatten"):  # a distribution: not its leaves, whose order may differ from process to process
        own = {name: part for name, part in vars(value).items() if not name.startswith("_")}
        return [getattr(value, "batch_shape", ()), getattr(value, "event_shape", ()), own]
    if dataclasses.is_dataclass(value):
        return [part for field in dataclasses.fields(value) for part in (field.name, getattr(value, field.name))]
    held = getattr(value, "__dict__", None)
    return [] if held is None else [held]


def _function(function: types.FunctionType) -> list[Any]:
    parts: list[Any] = [function.__qualname__, function.__code__, function.__defaults__, function.__kwdefaults__]
    own = _assigned(function.__code__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name in own:
            continue
        try:
            parts.append(cell.cell_contents)
        except ValueError:  # not filled yet
            parts.append(None)
    if _is_library(function.__module__):
        return parts
    for name in function.__code__.co_names:
        if name in function.__globals__ and name not in own:
            held = function.__globals__[name]
            # Functions of libraries count by name: their versions are compared apart.
            parts += [
                name,
                held if not _is_library(getattr(held, "__module__", None)) else str(getattr(held, "__qualname__", name)),
            ]
    return parts


def _assigned(code: types.CodeType) -> set[str]:
    """The globals and variables of enclosing functions that this code assigns."""
    stores = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF"}
    return {str(step.argval) for step in dis.get_instructions(code) if step.opname in stores}


def _is_library(module: Any) -> bool:
    return isinstance(module, str) and module.split(".")[0] in {
        "jax",
        "jaxlib",
        "numpy",
        "scipy",
        "numpyro",
        "zhat",
        "builtins",
        "math",
    }
