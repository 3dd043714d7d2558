"""``zhat``: gathers the commands, one a file, and turns every outcome into a sentence and an exit code.

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
    crosscheck,
    demo,
    estimate,
    formula,
    methods,
    reproduce,
    schema,
    sensitivity,
    show,
    study,
)
from zhat.cli.exits import EPILOG, Exit
from zhat.cli.logs import logged, warnings_in_words
from zhat.cli.parsing import Parser
from zhat.cli.terminal import printable, say
from zhat.errors import ZhatError
from zhat.model.black_box import RAISED_BY_LIKELIHOOD
from zhat.results.storage import library_version

# In the order of the help.
COMMANDS = (
    estimate,
    crosscheck,
    compare,
    formula,
    average,
    sensitivity,
    show,
    cite,
    methods,
    demo,
    study,
    reproduce,
    schema,
    completion,
)


OUT_OF_MEMORY = (
    "zhat: memory has run out. Smaller sizes (n_draws, n_particles, n_live), fewer --workers or less data at a time need less."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # an encoding without ± replaces it instead of raising
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
        description="How strongly do the data support a model? Bayesian model evidence with standard errors and verdicts.",
        epilog=f"`zhat COMMAND --help` shows examples.\n\n{EPILOG}",
    )
    found.add_argument("--version", action="version", version=f"zhat {library_version()}")
    commands = found.add_subparsers(dest="command", metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return found


def _run(options: argparse.Namespace) -> Exit:
    try:
        with logged(getattr(options, "log", None)), warnings_in_words():
            code: Exit = options.run(options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader, such as head, has ended; the interpreter must not flush again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except ZhatError as error:
        say(f"zhat: {error}")
        return Exit.BAD_INPUT if isinstance(error, ValueError | TypeError) else Exit.FAILED
    except MemoryError as error:
        if hasattr(error, "__notes__"):
            say(f"zhat: {' '.join(error.__notes__)}")
        say(OUT_OF_MEMORY)
        return Exit.FAILED
    except Exception as error:  # most often of the user's model, which may raise anything: its author needs the traceback
        if isinstance(error, OSError) and not hasattr(
            error, "__notes__"
        ):  # one of our files; an error of a likelihood has a note
            say(f"zhat: {error}")
            return Exit.BAD_INPUT
        if "RESOURCE_EXHAUSTED" in str(error):  # of JAX
            say(OUT_OF_MEMORY)
            return Exit.FAILED
        return _say_error(error)


def _say_error(error: Exception) -> Exit:
    """The traceback; of an error of the user's likelihood only the part after our own calls."""
    of_likelihood = any(note.startswith(RAISED_BY_LIKELIHOOD) for note in getattr(error, "__notes__", ()))
    frames = error.__traceback__
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    while of_likelihood and frames is not None and frames.tb_frame.f_code.co_filename.startswith(ours):
        frames = frames.tb_next
    print(printable("".join(traceback.format_exception(type(error), error, frames))), file=sys.stderr)
    if of_likelihood:
        say("zhat: your log likelihood raised the error above, and the run ended; return -inf where the likelihood is zero.")
    else:
        say("zhat: the run ended with the error above; if it does not come from your model, please report it as a bug of zhat.")
    return Exit.FAILED


def _leave(code: Exit) -> NoReturn:
    """End at once: an interrupted compilation still runs in threads, and the interpreter's normal exit crashes on them."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)
