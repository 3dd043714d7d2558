"""The work in parts: each with a name, a seed of its own by that name, and a small file when it is finished.

A run that is killed leaves the files of its finished parts; started again it reads those and runs the rest. As a part's
randomness comes from its name and the seed alone, what was interrupted gives the same digits as what was not, in any order and
with any number of workers.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from zhat.errors import BadInput
from zhat.run.distribution.executors import opened
from zhat.run.repeats import compile_clock
from zhat.sampling.backend.loop import Loop
from zhat.seeding import Key
from zhat.studies.friel_wyse.settings import Settings

SCHEMA = 1

Work = Callable[[Settings, Key, Loop], dict[str, Any]]


@dataclass(frozen=True)
class Part:
    """A piece of the study; `weight` is about how many seconds it takes, for the progress shown."""

    name: str
    table: str
    title: str
    work: Work
    weight: float


@dataclass(frozen=True)
class Done:
    """What a part found, and what it cost; seconds without compiling."""

    name: str
    result: dict[str, Any]
    seconds: float
    cpu_seconds: float
    compile_seconds: float
    n_likelihood: int
    n_gradient: int


def seed_of(key: Key) -> int:
    """An integer seed from a named one, for calls through the front door."""
    return int(key.generator().integers(2**63))


def run_part(part: Part, settings: Settings, seed: int) -> Done:
    """Do the work of one part."""
    loop = Loop(None, False, part.name)
    wall, cpu = time.perf_counter(), time.process_time()
    with compile_clock() as clock, jax.enable_x64(True):
        result = part.work(settings, Key(seed).child("friel-wyse", part.name), loop)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    compiling = min(clock.seconds, wall)
    return Done(part.name, result, wall - compiling, max(cpu - compiling, 0.0), compiling, loop.n_likelihood, loop.n_gradient)


# -- files ---------------------------------------------------------------------------------------------------------------


def file_of(folder: Path, name: str) -> Path:
    """Where a finished part is kept."""
    return folder / "parts" / (name.replace("/", "--") + ".json")


def keep(folder: Path, part: Part, done: Done, settings: Settings, seed: int) -> None:
    """Write a finished part: complete or not at all."""
    path = file_of(folder, done.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"schema": SCHEMA, "seed": seed, "settings": settings.of(part.table), **vars(done)}
    write_whole(path, json.dumps(document, indent=1, allow_nan=True))


def kept(folder: Path, part: Part, settings: Settings, seed: int) -> Done | None:
    """A part that was finished with this seed and its table's settings; None if there is none that can be read."""
    try:
        document = json.loads(file_of(folder, part.name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict):
        return None
    asked = {"schema": SCHEMA, "seed": seed, "settings": settings.of(part.table), "name": part.name}
    if any(document.pop(key, None) != value for key, value in asked.items()):
        return None
    try:
        return Done(name=part.name, **document)
    except TypeError:
        return None


def write_whole(path: Path, text: str | bytes) -> None:
    """Write beside the place and move there, so that a reader never sees half a file."""
    data = text.encode() if isinstance(text, str) else text
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


# -- all of them -----------------------------------------------------------------------------------------------------------


def run_all(
    parts: Sequence[Part], settings: Settings, seed: int, folder: Path, workers: int, say: Callable[[str], None]
) -> dict[str, Done]:
    """Every part, those in the folder read and the others run, several at a time in processes of their own."""
    if workers < 1:
        raise BadInput(f"workers={workers}: give at least one.")
    found: dict[str, Done] = {}
    for part in parts:
        before = kept(folder, part, settings, seed)
        if before is not None:
            found[part.name] = before
    todo = sorted((part for part in parts if part.name not in found), key=lambda part: -part.weight)
    if found:
        say(f"{len(found)} of {len(parts)} parts are finished already and are read from {folder / 'parts'}")
    total, by_name = sum(part.weight for part in parts), {part.name: part for part in parts}
    for done in _finished(todo, settings, seed, workers):
        keep(folder, by_name[done.name], done, settings, seed)
        found[done.name] = done
        share = sum(part.weight for part in parts if part.name in found) / total
        title = by_name[done.name].title
        took = f"{done.seconds:.1f} s" + (f" and {done.compile_seconds:.1f} s compiling" if done.compile_seconds > 0.5 else "")
        say(f"[{len(found):>2} of {len(parts)}, {share:4.0%} of the work] {title}: {took}")
    return {part.name: found[part.name] for part in parts}


def _finished(todo: Sequence[Part], settings: Settings, seed: int, workers: int) -> Iterator[Done]:
    if workers == 1 or len(todo) < 2:
        for part in todo:
            yield run_part(part, settings, seed)
        return
    with opened(None, workers) as pool:
        assert pool is not None
        waiting = [pool.submit(_in_worker, part.name, settings, seed) for part in todo]
        for future in concurrent.futures.as_completed(waiting):
            yield future.result()


def _in_worker(name: str, settings: Settings, seed: int) -> Done:
    from zhat.studies.friel_wyse.study import all_parts

    parts: Mapping[str, Part] = {part.name: part for part in all_parts()}
    return run_part(parts[name], settings, seed)
