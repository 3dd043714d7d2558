"""Where the likelihoods of a black box are evaluated: in this process, or wherever the caller has arranged it.

Every sampler hands batches of points to `likelihoods`. What evaluates them is set around a run (`evaluated_by`), so that one run of any
method can use many workers without knowing of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np

from zhat.model.model import Model, black_box_values
from zhat.sampling.backend.journal import current
from zhat.threads import users_threads

# Seconds of computing after which values are handed over.
PIECE_SECONDS = 1.0

Params = Mapping[str, np.ndarray]
# Receives numbers of rows of a batch and the log likelihoods there, in any order of rows; now and then none, while workers are silent.
Take = Callable[[Any, np.ndarray], None]


class Evaluator(Protocol):
    """A way to evaluate a batch."""

    @property
    def n_workers(self) -> int:
        """How many points it evaluates at the same time."""
        ...

    def __call__(self, model: Model, params: Params, take: Take) -> None:
        """Hand the log likelihoods of all rows to `take`, in parts."""
        ...

    def expect(self, model: Model, params: Params) -> None:
        """Evaluate these points with workers that the next batch leaves idle: a later batch will probably contain them."""
        ...


def likelihoods(
    model: Model, params: Params, check: Callable[[], None] = lambda: None, out: np.ndarray | None = None
) -> np.ndarray:
    """Log likelihoods of a black box at a batch of points (leading axis n), in `out` if it is given.

    `check` is called after every part of them, and may raise; what there is by then stays in `out`.
    """
    evaluate, journal = evaluator(), current()
    out = np.empty(len(next(iter(params.values())))) if out is None else out
    if journal is not None:

        def some(rows: Any, take: Take) -> None:
            def take_and_check(part: Any, values: np.ndarray) -> None:
                take(part, values)
                check()

            evaluate(model, {k: v[rows] for k, v in params.items()}, take_and_check)

        return journal.values(model, params, out, some)

    def take(rows: Any, values: np.ndarray) -> None:
        out[rows] = values
        check()

    evaluate(model, params, take)
    return out


class InThisProcess:
    """Points one at a time in pieces of about a second, so that a run can end and a journal be kept in between; batches as a whole."""

    n_workers = 1

    def __call__(self, model: Model, params: Params, take: Take) -> None:
        """See `Evaluator`."""
        n = len(next(iter(params.values())))
        first, size = 0, n if model.core.batched else 1
        while first < n:
            rows, begun = slice(first, min(first + size, n)), time.perf_counter()
            with users_threads():
                values = black_box_values(model, {k: v[rows] for k, v in params.items()})
            take(rows, values)
            first += size
            seconds = time.perf_counter() - begun
            if seconds < PIECE_SECONDS / 2:
                # Fewer pieces where nothing is kept of them.
                size = 2 * size if current() is not None else max(1, int(PIECE_SECONDS / 2 * size / max(seconds, 1e-6)))

    def expect(self, model: Model, params: Params) -> None:
        """Nobody is idle."""


_evaluator: ContextVar[Evaluator] = ContextVar("zhat_evaluator", default=InThisProcess())  # noqa: B039 - it has no state


def evaluator() -> Evaluator:
    """What evaluates black boxes now."""
    return _evaluator.get()


@contextmanager
def evaluated_by(evaluator: Evaluator) -> Iterator[None]:
    """Evaluate black boxes this way while this is open."""
    token = _evaluator.set(evaluator)
    try:
        yield
    finally:
        _evaluator.reset(token)
