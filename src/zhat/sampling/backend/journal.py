"""A journal of what expensive calls returned: with it a run that was killed goes on, and ends with the same digits.

A run is a function of model, data, settings and seed: noise comes from keyed seeds, and everything else passes through compiled
calls and calls of black boxes. A journal keeps what those returned. Started again, the run takes the same course: calls that the journal
knows return what is kept, without computing, and the others are computed. So the journal may have gaps, no sampler knows of it, and the
digits are the same by construction.

*Keys.* A call is known by its purpose, the model, and the content of its arguments; for the output of another call, by the key of that
call. So a run that takes another course (another budget of seconds) finds no entries from there on, and computes.

*What is kept.* A call whose output is large for the seconds that it took is computed again instead (`RATE`). Seconds that decide
something (`remembered`) are kept, so that the decision is the same.
"""

from __future__ import annotations

import hashlib
import logging
import re
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax
import numpy as np

from zhat.errors import CorruptFile
from zhat.model.data import fingerprint
from zhat.model.model import Model
from zhat.sampling.backend.segments import Entry, Segments

# Bytes that may be kept for a second of computing: 3.6 GB an hour at most.
RATE = 1e6
# Calls shorter than this are computed again: reading them would take as long.
SHORTEST = 1e-3
# Seconds after which the journal is written, more often in the beginning of a run, and bytes.
FIRST, EVERY, FULL = 1.0, 10.0, 2**26

log = logging.getLogger("zhat")


class Journal:
    """What calls returned, in memory until it is written."""

    def __init__(self, segments: Segments) -> None:
        self._segments = segments
        self._seen: Counter[str] = Counter()
        self._pending: list[tuple[str, Any, float]] = []  # calls that may still be running
        self._origin: dict[int, tuple[Any, str]] = {}  # of arrays that calls returned
        self._unwritten: list[tuple[str, Entry]] = []
        self._n_bytes = 0
        self._begun = self._written_at = time.monotonic()
        self.failed: OSError | None = None
        self.n_replayed = 0

    # -- calls -------------------------------------------------------------------------------------------------

    def call(self, what: tuple[str, ...], args: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        """What a compiled call returns, from the journal or computed."""
        now = time.perf_counter()
        self._settle(now)
        key = self._next("call", *(_ADDRESS.sub("", part) for part in what), self._content(args))
        found = self._segments.get(key)
        out = _MISSING if not found else _rebuilt(found[0])
        if out is _MISSING:
            out = compute()
            self._pending.append((key, out, now))
        else:
            self.n_replayed += 1
        self._tag(out, key)
        self._write_if_due()
        return out

    def values(self, model: Model, params: Any, evaluate: Callable[[Any, Any], None]) -> np.ndarray:
        """Log likelihoods of a black box; `evaluate(rows, take)` evaluates some rows, and hands over their values in parts."""
        n = len(next(iter(params.values())))
        key = self._next("values", model_id(model), self._content(dict(params)))
        out, known = np.empty(n), np.zeros(n, bool)
        for entry in self._segments.get(key):
            rows, values = entry.arrays
            if rows.dtype == np.int64 and values.dtype == np.float64 and rows.shape == values.shape and (rows < n).all():
                out[rows], known[rows] = values, True
        self.n_replayed += bool(known.any())
        rows = np.flatnonzero(~known)
        begun = time.perf_counter()

        def take(part: Any, values: np.ndarray) -> None:
            nonlocal begun
            some, now = rows[part], time.perf_counter()
            out[some] = values
            self._keep(key, Entry(None, (some.astype(np.int64), np.asarray(values, np.float64))), now - begun)
            begun = now
            self._write_if_due()

        if len(rows):
            evaluate(rows, take)
        return out

    def remembered(self, name: str, value: float) -> float:
        """The number that was kept under this name at the same place of the run; otherwise this one, which is kept."""
        key = self._next("number", name)
        for entry in self._segments.get(key):
            if isinstance(entry.plain, float):
                return entry.plain
        self._unwritten.append((key, Entry(float(value))))
        return value

    def result(self, key: str) -> Entry | None:
        """A finished result."""
        found = self._segments.get(key)
        return found[0] if found else None

    def keep_result(self, key: str, entry: Entry) -> None:
        """Keep a finished result, at once."""
        self._unwritten.append((key, entry))
        self.write()

    # -- keys --------------------------------------------------------------------------------------------------

    def _next(self, *parts: str) -> str:
        digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
        self._seen[digest] += 1
        return f"{digest}-{self._seen[digest]}"

    def _content(self, tree: Any) -> str:
        leaves, structure = jax.tree.flatten(tree)
        digest = hashlib.blake2b(_ADDRESS.sub("", str(structure)).encode(), digest_size=16)
        for leaf in leaves:
            origin = self._origin.get(id(leaf))
            if origin is not None and origin[0]() is leaf:
                digest.update(origin[1].encode())
            else:
                _digest(digest, leaf)
        return digest.hexdigest()

    def _tag(self, out: Any, key: str) -> None:
        if len(self._origin) > 4096:
            self._origin = {i: (ref, tag) for i, (ref, tag) in self._origin.items() if ref() is not None}
        for i, leaf in enumerate(jax.tree.leaves(out)):
            self._origin[id(leaf)] = (weakref.ref(leaf), f"{key}/{i}")

    # -- writing -----------------------------------------------------------------------------------------------

    def _settle(self, now: float, wait: bool = False) -> None:
        """Take over the outputs of calls that have ended."""
        while self._pending:
            key, out, begun = self._pending[0]
            leaves = jax.tree.leaves(out)
            if not wait and not all(leaf.is_ready() for leaf in leaves):
                return
            self._pending.pop(0)
            n_bytes = sum(leaf.nbytes for leaf in leaves)
            if now - begun >= max(SHORTEST, n_bytes / RATE):
                spec, arrays = _taken_apart(out)
                if spec is not None:
                    self._keep(key, Entry(spec, arrays), now - begun)

    def _keep(self, key: str, entry: Entry, seconds: float) -> None:
        if seconds >= max(SHORTEST, entry.n_bytes / RATE) and self.failed is None:
            self._unwritten.append((key, entry))
            self._n_bytes += entry.n_bytes

    def _write_if_due(self) -> None:
        now = time.monotonic()
        if now - self._written_at >= min(EVERY, FIRST + 0.1 * (now - self._begun)) or self._n_bytes >= FULL:
            self.write()

    def write(self, wait: bool = False) -> None:
        """Write what is not written; a full disk ends the journal and leaves what there is."""
        self._settle(time.perf_counter(), wait)
        entries, self._unwritten, self._n_bytes = self._unwritten, [], 0
        self._written_at = time.monotonic()
        if not entries or self.failed is not None:
            return
        try:
            self._segments.add(entries)
            log.info("checkpoint: %d entries written", len(entries))
        except OSError as error:
            self.failed = error
            log.warning("checkpoint: cannot be written (%s)", error)


# -- arrays and their structure ------------------------------------------------------------------------------------

_MISSING = object()
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def _digest(digest: Any, leaf: Any) -> None:
    if not isinstance(leaf, np.ndarray | jax.Array | np.generic):
        digest.update(_ADDRESS.sub("", repr(leaf)).encode())
        return
    array = np.ascontiguousarray(leaf)
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    digest.update(hashlib.sha256(array.tobytes()).digest())


def _taken_apart(out: Any) -> tuple[Any, tuple[np.ndarray, ...]]:
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


def _rebuilt(entry: Entry) -> Any:
    """What `_taken_apart` took apart, with arrays of JAX, as the call returned them."""

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
        return _MISSING


def _named_tuple(module: str, name: str) -> Any:
    """A named tuple of our own, of those that are loaded."""
    for kind in tuple.__subclasses__():
        if (kind.__module__, kind.__qualname__) == (module, name) and module.startswith("zhat.") and hasattr(kind, "_fields"):
            return kind
    raise CorruptFile("a tuple that zhat does not have")


# -- the journal of a run ------------------------------------------------------------------------------------------

_current: ContextVar[Journal | None] = ContextVar("zhat_journal", default=None)
_ids: weakref.WeakKeyDictionary[Model, str] = weakref.WeakKeyDictionary()


def current() -> Journal | None:
    """The journal of the run, where there is one."""
    return _current.get()


def remembered(name: str, value: float) -> float:
    """A measured number that decides something: the one that the journal has, where there is one."""
    journal = current()
    return value if journal is None else journal.remembered(name, value)


@contextmanager
def journaled(journal: Journal) -> Iterator[None]:
    """Keep a journal while this is open; it is written at the end, however that comes."""
    token = _current.set(journal)
    try:
        yield
    finally:
        _current.reset(token)
        journal.write(wait=True)


def model_id(model: Model) -> str:
    """Name, data, hyperparameters and coordinates of a model; its functions are those of the checkpoint."""
    if model not in _ids:
        coordinates = ":standard" if getattr(model.space, "standard", False) else ""
        _ids[model] = f"{model.name}:{fingerprint((model.data, model.hyper))}{coordinates}"
    return _ids[model]
