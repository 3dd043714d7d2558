"""JAX's persistent compilation cache, switched on for everyone who has not chosen otherwise.

Compiling is what a user feels first. Compiled programs are kept in the user's cache folder, also the quick ones (JAX
itself keeps only those above a second). ``ZHAT_COMPILE_CACHE=off`` turns it off, another value is the folder to use;
a cache that the user has configured for JAX is left alone. A program whose file is damaged, because a process was killed or the disk was
full while it was written, is deleted and compiled again: JAX would warn of it in every process. When a process ends, the programs used longest ago are deleted beyond a
gibibyte.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import jax

VARIABLE = "ZHAT_COMPILE_CACHE"
# Bytes of a cache: a small model leaves some 200 kilobytes.
LIMIT = 1 << 30
# How JAX names a program's file.
PROGRAM = "-cache"

log = logging.getLogger("zhat")


def cache_folder() -> Path | None:
    """Where compiled programs are kept, or None when the cache is off or this user has no folder of his own."""
    chosen = os.environ.get(VARIABLE, "")
    if chosen.lower() in ("off", "0", "no", "false"):
        return None
    if chosen:
        return Path(chosen)
    try:
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "zhat"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "zhat"
    except RuntimeError:  # no HOME, and a user without an entry in the system's list: containers run so
        return None


def switch_on() -> None:
    """Point JAX at the folder, unless the user has pointed it elsewhere or the folder cannot be made."""
    folder = cache_folder()
    if folder is None or getattr(jax.config, "jax_compilation_cache_dir", None) is not None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    with suppress(ImportError, AttributeError):  # where JAX has it elsewhere, it warns of damaged files
        _delete_damaged(folder)
    atexit.register(trim, folder)


def _delete_damaged(folder: Path) -> None:
    """Let JAX delete a program that it cannot read, and compile it again."""
    from jax._src import compilation_cache

    read = compilation_cache.get_executable_and_time

    def read_or_delete(cache_key: str, *args: Any) -> tuple[Any, Any]:
        try:
            found: tuple[Any, Any] = read(cache_key, *args)
        except Exception as error:  # parsers of damaged input raise nearly anything
            log.info("compile cache: %s is damaged (%s); compiled again", cache_key, error)
            with suppress(OSError):
                (folder / f"{cache_key}{PROGRAM}").unlink()
            return None, None
        return found

    compilation_cache.get_executable_and_time = read_or_delete  # type: ignore[assignment]  # it passes its arguments on


def trim(folder: Path, limit: int = LIMIT) -> None:
    """Delete the compiled programs that were used longest ago until the folder holds no more than `limit` bytes of them.

    Only files with names that JAX gives its programs are counted or deleted: the folder may be one that the user has chosen.
    """
    try:
        programs = [e for e in os.scandir(folder) if e.name.endswith(PROGRAM) and e.is_file(follow_symlinks=False)]
        files = [(entry.stat(), entry.path) for entry in programs]
    except OSError:
        return
    total = sum(status.st_size for status, _ in files)
    for status, path in sorted(files, key=lambda file: max(file[0].st_atime, file[0].st_mtime)):
        if total <= limit:
            return
        total -= status.st_size
        with suppress(OSError):  # another process may have deleted it
            os.unlink(path)
