"""Where a long loop stands: its whole state between two steps, kept in the checkpoint, from which a run that was killed goes on.

The journal keeps what calls returned, where that is small for the seconds that they took. A large population of a cheap likelihood returns
more than that with every call, but its state between two rungs is needed only now and then. A loop offers it after every step; it is
kept when the last one is `journal.EVERY` seconds of computing old and its bytes are few for these seconds, and it takes the place of the last.

What is kept are numbers, texts, lists, and arrays with the order of their axes in memory, on which the last digit of a sum may
depend; of objects the fields of those classes that the loop names. Nothing else is made from a file.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import Any

import numpy as np

from zhat.model.model import Model
from zhat.sampling.backend.journal import current, model_id
from zhat.sampling.backend.loop import Loop, log
from zhat.sampling.backend.segments import Entry
from zhat.seeding import Key

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


class Standing:
    """The place of one loop in the checkpoint; without a checkpoint, and for black boxes, whose values are kept, nothing happens."""

    def __init__(self, purpose: str, model: Model, settings: Any, key: Key, kinds: tuple[type, ...]) -> None:
        self._journal = None if model.is_black_box else current()
        self._kinds = {kind.__name__: kind for kind in kinds}
        if self._journal is not None:
            parts = (purpose, model_id(model), _ADDRESS.sub("", repr(settings)), repr(key))
            self._key = f"standing-{hashlib.blake2b(chr(0).join(parts).encode(), digest_size=16).hexdigest()}"

    def found(self, loop: Loop) -> Any:
        """The state from which to go on, its evaluations counted; None if there is none."""
        entry = None if self._journal is None else self._journal.stood(self._key)
        if entry is None:
            return None
        try:
            counts, state = (put_together(part, entry.arrays, self._kinds) for part in entry.plain)
            loop.resume(counts)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):  # not written by this loop: computed again
            return None
        loop.say("goes on from the checkpoint")
        return state

    def note(self, loop: Loop, *state: Any) -> None:
        """Offer the state after a step."""
        if self._journal is not None and self._journal.is_to_stand():
            arrays: list[np.ndarray] = []
            try:
                plain = [taken_apart(part, arrays, self._kinds) for part in (loop.counts(), state)]
            except TypeError as error:  # a kernel of the user's with a scale of its own kind
                log.info("%s: its state is not kept in the checkpoint: %s", loop.label, error)
                self._journal = None
                return
            self._journal.stand(self._key, Entry(plain, tuple(arrays)))


def taken_apart(value: Any, arrays: list[np.ndarray], kinds: dict[str, type]) -> Any:
    """A state as JSON values, its arrays added to a list."""

    if value is None or isinstance(value, bool | str) or type(value) in (int, float):
        return value
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))  # stable
        arrays.append(array.transpose(order))
        return {"array": len(arrays) - 1, "order": order, "scalar": isinstance(value, np.generic)}
    if kinds.get(type(value).__name__) is type(value):
        names = [f.name for f in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else getattr(value, "_fields", ())
        return {"of": type(value).__name__, "fields": {name: taken_apart(getattr(value, name), arrays, kinds) for name in names}}
    if type(value) in (list, tuple):
        return {type(value).__name__: [taken_apart(item, arrays, kinds) for item in value]}
    if type(value) is dict:
        return {"dict": [[taken_apart(k, arrays, kinds), taken_apart(v, arrays, kinds)] for k, v in value.items()]}
    raise TypeError(f"{type(value).__name__} is no part of a state")


def put_together(plain: Any, arrays: tuple[np.ndarray, ...], kinds: dict[str, type]) -> Any:
    """What `taken_apart` took apart."""

    def made(plain: Any) -> Any:
        if not isinstance(plain, dict):
            return plain
        if "array" in plain:
            stored = np.array(arrays[plain["array"]])
            array = stored.transpose(np.argsort(plain["order"])) if stored.ndim else stored
            return array[()] if plain["scalar"] else array
        if "of" in plain:
            return kinds[plain["of"]](**{name: made(field) for name, field in plain["fields"].items()})
        if "dict" in plain:
            return {made(k): made(v) for k, v in plain["dict"]}
        items = [made(item) for item in plain["list" if "list" in plain else "tuple"]]
        return items if "list" in plain else tuple(items)

    return made(plain)
