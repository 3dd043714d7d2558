"""The entry point of the ``zhat`` command; outside the package, whose import takes the first second.

A Ctrl-C during the import would end in a traceback through other packages, or would be swallowed by one of them. Nothing has
been computed yet, so it ends the process at once, with the exit code of an interruption.
"""

from __future__ import annotations

import os
import signal
from typing import Any

_INTERRUPTED = 130  # cli.exits.Exit.INTERRUPTED, which is not imported yet


def main() -> int:
    """Import the package, ready to end at once meanwhile; then run the command line."""
    before = signal.signal(signal.SIGINT, _die)
    from zhat.cli import main as command

    signal.signal(signal.SIGINT, before)
    return command()


def _die(*_: Any) -> None:
    os.write(2, b"zhat: interrupted while starting; nothing was begun.\n")
    os._exit(_INTERRUPTED)
