"""What the command says to the shell."""

from __future__ import annotations

import enum

from zhat.comparing.comparison import Comparison
from zhat.results.estimate import Evidence, Level


class Exit(enum.IntEnum):
    """Exit codes; argparse itself uses 2 for arguments it cannot read."""

    OK = 0
    SUSPECT = 1
    BAD_INPUT = 2
    FAILED = 3
    UNDECIDED = 4
    INTERRUPTED = 130


EPILOG = """\
exit codes:
  0    ok: the run's own checks passed; for a comparison, and it is decided
  1    suspect: there is a number, and a reason to doubt it
  2    bad input: arguments, file or model cannot be used
  3    failed: no usable number, or the model raised an error
  4    undecided: the runs cannot say which model is ahead
  130  interrupted
"""


def exit_of(result: Evidence) -> Exit:
    """The exit code that tells a result's verdict."""
    if any(reason.code == "interrupted" for reason in result.status.reasons):
        return Exit.INTERRUPTED
    return {Level.OK: Exit.OK, Level.SUSPECT: Exit.SUSPECT, Level.FAILED: Exit.FAILED}[result.status.level]


def exit_of_comparison(comparison: Comparison) -> Exit:
    """0 when it is decided and every evidence is ok."""
    if comparison.suspects:
        return Exit.SUSPECT
    return Exit.OK if comparison.decided else Exit.UNDECIDED
