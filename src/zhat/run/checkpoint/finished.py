"""Finished tasks in a checkpoint: whole results, which a run that goes on takes as they are.

Tasks on workers keep no journal of calls: a task is computed again unless it was finished.
"""

from __future__ import annotations

from typing import Any

from zhat.errors import CorruptFile
from zhat.results.codec import plain_of, value_of
from zhat.run.checkpoint.fingerprints import fingerprint_of
from zhat.run.distribution.travel import Task
from zhat.sampling.backend.journal import current, model_id
from zhat.sampling.backend.segments import Entry


def finished(task: Task) -> Any:
    """The result of a task that the checkpoint has; None where there is none."""
    journal = current()
    if journal is None or task.kept is None:
        return None
    entry = journal.result(_key(task))
    if entry is None:
        return None
    try:
        names = entry.plain["names"]
        return value_of(entry.plain["value"], task.kept, dict(zip(names, entry.arrays, strict=True)))
    except (CorruptFile, KeyError, TypeError, ValueError):  # damaged: computed again
        return None


def keep(task: Task, result: Any) -> None:
    """Keep the result of a task in the checkpoint, unless a budget or the user ended it, or it is large for what it cost."""
    journal = current()
    if journal is None or task.kept is None or not result.is_final:
        return
    plain, arrays = plain_of(result, task.kept)
    journal.keep_result(_key(task), Entry({"value": plain, "names": list(arrays)}, tuple(arrays.values())), result.cost.seconds)


def _key(task: Task) -> str:
    return f"task-{task.function.__qualname__}-{fingerprint_of((model_id(task.model), task.key))}"
