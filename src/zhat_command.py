"""What the ``zhat`` command starts: outside the package, whose import takes the first seconds.

A Ctrl-C in them would end in a traceback through somebody's imports, or in none at all where an import swallows it. There is
nothing to keep yet, so it ends the process at once with the exit code of an interruption.
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
