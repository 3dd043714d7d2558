"""Plans: work in several steps, where a later step depends on the results of an earlier one; many plans at once.

A plan is a generator that yields lists of tasks, receives their results in the same order, and returns its answer. Whether the
plans run one after the other in this process or all together on an executor, they receive the same results: tasks carry their
seeds, and results are ordered by task, not by arrival.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Any, TypeVar

from zhat.run.checkpoint.finished import finished, keep
from zhat.run.distribution.travel import Parcel, Task, opened, parcels, submitted, work
from zhat.sampling.backend.loop import Loop

# Bytes of tasks that are submitted together: Dask warns of ten times as many.
TOGETHER = 1_000_000

T = TypeVar("T")
Plan = Generator[list[Task], list[Any], T]


def carry_out(plans: Sequence[Plan[T]], executor: Executor | None = None, progress: bool | None = None) -> list[T]:
    """The answers of the plans, in their order."""
    if executor is None:
        return _in_this_process(plans)
    return _Dispatcher(plans, executor, progress).run()


def _in_this_process(plans: Sequence[Plan[T]]) -> list[T]:
    """One plan after the other, one task after the other."""
    answers: list[T] = []
    for plan in plans:
        results: Any = None  # the value to send to a generator that has not started
        while True:
            try:
                tasks = plan.send(results)
            except StopIteration as end:
                answers.append(end.value)
                break
            results = []
            for task in tasks:
                result = finished(task)
                if result is None:
                    result = task.function(task.model, *task.arguments)
                    keep(task, result)
                results.append(result)
    return answers


class _Dispatcher:
    """Submits the tasks of all plans and returns each result to its plan."""

    def __init__(self, plans: Sequence[Plan[Any]], executor: Executor, progress: bool | None) -> None:
        self._plans = plans
        self._executor = executor
        self._loop = Loop(None, progress, "workers")
        self._places: dict[Future[bytes], tuple[int, int, Task]] = {}
        self._results: list[list[Any]] = [[] for _ in plans]
        self._missing = [0] * len(plans)
        self._answers: list[Any] = [None] * len(plans)

    def run(self) -> list[Any]:
        done = 0
        try:
            self._begin({i: next(plan) for i, plan in enumerate(self._plans)})
            while self._places:
                ready, _ = wait(self._places, return_when=FIRST_COMPLETED)
                following: dict[int, list[Task]] = {}
                for future in ready:
                    i, k, task = self._places.pop(future)
                    self._results[i][k] = opened(future.result())
                    keep(task, self._results[i][k])
                    self._missing[i] -= 1
                    done += 1
                    if self._missing[i] == 0:
                        self._advance(i, following)
                self._begin(following)
                self._loop.tick(f"{done} done, {len(self._places)} to go")
        except KeyboardInterrupt:
            total = done + len(self._places)
            raise KeyboardInterrupt(f"with {done} of {total} runs done; the runs in progress are lost") from None
        finally:
            self._loop.done()
            for future in self._places:
                future.cancel()
        return self._answers

    def _advance(self, i: int, following: dict[int, list[Task]]) -> None:
        try:
            following[i] = self._plans[i].send(self._results[i])
        except StopIteration as end:
            self._answers[i] = end.value

    def _begin(self, tasks: dict[int, list[Task]]) -> None:
        """Pack the tasks of all these plans together, so that functions which they share are serialised once."""
        while tasks:
            following: dict[int, list[Task]] = {}
            sent: list[tuple[int, int, Task]] = []
            for i, some in tasks.items():
                self._results[i] = [finished(task) for task in some]
                missing = [(i, k, some[k]) for k, result in enumerate(self._results[i]) if result is None]
                self._missing[i] = len(missing)
                sent += missing
                if not missing:
                    self._advance(i, following)
            futures = [
                future
                for some in _in_groups(parcels(task for _, _, task in sent))
                for future in submitted(self._executor, work, [(parcel,) for parcel in some])
            ]
            self._places.update(zip(futures, sent, strict=True))
            tasks = following


def _in_groups(made: Sequence[Parcel]) -> Iterator[list[Parcel]]:
    """Parcels that are sent together: as many as stay below `TOGETHER` bytes."""
    group: list[Parcel] = []
    n_bytes = 0
    for parcel in made:
        size = len(parcel.code) + len(parcel.rest)
        if group and n_bytes + size > TOGETHER:
            yield group
            group, n_bytes = [], 0
        group.append(parcel)
        n_bytes += size
    if group:
        yield group
