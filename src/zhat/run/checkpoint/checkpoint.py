"""A checkpoint around a call: opened, compared with the call, locked against other processes, written, and left on SIGTERM.

    evidence(model, seed=1, checkpoint="run.ckpt")        # killed after an hour
    evidence(model, seed=1, checkpoint="run.ckpt")        # goes on, and ends with the same digits

The manifest says what the checkpoint is of: the call, its settings and seed, every model's functions, data and hyperparameters, and the
versions of the libraries. A call that differs in one of them is refused, because the journal would not be its own. The budget is no part
of it: a run that a budget ended goes on with the next one.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from zhat.errors import BadInput, BadType
from zhat.model.data import fingerprint
from zhat.model.model import Model
from zhat.results.storage import write_file
from zhat.run.checkpoint.fingerprints import fingerprint_of
from zhat.run.distribution.travel import versions
from zhat.sampling.backend.journal import Journal, current, journaled
from zhat.sampling.backend.segments import Segments
from zhat.seeding import check_seed

FORMAT = "zhat checkpoint"
SCHEMA = 2
MANIFEST = "manifest.json"
LOCK = "lock"
MOST_MANIFEST_BYTES = 2**26
# What else than its code makes a function another one.
USED = {
    "log likelihood": " (its code, or a value that it uses)",
    "prior": " (its distributions, its code, or a value that it uses)",
}
# The exit code after SIGTERM: EX_TEMPFAIL of sysexits.h, "try again later".
TERMINATED = 75

log = logging.getLogger("zhat")


@contextmanager
def checkpointed(
    path: str | os.PathLike[str] | None, call: str, models: Mapping[str, Model], settings: Mapping[str, Any], seed: int | None
) -> Iterator[int]:
    """Keep a journal of this call in a folder, or go on from the one that is there; yields the seed.

    `settings` are the call's arguments by name; which of them differs is said. A call without a seed takes that of the checkpoint. Inside another checkpoint nothing is opened: the outer one keeps all.
    """
    if path is None or current() is not None:
        yield check_seed(seed)
        return
    folder = _folder(path)
    with _locked(folder):
        about = _about(call, models, settings)
        seed = _compared(folder, about, seed)
        segments = Segments(folder)
        for name in segments.damaged:
            warnings.warn(f"checkpoint {str(folder)!r}: {name} is left out; what it held is computed again.", stacklevel=4)
        log.info("checkpoint %s: %d entries, %.1f MB", folder, len(segments), segments.n_bytes / 1e6)
        journal = Journal(segments)
        with _on_sigterm(folder), journaled(journal):
            yield seed
        log.info("checkpoint %s: %d calls came from the journal", folder, journal.n_replayed)
        if journal.failed is not None:
            warnings.warn(
                f"checkpoint {str(folder)!r}: could not be written ({journal.failed.strerror or journal.failed}); the run ended without it, "
                "and the last state that was written is kept.",
                stacklevel=4,
            )


def _folder(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise BadType(f"checkpoint is a {type(path).__name__}: give the name of a folder, such as checkpoint='run.ckpt'.")
    folder = Path(path)
    if "\0" in str(folder) or not str(path):
        raise BadInput(f"checkpoint={str(path)!r} cannot be the name of a folder; give checkpoint='run.ckpt'.")
    try:
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"checkpoint={str(folder)!r} is a file; a checkpoint is a folder of its own: give another name.")
        if folder.is_dir() and not (folder / MANIFEST).exists() and any(p.name != LOCK for p in folder.iterdir()):
            raise BadInput(f"checkpoint={str(folder)!r} is a folder with other files in it; give the name of a new one.")
        folder.mkdir(exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(13, "it cannot be written to")
    except OSError as error:
        raise BadInput(f"checkpoint={str(folder)!r} cannot be made: {error.strerror or error}.") from error
    return folder


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Refuse a second process; the lock ends with the process that holds it."""
    try:
        import fcntl
    except ImportError:  # Windows: no lock
        yield
        return
    with (folder / LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"checkpoint={str(folder)!r} is in use by another run; wait for it, or give another name.") from None
        yield


def _about(call: str, models: Mapping[str, Model], settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "call": call,
        "settings": {name: fingerprint_of(value) for name, value in settings.items()},
        "versions": list(versions()),
        "models": {name: _of_model(model) for name, model in models.items()},
    }


def _of_model(model: Model) -> dict[str, str]:
    return {
        "log likelihood": fingerprint_of((model.log_likelihood, model.zero_where_nan)),
        "prior": fingerprint_of(model.prior),
        "structure": fingerprint_of((model.conditionals, model.latent, model.core.made_from)),
        "data": fingerprint(model.data),
        "hyperparameters": fingerprint(model.hyper),
        "name": model.name,
    }


def _compared(folder: Path, about: dict[str, Any], seed: int | None) -> int:
    """The seed of the checkpoint, if it is one of this call; a new manifest is written where there is none."""
    path = folder / MANIFEST
    if not path.exists():
        chosen = check_seed(seed)
        manifest = {"format": FORMAT, "schema": SCHEMA, **about, "seed": chosen}
        try:
            write_file(path, (json.dumps(manifest, indent=2) + "\n").encode())
        except OSError as error:
            raise BadInput(
                f"checkpoint={str(folder)!r} cannot be written ({error.strerror or error}): free some space, or give the name of a folder "
                "on another disk."
            ) from error
        return chosen
    there = _manifest(path)
    other = _differences(there, about)
    if seed is not None and check_seed(seed) != there["seed"]:
        other.append(f"the seed ({there['seed']}, now {seed})")
    if other:
        raise BadInput(
            f"checkpoint={str(folder)!r} is of another run; these differ: {', '.join(other)}. Make the call as it was, or give the name of "
            "a new checkpoint."
        )
    return int(there["seed"])


def _manifest(path: Path) -> dict[str, Any]:
    where = f"checkpoint={str(path.parent)!r}"
    try:
        if path.stat().st_size > MOST_MANIFEST_BYTES:
            raise ValueError("it is too large")
        manifest = json.loads(path.read_bytes().decode())
        if manifest["format"] != FORMAT:
            raise ValueError("it is of something else")
        schema, seed = manifest["schema"], manifest["seed"]
        if type(seed) is not int or not 0 <= seed < 2**64:
            raise ValueError("it has no seed")
        if not isinstance(manifest["models"], dict) or not isinstance(manifest["versions"], list):
            raise ValueError("it is incomplete")
        if schema == SCHEMA and not isinstance(manifest["settings"], dict):
            raise ValueError("it has no settings")
    except (Exception, MemoryError) as error:  # parsers of damaged input raise nearly anything
        raise BadInput(
            f"{where}: its {MANIFEST} is damaged or not of zhat ({error}); give the name of a new checkpoint."
        ) from error
    if schema != SCHEMA:
        raise BadInput(
            f"{where} has schema {schema!r} and this version of zhat writes schema {SCHEMA}; give the name of a new checkpoint."
        )
    return dict(manifest)


def _differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """In words."""
    other = []
    if there.get("call") != here["call"]:
        other.append(f"the function ({str(there.get('call'))[:40]!r}, now {here['call']!r})")
    before = there["settings"]
    names = [name for name, value in here["settings"].items() if before.get(name) != value]
    names += [str(name)[:40] for name in before if name not in here["settings"]]
    if names and there.get("call") == here["call"]:
        other.append(f"the setting{'s' if len(names) > 1 else ''} {', '.join(names)}")
    was, now = there["versions"], here["versions"]
    other += [f"the version ({str(a)[:40]}, now {b})" for a, b in zip(was, now, strict=False) if a != b]
    if sorted(map(str, there["models"])) != sorted(here["models"]):
        other.append("the models' names")
    for name, model in here["models"].items():
        before = there["models"].get(name)
        if isinstance(before, dict):
            other += [f"the {part} of {name!r}{USED.get(part, '')}" for part, value in model.items() if before.get(part) != value]
    return other


@contextmanager
def _on_sigterm(folder: Path) -> Iterator[None]:
    """On SIGTERM, which batch queues send before the end: leave the run, with the journal written, and exit with a code of its own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(signum: int, frame: FrameType | None) -> None:
        print(f"zhat: terminated; the checkpoint {str(folder)!r} is written. The same call goes on from there.", file=sys.stderr)
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
