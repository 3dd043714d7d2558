"""``--log FILE``: what the library logs under the name `zhat`, with times, appended to a file."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from zhat.errors import BadInput

FORMAT = "%(asctime)s %(levelname)s %(message)s"


@contextmanager
def logged(path: str | None) -> Iterator[None]:
    """Write the log to a file while this is open; warnings of Python too."""
    if path is None:
        yield
        return
    try:
        handler = logging.FileHandler(path, encoding="utf-8", errors="replace")
    except (OSError, ValueError) as error:
        raise BadInput(f"--log {path}: the file cannot be written ({getattr(error, 'strerror', None) or error}).") from error
    handler.setFormatter(_OneLine(FORMAT))
    loggers = [logging.getLogger("zhat"), logging.getLogger("py.warnings")]
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


class _OneLine(logging.Formatter):
    """A record is one line, whatever a name in it contains."""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\r", " ").replace("\n", " ")
