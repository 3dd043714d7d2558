"""``--log FILE``: what the library logs under the name `zhat`, with times, appended to a file; and warnings as sentences."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from zhat.cli.terminal import one_line, say
from zhat.errors import BadInput

FORMAT = "%(asctime)s %(levelname)s %(message)s"
WARNINGS = "py.warnings"  # the name that Python's own capture of warnings uses
logging.getLogger(WARNINGS).addHandler(logging.NullHandler())


@contextmanager
def warnings_in_words() -> Iterator[None]:
    """Our warnings without the line of our source that raised them, and in the log; those of other libraries and of the model as they are."""
    before, ours = warnings.showwarning, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

    def show(message: Any, category: Any, filename: str, *args: Any, **kwargs: Any) -> None:
        logging.getLogger(WARNINGS).warning("%s: %s", category.__name__, message)
        if os.path.abspath(filename).startswith(ours + os.sep):
            say(f"zhat: {one_line(str(message))}")
        else:
            before(message, category, filename, *args, **kwargs)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


@contextmanager
def logged(path: str | None) -> Iterator[None]:
    """Write the log to a file while this is open; warnings of Python too."""
    if path is None:
        yield
        return
    try:
        handler = _File(path, encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:
        raise BadInput(f"--log {path}: the file cannot be written ({getattr(error, 'strerror', None) or error}).") from error
    handler.setFormatter(_OneLine(FORMAT))
    loggers = [logging.getLogger("zhat"), logging.getLogger(WARNINGS)]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
        handler.close()


class _File(logging.FileHandler):
    """A file that may become full: said once, and the run goes on without its log."""

    _is_full = False

    def emit(self, record: logging.LogRecord) -> None:
        if not self._is_full:
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name that logging has
        error = sys.exc_info()[1]
        self._is_full = True
        why = getattr(error, "strerror", None) or error
        print(f"zhat: --log {self.baseFilename}: the file cannot be written any more ({why}); the run goes on.", file=sys.stderr)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # what is left in its buffer
            super().close()


class _OneLine(logging.Formatter):
    """A record is one line, whatever a name in it contains."""

    def format(self, record: logging.LogRecord) -> str:
        return one_line(super().format(record).replace("\r", " "))
