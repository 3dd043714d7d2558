"""``zhat``: one file a command; this one gathers them and turns whatever happens into a sentence and an exit code.

A command's file has `add`, which declares its arguments, and `run`, which returns the exit code.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from zhat.cli.commands import (
    average,
    cite,
    compare,
    completion,
    demo,
    estimate,
    methods,
    reproduce,
    schema,
    sensitivity,
    show,
    study,
)
from zhat.cli.exits import EPILOG, Exit
from zhat.cli.parsing import Parser
from zhat.cli.terminal import printable, say
from zhat.errors import ZhatError

# In the order of the help.
COMMANDS = (estimate, compare, average, sensitivity, show, cite, methods, demo, study, reproduce, schema, completion)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without ± should print something else, not stop
            stream.reconfigure(errors="replace")
    root = parser()
    options, unknown = root.parse_known_args(arguments)
    if options.command is None:
        root.print_help(sys.stderr)
        return int(Exit.BAD_INPUT)
    if unknown:
        options.parser.refuse(unknown)
    try:
        return int(_run(options))
    except KeyboardInterrupt as error:
        say(f"zhat: interrupted{f' {error}' if str(error) else ''}.")
        if arguments is None:
            _leave(Exit.INTERRUPTED)
        return int(Exit.INTERRUPTED)


def parser() -> Parser:
    """All commands with their arguments."""
    found = Parser(
        prog="zhat",
        description="How strongly do the data support a model? Bayesian evidence with honest errors.",
        epilog=f"`zhat COMMAND --help` has examples.\n\n{EPILOG}",
    )
    commands = found.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return found


def _run(options: argparse.Namespace) -> Exit:
    try:
        code: Exit = options.run(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as head, has seen enough; the interpreter must not try to flush again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except ZhatError as error:
        say(f"zhat: {error}")
        return Exit.BAD_INPUT if isinstance(error, ValueError | TypeError) else Exit.FAILED
    except Exception as error:  # of the user's model, which may raise anything: shown whole, since its author needs the lines
        if isinstance(error, OSError) and not hasattr(error, "__notes__"):  # a file of ours; what a likelihood raises has a note
            say(f"zhat: {error}")
            return Exit.BAD_INPUT
        print(printable(traceback.format_exc()), file=sys.stderr)
        say("zhat: the run ended with the error above; if that is not your model's, it is ours.")
        return Exit.FAILED


def _leave(code: Exit) -> NoReturn:
    """End at once: a compilation that Ctrl-C broke off lives on in threads, and the interpreter's own way out crashes on them."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)
