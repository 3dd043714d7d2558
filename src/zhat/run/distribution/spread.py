"""One run over many workers: batches of black-box likelihoods, cut into pieces that keep every worker busy.

A piece is a few points. Its size follows from what a likelihood was seen to take, so that a worker is busy for up to a fifth of a
second, and from how many points are left, so that the last pieces of a batch end together although calls differ in time. The values
depend on the points alone, so the digits are those of a run without workers; a function that takes batches (`batched=True`) receives
pieces of one fixed size for that reason.

*The model travels once.* A piece holds the digest of the model. A worker that does not know it answers so, and gets the piece again with
the model; then it keeps it.

*Workers that fail.* A worker that dies or exceeds the pool's `timeout` is replaced by the pool and its piece is repeated. A piece that
is lost again and again is cut into single points, and the point that loses its workers is named. An exception of the likelihood is
raised in the calling process, with the point in its notes. A cluster that has no worker left is waited for, and given up in the end.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import math
import os
import queue
import threading
import time
import warnings
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import jax
import numpy as np
from numpy.typing import NDArray

from zhat.errors import BadInput, WorkerLost
from zhat.model.black_box import BlackBox
from zhat.model.model import Model
from zhat.model.values import describe_point
from zhat.run.distribution.pool import LocalPool
from zhat.run.distribution.travel import loaded, opened, packed, raised, submitted, versions
from zhat.sampling.backend.likelihoods import Params, Take

# Seconds that a piece takes at most: with 0.04 the ways there and back took 4 to 8 % of eight workers' time (20 ms a likelihood), with 0.2 half of
# that. A task of Dask or MPI passes through a scheduler and costs some milliseconds (seven, with about twenty messages, on a local cluster of eight
# workers on two busy cores).
PIECE_SECONDS, SCHEDULED_PIECE_SECONDS = 0.2, 1.0
# Seconds of a scheduler's smallest piece, and of expected points for an idle worker where calls differ in time: they may be in vain, and
# the next batch waits for them.
EARLY_SECONDS = 0.06
# How much pieces may differ in their seconds for a point so that a batch is cut into equal pieces, as few as there are workers.
EVEN = 0.1
# By how much a batch may exceed its seconds (a factor, and seconds on the way) before the workers are counted again, which asks the scheduler.
LATE, SLACK = 1.5, 0.2
# Seconds without an answer after which a scheduler is asked for its workers, and of having none after which the run ends: a batch queue may
# take minutes to start them anew.
SILENT, DESERTED = 10.0, 600.0
# How many times their usual seconds the points of a piece may take beside one that takes as long as the pool's `timeout`.
SLOW = 20.0
# Pieces under way for each worker: one that is computed, and one that waits, so that no worker waits for the next.
AHEAD = 2
# Seconds of computing below which a batch is not worth sending.
WORTH_SENDING = 2e-3
# Points of a piece for a function that takes batches: the same whatever the workers, because rounding may depend on it.
BATCHED_PIECE = 16
# Models that a worker keeps.
KEPT = 8

log = logging.getLogger("zhat")

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class _Piece:
    """Rows of a batch, as they are sent; or where their values are among those of points that were sent early."""

    rows: Rows
    with_model: bool = False
    places: Rows | None = None


class Spread:
    """Evaluates batches on an executor; one per run."""

    def __init__(self, executor: Executor, n_workers: int) -> None:
        self.executor, self.n_workers = executor, n_workers
        self.n_alive = n_workers  # as many as answered when they were counted last
        here = isinstance(executor, LocalPool | ThreadPoolExecutor | ProcessPoolExecutor)
        self.piece_seconds = PIECE_SECONDS if here else SCHEDULED_PIECE_SECONDS
        self.seconds = math.nan  # of one likelihood, averaged over the last pieces
        self.unevenness = 0.0  # by how much pieces differ from it, relatively
        self.expected: dict[bytes, dict[str, np.ndarray]] = {}  # by batches after the next one
        self.early: dict[bytes, tuple[Future[Any], int]] = {}  # and the place among the points of the same piece
        self.busy: set[Future[Any]] = set()  # pieces that have not ended, as far as `ended` has said
        self._ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self._silent_since = self._deserted_since = math.nan
        self._models: OrderedDict[tuple[int, ...], tuple[Any, str, bytes]] = OrderedDict()

    def __call__(self, model: Model, params: Params, take: Take) -> None:
        """See `Evaluator`."""
        batch = _Batch(self, BlackBox.of(model), params, take)
        try:
            batch.run()
        except BaseException:
            batch.cancel()
            raise
        finally:
            self.expected = {}

    def expect(self, model: Model, params: Params) -> None:
        """See `Evaluator`; not for functions that take batches, whose pieces are fixed."""
        box = BlackBox.of(model)
        if not box.batched:
            self.expected = dict(_rows(params))

    def sent(self, box: BlackBox) -> tuple[str, bytes]:
        """The digest and the bytes of a model, packed once."""
        key = tuple(map(id, (box.log_likelihood, box.data, box.hyper)))
        if key not in self._models:
            code = packed(box, box.name)
            self._models[key] = (box, hashlib.sha256(code).hexdigest(), code)  # the box is kept, so that no other gets its ids
            while len(self._models) > KEPT:
                self._models.popitem(last=False)
        return self._models[key][1:]

    def note(self, seconds: float, n: int) -> None:
        """Update what one likelihood takes."""
        each = seconds / n
        if math.isnan(self.seconds):
            self.seconds = each
        self.unevenness += 0.3 * (abs(each / max(self.seconds, 1e-9) - 1.0) - self.unevenness)
        self.seconds += 0.3 * (each - self.seconds)

    def equal_pieces(self, n: int) -> int | None:
        """The size of equal pieces that end together; None where calls differ in time, or are not known, or a piece costs little to send."""
        if self.piece_seconds < SCHEDULED_PIECE_SECONDS or math.isnan(self.seconds) or self.unevenness > EVEN:
            return None
        rounds = max(1, math.ceil(n * self.seconds / (self.n_alive * self.piece_seconds)))
        return max(1, -(-n // (self.n_alive * rounds)))

    def note_batch(self, seconds: float, n: int) -> None:
        """Count the workers of a scheduler after a batch that took long: a batch for eight takes twice as long with seven."""
        if self.n_alive < self.n_workers or seconds > SLACK + LATE * n * self.seconds / self.n_alive:
            self.n_alive = min(max(1, workers_of(self.executor)), self.n_workers)

    def early_piece(self) -> int:
        """How many points a piece has at least, and how many expected ones an idle worker gets: one, unless sending costs much."""
        if self.piece_seconds < SCHEDULED_PIECE_SECONDS or math.isnan(self.seconds):
            return 1
        return max(1, int(EARLY_SECONDS / max(self.seconds, 1e-9)))

    def submit(self, box: BlackBox, pieces: Sequence[tuple[Params, bool]]) -> list[Future[Any]]:
        """Send pieces: their points, and whether with the model."""
        futures = self._submit(box, pieces)
        self.busy.update(futures)
        for future in futures:
            future.add_done_callback(self._ended.put)
        return futures

    def ended(self) -> list[Future[Any]]:
        """Pieces that have ended since the last call; waits for the first of them, for at most a second.

        A limit, so that Ctrl-C is noticed on systems where waiting blocks signals.
        """
        found = []
        with contextlib.suppress(queue.Empty):
            found.append(self._ended.get(timeout=1.0))
            while True:
                found.append(self._ended.get_nowait())
        self.busy.difference_update(found)
        return found

    def see_to_workers(self, answered: bool) -> None:
        """After a silence, whether there are workers at all: said once, and the end of the run where none comes."""
        now = time.monotonic()
        if answered:
            self._silent_since = self._deserted_since = math.nan
        elif math.isnan(self._silent_since):
            self._silent_since = now
        elif now - self._silent_since >= SILENT:
            self._silent_since = now
            if (workers := workers_of_cluster(self.executor)) is None or workers > 0:
                self._deserted_since = math.nan
            elif math.isnan(self._deserted_since):
                self._deserted_since = now
                text = f"no worker is left on the cluster; waiting for one, for {DESERTED / 60:.0f} minutes at most."
                log.warning("%s", text)
                warnings.warn(text, stacklevel=2)
            elif now - self._deserted_since >= DESERTED:
                raise WorkerLost(
                    f"the cluster has had no worker for {DESERTED / 60:.0f} minutes: start workers and make the call again; with "
                    "checkpoint='run.ckpt' it goes on from where it was."
                )

    def _submit(self, box: BlackBox, pieces: Sequence[tuple[Params, bool]]) -> list[Future[Any]]:
        digest, code = self.sent(box)
        calls = [
            (digest, code if with_model else None, {k: np.ascontiguousarray(v) for k, v in params.items()}, versions())
            for params, with_model in pieces
        ]
        if isinstance(self.executor, LocalPool) and (limit := self.executor.timeout) is not None:
            lengths = [len(next(iter(params.values()))) for params, _ in pieces]
            return [self._submit_within(limit, box, n, args) for n, args in zip(lengths, calls, strict=True)]
        return submitted(self.executor, evaluated, calls)

    def _submit_within(self, limit: float, box: BlackBox, n: int, args: tuple[Any, ...]) -> Future[Any]:
        """Send a piece whose points may take so many seconds each: one of them, and the others some times what they usually take.

        A piece that takes longer is cut into single points, so it is tried once; each of these is tried twice.
        """
        pool = cast(LocalPool, self.executor)
        if n == 1 or box.batched or math.isnan(self.seconds):
            return pool.submit_within(n * limit, evaluated, *args)
        others = (n - 1) * min(limit, SLOW * self.seconds)
        return pool.submit_within(limit + others, evaluated, *args, most_timeouts=1)


def _rows(params: Params) -> Iterator[tuple[bytes, dict[str, np.ndarray]]]:
    """Every row as a batch of its own, with a name that equal rows share."""
    for i in range(len(next(iter(params.values())))):
        row = {k: v[i : i + 1] for k, v in params.items()}
        yield b"".join(np.asarray(v).tobytes() for v in row.values()), row


class _Batch:
    """The pieces of one batch."""

    def __init__(self, spread: Spread, box: BlackBox, params: Params, take: Take) -> None:
        self.spread, self.box, self.params, self.take = spread, box, params, take
        self.todo = np.arange(len(next(iter(params.values()))))
        self.again: deque[_Piece] = deque()
        self.under_way: dict[Future[Any], _Piece] = {}
        self.equal: int | None = None

    def run(self) -> None:
        """Send pieces and take their values until all rows have one."""
        if len(self.todo) * self.spread.seconds < WORTH_SENDING:  # false as long as nothing is known
            self._here()
            return
        # Idle workers get expected points in pieces of the same size. The last of these points, one for each worker, may be in vain.
        n_more = max(0, len(self.spread.expected) - self.spread.n_workers)
        begun, n = time.perf_counter(), len(self.todo) + n_more
        ready = self._claim()
        self.equal = self.spread.equal_pieces(len(self.todo) + n_more)
        while True:
            for future in ready:
                if (received := self.under_way.pop(future, None)) is not None:
                    self._receive(future, received)
            pieces: list[_Piece] = []
            while len(self.under_way) + len(pieces) < AHEAD * self.spread.n_workers and (piece := self._following()) is not None:
                pieces.append(piece)
            if pieces:
                sent = self.spread.submit(self.box, [(self._part(piece.rows), piece.with_model) for piece in pieces])
                self.under_way.update(zip(sent, pieces, strict=True))
            if not self.under_way:
                if self.equal is not None:
                    self.spread.note_batch(time.perf_counter() - begun, n)
                return
            self._use_idle()
            if not (ready := self.spread.ended()):
                self.take(self.todo[:0], np.empty(0))  # so that a budget of seconds and Ctrl-C are noticed
            self.spread.see_to_workers(bool(ready))

    def cancel(self) -> None:
        """Give up what is under way."""
        for future in (*self.under_way, *(future for future, _ in self.spread.early.values())):
            future.cancel()
        self.spread.early.clear()

    def _here(self) -> None:
        begun, n = time.perf_counter(), len(self.todo)
        size = BATCHED_PIECE if self.box.batched else n
        for first in range(0, n, size):
            rows = self.todo[first : first + size]
            self.take(rows, self.box.values(self._part(rows)))
        self.spread.note(time.perf_counter() - begun, n)

    def _part(self, rows: Rows) -> dict[str, np.ndarray]:
        return {k: v[rows] for k, v in self.params.items()}

    def _claim(self) -> list[Future[Any]]:
        """Rows that were expected, and are being evaluated already, and those of them that have ended; what nobody expects any more is given up."""
        early, expected = self.spread.early, self.spread.expected
        if not early:
            return []
        left, found = [], dict[Future[Any], list[tuple[int, int]]]()
        for i, (name, _) in enumerate(_rows(self.params)):
            if name in early:
                future, place = early.pop(name)
                found.setdefault(future, []).append((i, place))
            else:
                left.append(i)
        for future, pairs in found.items():
            rows, places = np.array(pairs).T
            self.under_way[future] = _Piece(self.todo[rows], places=places)
        self.todo = self.todo[left]
        self.spread.early = {name: sent for name, sent in early.items() if name in expected}
        wanted = found.keys() | {future for future, _ in self.spread.early.values()}
        for future, _ in early.values():
            if future not in wanted:
                future.cancel()
        return [future for future in found if future.done()]

    def _use_idle(self) -> None:
        """Begin with expected points where fewer pieces are under way than there are workers."""
        early, expected = self.spread.early, self.spread.expected
        n_idle = self.spread.n_workers - len(self.spread.busy)
        if n_idle <= 0:
            return
        size = self.equal or self.spread.early_piece()
        if not (names := list(itertools.islice((name for name in expected if name not in early), n_idle * size))):
            return
        rows = [expected[name] for name in names]
        groups = range(0, len(names), size)
        pieces = [({k: np.concatenate([row[k] for row in rows[i : i + size]]) for k in rows[0]}, False) for i in groups]
        for i, future in zip(groups, self.spread.submit(self.box, pieces), strict=True):
            early.update({name: (future, place) for place, name in enumerate(names[i : i + size])})

    def _following(self) -> _Piece | None:
        if self.again:
            return self.again.popleft()
        n = len(self.todo)
        if not n:
            return None
        size = BATCHED_PIECE
        if not self.box.batched and self.equal is not None:
            size = self.equal
        elif not self.box.batched:
            even = -(-n // (2 * self.spread.n_workers))
            wanted = 1 if math.isnan(self.spread.seconds) else int(self.spread.piece_seconds / max(self.spread.seconds, 1e-9))
            size = max(self.spread.early_piece(), min(even, wanted))
        piece, self.todo = _Piece(self.todo[:size]), self.todo[size:]
        return piece

    def _receive(self, future: Future[Any], piece: _Piece) -> None:
        try:
            kind, value, seconds = future.result()
        except BrokenExecutor as error:
            raise WorkerLost(
                f"the executor is broken ({error or type(error).__name__}) and takes no more work: give workers=... (or zhat.LocalPool), "
                "which replaces workers that die."
            ) from error
        except WorkerLost as error:
            self._lost(piece, str(error), error)
            return
        except Exception as error:  # of the executor: those of the likelihood come as an answer
            self._lost(piece, f"{type(error).__name__}: {error}", error)
            return
        if kind == "unknown model":
            self.again.append(_Piece(piece.rows, with_model=True))
        elif kind == "raised" and piece.places is not None:  # perhaps at a point that nobody needs
            self.again.append(_Piece(piece.rows))
        elif kind == "raised":
            opened(value)
        else:
            self.spread.note(seconds, len(value))
            self.take(piece.rows, value if piece.places is None else value[piece.places])

    def _lost(self, piece: _Piece, how: str, error: Exception) -> None:
        if len(piece.rows) > 1 and not self.box.batched:
            self.again.extend(_Piece(piece.rows[i : i + 1], piece.with_model) for i in range(len(piece.rows)))
            return
        where = describe_point(self.params, int(piece.rows[0]))
        some = "" if len(piece.rows) == 1 else f" and {len(piece.rows) - 1} further points"
        raise WorkerLost(f"the log likelihood of {self.box.name!r} was lost with its workers at {where}{some}: {how}") from error


# -- on the worker -----------------------------------------------------------------------------------------------

_kept: OrderedDict[str, BlackBox] = OrderedDict()
_lock = threading.Lock()

Answer = tuple[str, Any, float]


def evaluated(digest: str, code: bytes | None, params: Mapping[str, np.ndarray], packed_by: tuple[str, ...]) -> Answer:
    """The log likelihoods of a piece, or why there are none; and the seconds that they took."""
    try:
        with _lock:  # a worker may have several threads
            if digest not in _kept:
                if code is None:
                    return "unknown model", None, 0.0
                _kept[digest] = _opened(code, packed_by)
                while len(_kept) > KEPT:
                    _kept.popitem(last=False)
            box = _kept[digest]
        begun = time.perf_counter()
        return "values", box.values(params), time.perf_counter() - begun
    except Exception as error:  # most often of the user's function; raised again in the calling process
        return "raised", raised(error), 0.0


def _opened(code: bytes, packed_by: tuple[str, ...]) -> BlackBox:
    other = [f"{a} (here {b})" for a, b in zip(packed_by, versions(), strict=True) if a != b]
    if other:
        raise BadInput(f"a worker has other versions than the sender, and digits may depend on them: {', '.join(other)}.")
    with jax.enable_x64(True):
        box: BlackBox = loaded(code)
    return box


def workers_of(executor: Executor) -> int:
    """How many pieces an executor computes at the same time; that of this machine's cores where it does not say."""
    for name in ("workers", "_max_workers"):
        if isinstance(number := getattr(executor, name, None), int) and number > 0:
            return number
    on_cluster = workers_of_cluster(executor)
    return (os.cpu_count() or 1) if on_cluster is None else max(1, on_cluster)


def workers_of_cluster(executor: Executor) -> int | None:
    """How many pieces a Dask cluster computes at the same time now, as its scheduler says; None for other executors."""
    client = getattr(executor, "_client", None)
    return sum(client.nthreads().values()) if client is not None and hasattr(client, "nthreads") else None
