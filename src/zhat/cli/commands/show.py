"""``zhat show``: a kept result: the number, the verdict, the diagnostics in words, settings and cost."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from zhat.cli.exits import Exit, exit_of
from zhat.cli.parsing import command
from zhat.cli.terminal import one_line, printable, show
from zhat.report.described import described
from zhat.report.page.recipe import command_line
from zhat.results.estimate import Evidence
from zhat.results.storage import json_of


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "show",
        "a kept result, explained",
        "Show a kept result: the number, the verdict and its reasons, diagnostics, settings, cost, how to repeat it.",
        ["zhat show run.json", "zhat show run.json --json"],
    )
    parser.add_argument("result", metavar="RESULT", help="a .json file of `estimate --save`")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout, as `estimate --json` prints it")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Load and explain; the exit code is that of the run's verdict."""
    result = Evidence.load(options.result)
    if options.json:
        sys.stdout.write(json_of(result))
    else:
        show(described(result))
        print(f"\nagain: {printable(command_line(result))}")  # not folded, so that it can be copied
        show(f"citations: zhat cite {one_line(options.result)}")
    return exit_of(result)
