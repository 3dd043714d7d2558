"""A journal of what expensive calls returned: with it a run that was killed goes on, and ends with the same digits.

A run is a function of model, data, settings and seed: noise comes from keyed seeds, and everything else passes through compiled
calls and calls of black boxes. A journal keeps what those returned. Started again, the run takes the same course: calls that the journal
knows return what is kept, without computing, and the others are computed. So the journal may have gaps, no sampler knows of it, and the
digits are the same by construction.

*Keys.* A call is known by its purpose, the model, and the content of its arguments. So a run that takes another course (another budget of
seconds) finds no entries from there on, and computes.

*What is kept.* A call is computed again instead where its output is large for the seconds that it took (`RATE`), or where reading its
arguments for the key takes more than a hundredth of those seconds (`SHARE`). Which calls these are is measured, purpose by purpose, and no
keys are made for them. Of a large population of a cheap likelihood, whose calls are such, the state between two rungs is kept now and
then (`standing`). Seconds that decide something (`remembered`) are kept, so that the decision is the same.
"""

from __future__ import annotations

import hashlib
import logging
import re
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax
import numpy as np

from zhat.model.data import fingerprint
from zhat.model.model import Model
from zhat.sampling.backend.nesting import MISSING, rebuilt, taken_apart
from zhat.sampling.backend.segments import Entry, Segments

# Bytes that may be kept for a second of computing, of calls and of states: writing them takes half a hundredth of it at `PER_BYTE` CPU seconds a
# byte, checksum included (0.9e-9 to 1.2e-9 were measured on a quiet machine, 4.6e-9 on a crowded one: then fewer are kept). Of a
# checkpoint that has grown large, fewer: 3.6 GB an hour at most.
RATE, LATER_RATE, LARGE, PER_BYTE = 4e6, 1e6, 2**33, 1.25e-9
# Calls shorter than this are computed again: reading them would take as long.
SHORTEST = 1e-3
# Bytes of a result that is kept in any case: as many as a file of its own takes time.
SMALL = 2**18
# Share of a call's seconds that making its key may take.
SHARE = 0.01
# Bytes that are read for a key in a second (1.8e9 were measured on a quiet machine), and the seconds that a key takes besides.
READ, KEY_SECONDS = 1e9, 2e-5
# The last calls of a purpose of which most have to be long enough: the first one's time includes compilation, others' a pause of the machine.
# Where they are not, one call of so many is measured, after one that is waited for: calls that run still would be taken for it.
TRIED, MEASURED = 3, 64
# Points of a black box under one key: how many are evaluated together depends on the workers, and a run may go on with others.
TOGETHER = 256
# Seconds after which the journal is written, more often in the beginning of a run, and bytes.
FIRST, EVERY, FULL = 1.0, 10.0, 2**26
# Share of that rate which states of loops may take, beside calls and results; and bytes of the largest state that is kept.
STANDING_SHARE = 0.5
MOST_STANDING = 2**30

log = logging.getLogger("zhat")


class _Purpose:
    """The calls of one purpose, and how many of the last ones were long enough to be kept."""

    def __init__(self, name: str, n_known: int) -> None:
        self.name = name
        self.n_known = n_known  # entries of an earlier run that were not found yet
        self._n_skipped = 0
        self._worth: deque[bool] = deque(maxlen=TRIED)

    def measure(self, seconds: float, least: float) -> None:
        """Note a call that took so long, and would have had to take this long at least."""
        self._worth.append(seconds >= least)

    @property
    def is_doubtful(self) -> bool:
        """Whether it is not known that calls are worth their keys: nothing was kept before, and the last ones were not, or were few."""
        return not self.n_known and (len(self._worth) < TRIED or 2 * sum(self._worth) <= TRIED)

    def place(self) -> int:
        """Where a call stands among those of a doubtful purpose: 0 is measured, and is waited for as the one before it is."""
        if len(self._worth) < TRIED:
            return 0
        self._n_skipped += 1
        return self._n_skipped % MEASURED


class _Pending:
    """A call that may still be running."""

    def __init__(self, key: str, purpose: _Purpose, making_key: float, begun: _Now, out: Any) -> None:
        self.key, self.purpose, self.making_key, self.begun, self.out = key, purpose, making_key, begun, out
        self.leaves = jax.tree.leaves(out)


class _Now:
    """A moment, by the clock and by the CPU time of this process."""

    def __init__(self) -> None:
        self.clock, self.cpu = time.perf_counter(), time.process_time()

    def since(self, other: _Now) -> float:
        """Seconds of computing: the clock's on a machine of one's own; where others compute too, those that this process got."""
        return min(self.clock - other.clock, self.cpu - other.cpu)


class Journal:
    """What calls returned, in memory until it is written."""

    def __init__(self, segments: Segments) -> None:
        self._segments = segments
        self._seen: Counter[str] = Counter()
        self._known = Counter(key.split("-")[0] for key in segments.keys)
        self._before = set(segments.keys)
        self._purposes: dict[Hashable, _Purpose] = {}
        self._pending: list[_Pending] = []
        self._contents: dict[int, tuple[Any, bytes]] = {}  # digests of JAX's arrays, which do not change
        self._unwritten: list[tuple[str, Entry]] = []
        self._n_bytes = 0
        self._begun = self._written_at = time.monotonic()
        self._first = self._stood_at = self._settled_at = _Now()
        self._per_byte = PER_BYTE
        self.failed: OSError | None = None
        self.n_replayed = 0

    # -- calls -------------------------------------------------------------------------------------------------

    def call(self, what: Hashable, args: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        """What a compiled call returns, from the journal or computed."""
        if self._pending:
            self._settle(_Now())
        self._write_if_due()
        purpose = self._purposes.get(what) or self._new_purpose(what)
        if purpose.is_doubtful:
            place = purpose.place()
            if place == 0:
                return self._measured(purpose, args, compute)
            return jax.block_until_ready(compute()) if place == MEASURED - 1 else compute()
        leaves, structure = jax.tree.flatten(args)
        jax.block_until_ready(leaves)  # so that waiting is not taken for reading
        begun = _Now()
        key = f"{purpose.name}-{self._content(leaves, structure)}"
        found = self._segments.get(key)
        out = MISSING if not found else rebuilt(found[0])
        if out is not MISSING:
            purpose.n_known = max(0, purpose.n_known - 1)
            self.n_replayed += 1
            return out
        now = _Now()
        out = compute()
        self._pending.append(_Pending(key, purpose, now.since(begun), now, out))
        return out

    def _measured(self, purpose: _Purpose, args: tuple[Any, ...], compute: Callable[[], Any]) -> Any:
        """A call of which it is not known whether it is worth a key, and which no earlier run left: the key is made if it was."""
        leaves, structure = jax.tree.flatten(args)
        jax.block_until_ready(leaves)
        begun = _Now()
        out = jax.block_until_ready(compute())
        seconds = _Now().since(begun)
        making_key = KEY_SECONDS + sum(getattr(leaf, "nbytes", 0) for leaf in leaves) / READ
        call = _Pending("", purpose, making_key, begun, out)
        if self._is_worth(call, seconds):
            call.key = f"{purpose.name}-{self._content(leaves, structure)}"
            self._keep_call(call, seconds)
        return out

    def values(self, model: Model, params: Any, out: np.ndarray, evaluate: Callable[[Any, Any], None]) -> np.ndarray:
        """Log likelihoods of a black box, in `out`; `evaluate(rows, take)` evaluates some rows, and hands over their values in parts."""
        n = len(out)
        keys, known = list[str](), np.zeros(n, bool)
        for first in range(0, n, TOGETHER):
            block = {name: values[first : first + TOGETHER] for name, values in params.items()}
            keys.append(self._next("values", model_id(model), self._content(*jax.tree.flatten(block))))
            for entry in self._segments.get(keys[-1]):
                rows, values = entry.arrays
                inside = (rows >= 0) & (rows < min(TOGETHER, n - first))
                if rows.dtype == np.int64 and values.dtype == np.float64 and rows.shape == values.shape and inside.all():
                    out[first + rows], known[first + rows] = values, True
        self.n_replayed += bool(known.any())
        rows = np.flatnonzero(~known)
        begun = time.perf_counter()

        def take(part: Any, values: np.ndarray) -> None:
            nonlocal begun
            some, now = rows[part], time.perf_counter()
            out[some] = values
            if len(some) and now - begun >= max(SHORTEST, 16 * len(some) / self._rate) and self.failed is None:
                blocks, values = some // TOGETHER, np.asarray(values, np.float64)
                for i in np.unique(blocks):
                    mine = blocks == i
                    self._keep(keys[i], Entry(None, (some[mine].astype(np.int64) - i * TOGETHER, values[mine])))
            begun = now if len(some) else begun
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

    def keep_result(self, key: str, entry: Entry, seconds: float) -> None:
        """Keep a finished result, if it is not large for the seconds that it took."""
        if entry.n_bytes <= max(SMALL, self._rate * min(seconds, _Now().since(self._first))):
            self._keep(key, entry)
            self._write_if_due()

    # -- where loops stand -------------------------------------------------------------------------------------

    def stood(self, key: str) -> Entry | None:
        """The last state that a loop left here in an earlier process; the same loop made once more begins anew, as it did there."""
        found = self._segments.get(key) if key in self._before else None
        self._before.discard(key)
        if found:
            self.n_replayed += 1
        return found[-1] if found else None

    def is_to_stand(self) -> bool:
        """Whether the last state is old enough for another one."""
        return self.failed is None and _Now().since(self._stood_at) >= EVERY

    def stand(self, key: str, entry: Entry) -> None:
        """Keep the state of a loop in place of its last one, if it is not large for the seconds since then."""
        now = _Now()
        if entry.n_bytes > min(STANDING_SHARE * self._rate * now.since(self._stood_at), MOST_STANDING):
            return
        self._stood_at = now
        try:
            self._timed(lambda: self._segments.replace(key, entry), entry.n_bytes)
            log.info("checkpoint: the state of a loop written, %.1f MB", entry.n_bytes / 1e6)
        except OSError as error:
            self._fail(error)

    # -- keys --------------------------------------------------------------------------------------------------

    def _next(self, *parts: str) -> str:
        digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
        self._seen[digest] += 1
        return f"{digest}-{self._seen[digest]}"

    def _new_purpose(self, what: Hashable) -> _Purpose:
        name = hashlib.blake2b(_ADDRESS.sub("", repr(what)).encode(), digest_size=8).hexdigest()
        self._purposes[what] = _Purpose(name, self._known[name])
        return self._purposes[what]

    def _content(self, leaves: list[Any], structure: Any) -> str:
        digest = hashlib.blake2b(_ADDRESS.sub("", str(structure)).encode(), digest_size=16)
        for leaf in leaves:
            digest.update(self._of_array(leaf) if isinstance(leaf, jax.Array) else _digest(leaf))
        return digest.hexdigest()

    def _of_array(self, leaf: jax.Array) -> bytes:
        known = self._contents.get(id(leaf))
        if known is None or known[0]() is not leaf:
            if len(self._contents) > 4096:
                self._contents = {i: (ref, found) for i, (ref, found) in self._contents.items() if ref() is not None}
            known = self._contents[id(leaf)] = weakref.ref(leaf), _digest(leaf)
        return known[1]

    # -- writing -----------------------------------------------------------------------------------------------

    @property
    def _rate(self) -> float:
        return (RATE if self._segments.n_bytes < LARGE else LATER_RATE) * min(1.0, PER_BYTE / self._per_byte)

    def _settle(self, now: _Now, wait: bool = False) -> None:
        """Take over the outputs of calls that have ended; those that ended since the last look share the seconds since then."""
        n_ended = 0
        while n_ended < len(self._pending) and (wait or all(leaf.is_ready() for leaf in self._pending[n_ended].leaves)):
            n_ended += 1
        if not n_ended:
            return
        ended, self._pending = self._pending[:n_ended], self._pending[n_ended:]
        share = now.since(self._settled_at) / n_ended
        self._settled_at = now
        for call in ended:
            seconds = min(share, now.since(call.begun))
            self._is_worth(call, seconds)
            self._keep_call(call, seconds)

    def _least(self, call: _Pending) -> float:
        """Seconds that a call has to take to be kept."""
        return max(SHORTEST, sum(leaf.nbytes for leaf in call.leaves) / self._rate)

    def _is_worth(self, call: _Pending, seconds: float) -> bool:
        """Whether a call that took so long was worth its key, which is noted for the next ones of its purpose."""
        least = max(self._least(call), call.making_key / SHARE)
        call.purpose.measure(seconds, least)
        return seconds >= least

    def _keep_call(self, call: _Pending, seconds: float) -> None:
        if seconds >= self._least(call) and self.failed is None:
            spec, arrays = taken_apart(call.out)
            if spec is not None:
                self._keep(call.key, Entry(spec, arrays))

    def _keep(self, key: str, entry: Entry) -> None:
        self._unwritten.append((key, entry))
        self._n_bytes += entry.n_bytes

    def _write_if_due(self) -> None:
        now = time.monotonic()
        if now - self._written_at >= min(EVERY, FIRST + 0.1 * (now - self._begun)) or self._n_bytes >= FULL:
            self.write()

    def write(self, wait: bool = False) -> None:
        """Write what is not written; a full disk ends the journal and leaves what there is."""
        self._settle(_Now(), wait)
        entries, self._unwritten, self._n_bytes = self._unwritten, [], 0
        self._written_at = time.monotonic()
        if not entries or self.failed is not None:
            return
        try:
            self._timed(lambda: self._segments.add(entries), sum(entry.n_bytes for _, entry in entries))
            log.info("checkpoint: %d entries written", len(entries))
        except OSError as error:
            self._fail(error)

    def _timed(self, write: Callable[[], None], n_bytes: int) -> None:
        """Write, and note what it cost."""
        begun = time.thread_time()
        write()
        if n_bytes >= SMALL:
            self._per_byte += 0.5 * ((time.thread_time() - begun) / n_bytes - self._per_byte)

    def _fail(self, error: OSError) -> None:
        self.failed = error
        log.warning("checkpoint: cannot be written (%s)", error)


# -- arrays and their structure ------------------------------------------------------------------------------------

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def _digest(leaf: Any) -> bytes:
    """A digest of an argument: of an array by its type, shape and bytes, which are not copied."""
    if not isinstance(leaf, np.ndarray | jax.Array | np.generic):
        return hashlib.blake2b(_ADDRESS.sub("", repr(leaf)).encode(), digest_size=16).digest()
    array = np.ascontiguousarray(leaf)
    digest = hashlib.sha256(f"{array.dtype.str}{np.shape(leaf)}".encode())
    digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.digest()


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
