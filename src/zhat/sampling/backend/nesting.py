"""What a compiled call returns, as JSON values and plain arrays, and back: nestings of dictionaries, lists, tuples and named tuples of zhat."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from zhat.errors import CorruptFile
from zhat.sampling.backend.segments import Entry

# What `rebuilt` returns for an entry that does not fit.
MISSING = object()


def taken_apart(out: Any) -> tuple[Any, tuple[np.ndarray, ...]]:
    """A nesting of dictionaries, lists and tuples as JSON values, and its arrays; None for a nesting of other things."""
    arrays: list[np.ndarray] = []

    def spec(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                raise TypeError
            return {"dict": {key: spec(item) for key, item in value.items()}}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            kind = type(value)
            if not kind.__module__.startswith("zhat.") or "." in kind.__qualname__:
                raise TypeError
            return {"tuple": [spec(item) for item in value], "class": [kind.__module__, kind.__qualname__]}
        if isinstance(value, tuple | list):
            return {"tuple" if isinstance(value, tuple) else "list": [spec(item) for item in value]}
        if isinstance(value, jax.Array | np.ndarray) and value.dtype.kind in "fiub":
            arrays.append(np.asarray(value))
            return len(arrays) - 1
        raise TypeError

    try:
        return {"value": spec(out)}, tuple(arrays)
    except TypeError:
        return None, ()


def rebuilt(entry: Entry) -> Any:
    """What `taken_apart` took apart, with arrays of JAX, as the call returned them."""

    def value(spec: Any) -> Any:
        if spec is None:
            return None
        if type(spec) is int:
            return jax.device_put(np.array(entry.arrays[spec]))
        if "dict" in spec:
            return {key: value(item) for key, item in spec["dict"].items()}
        if "list" in spec:
            return [value(item) for item in spec["list"]]
        items = [value(item) for item in spec["tuple"]]
        return tuple(items) if "class" not in spec else _named_tuple(*spec["class"])(*items)

    try:
        with jax.enable_x64(True):
            return value(entry.plain["value"])
    except (KeyError, IndexError, TypeError, AttributeError, CorruptFile):
        return MISSING


def _named_tuple(module: str, name: str) -> Any:
    """A named tuple of our own, of those that are loaded."""
    for kind in tuple.__subclasses__():
        if (kind.__module__, kind.__qualname__) == (module, name) and module.startswith("zhat.") and hasattr(kind, "_fields"):
            return kind
    raise CorruptFile("a tuple that zhat does not have")
