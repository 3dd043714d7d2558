"""``zhat show``: a kept result, read back: the line, the reasons, the diagnostics in words, settings and cost."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import Any

from zhat.cli.exits import Exit, exit_of
from zhat.cli.parsing import command
from zhat.cli.terminal import one_line, printable, show
from zhat.formatting import with_error
from zhat.report.page.recipe import command_line, written
from zhat.report.page.words import why_trust
from zhat.results.codec import to_plain
from zhat.results.estimate import Evidence
from zhat.results.storage import document


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "show",
        "a kept result, explained",
        "Show a result that was kept: the number, the verdict and why, diagnostics, settings, cost, how to repeat it.",
        ["zhat show run.json", "zhat show run.json --json"],
    )
    parser.add_argument("result", metavar="RESULT", help="a .json file of `estimate --save`")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout, as `estimate --json` prints it")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Load and explain; the exit code tells the verdict, as when it was run."""
    result = Evidence.load(options.result)
    if options.json:
        plain, _ = to_plain(replace(result, record=None))
        sys.stdout.write(document(plain))
    else:
        show(described(result))
        print(f"\nagain: {printable(command_line(result))}")  # not folded, so that it can be copied
        show(f"whom to cite: zhat cite {one_line(options.result)}")
    return exit_of(result)


def described(result: Evidence) -> str:
    """All that a result says of itself."""
    lines = [
        result.explain(),
        "",
        f"model     {result.model}, {result.n_dimensions} parameters, data {result.data_id or 'its own'}",
    ]
    lines.append(f"settings  {written(result.settings)}")
    lines.append(f"versions  {', '.join(f'{name} {number}' for name, number in result.versions.items())}")
    lines += ["", *why_trust(result)]
    if len(result.repeats) > 1:
        shown = [with_error(run.log_evidence, run.log_evidence_se) for run in result.repeats]
        lines += ["", "runs: " + ", ".join(shown)]
    return "\n".join(lines)
