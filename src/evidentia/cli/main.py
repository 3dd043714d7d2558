"""``evidentia``: one file a command; this one gathers them and turns whatever happens into a sentence and an exit code.

A command's file has `add`, which declares its arguments, and `run`, which returns the exit code.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence

from evidentia.cli import average, cite, compare, completion, demo, estimate, methods, reproduce, schema, sensitivity, show, study
from evidentia.cli.exits import EPILOG, Exit
from evidentia.cli.terminal import printable
from evidentia.errors import EvidentiaError

# In the order of the help.
COMMANDS = (estimate, compare, average, sensitivity, show, cite, methods, demo, study, reproduce, schema, completion)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without ± should print something else, not stop
            stream.reconfigure(errors="replace")
    options = parser().parse_args(arguments)
    return int(_run(options))


def parser() -> argparse.ArgumentParser:
    """All commands with their arguments."""
    found = argparse.ArgumentParser(
        prog="evidentia",
        description="How strongly do the data support a model? Bayesian evidence with honest errors.",
        epilog=f"`evidentia COMMAND --help` has examples.\n\n{EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = found.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return found


def _run(options: argparse.Namespace) -> Exit:
    try:
        code: Exit = options.run(options)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as error:
        _say(f"evidentia: interrupted{f' {error}' if str(error) else ''}.")
        return Exit.INTERRUPTED
    except BrokenPipeError:  # the reader, such as head, has seen enough; the interpreter must not try to flush again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except (EvidentiaError, OSError) as error:
        _say(f"evidentia: {error}")
        bad_input = isinstance(error, ValueError | TypeError | OSError)
        return Exit.BAD_INPUT if bad_input else Exit.FAILED
    except Exception:
        _say(traceback.format_exc())
        _say("evidentia: the run ended with the error above; if that is not your model's, it is ours.")
        return Exit.FAILED


def _say(text: str) -> None:
    print(printable(text), file=sys.stderr)
