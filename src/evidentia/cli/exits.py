"""What the command says to the shell."""

from __future__ import annotations

import enum


class Exit(enum.IntEnum):
    """Exit codes; argparse itself uses 2 for arguments it cannot read."""

    OK = 0
    SUSPECT = 1
    BAD_INPUT = 2
    FAILED = 3
    INTERRUPTED = 130


EPILOG = """\
exit codes:
  0    ok: the run's own checks passed
  1    suspect: there is a number, and a reason to doubt it
  2    bad input: arguments, file or model cannot be used
  3    failed: no usable number, or the model raised an error
  130  interrupted
"""
