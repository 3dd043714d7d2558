"""Exit codes: the verdict for the shell."""

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
    TERMINATED = 75  # checkpoint.TERMINATED
    INTERRUPTED = 130


EPILOG = """\
exit codes:
  0    every evidence is ok and the comparison is decided
  1    suspect: an evidence did not pass its checks, or two methods disagree
  2    bad input: arguments, file or model cannot be used
  3    failed: no usable number, or the model raised an error
  4    undecided: the difference is within the errors of the runs
  75   terminated by SIGTERM, its checkpoint written: run the same command again
  130  interrupted
"""


def exit_of(result: Evidence) -> Exit:
    """The exit code of a result's verdict."""
    if any(reason.code == "interrupted" for reason in result.status.reasons):
        return Exit.INTERRUPTED
    return {Level.OK: Exit.OK, Level.SUSPECT: Exit.SUSPECT, Level.FAILED: Exit.FAILED}[result.status.level]


def exit_of_comparison(comparison: Comparison) -> Exit:
    """0 when every evidence is ok, no second opinion disagrees, and the comparison is decided."""
    if comparison.suspects or comparison.disagreements:
        return Exit.SUSPECT
    return Exit.OK if comparison.decided else Exit.UNDECIDED
