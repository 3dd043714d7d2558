"""``zhat crosscheck``: what several families of methods say about one evidence, and one verdict."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from typing import Any

from zhat.cli.exits import Exit, exit_of
from zhat.cli.finding import find_model
from zhat.cli.options import add_draws, add_endurance, add_output, add_where, budget_from, draws_from
from zhat.cli.parsing import command
from zhat.cli.terminal import one_line, say, show
from zhat.report.page.whole import check_path
from zhat.run.crosscheck import crosscheck


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "crosscheck",
        "what several families of methods say about one evidence, and one verdict",
        "Run methods that start from different ends (modes, tempering, likelihood thresholds, posterior chains) until the verdict on "
        "the log evidence is clear.",
        [
            "zhat crosscheck model.py",
            "zhat crosscheck zoo:S1-d5 --seed 1 --json",
            "zhat crosscheck model.py --draws fit.nc --html crosscheck.html",
        ],
    )
    parser.add_argument("target", metavar="FILE[:name]", help="a Python file that defines a Model, or zoo:ID")
    add_draws(parser)
    parser.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same digits")
    parser.add_argument(
        "--budget", metavar="LIMIT", action="append", default=[], help="for all runs together: evaluations (1e6) or time (10m)"
    )
    add_where(parser, "the runs")
    add_endurance(parser)
    parser.add_argument(
        "--html", metavar="PATH", help="write a report, one self-contained page: verdict, table, reasons, citations"
    )
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Run, print."""
    budget = budget_from(options.budget)
    page = None if options.html is None else check_path(options.html)
    with contextlib.redirect_stdout(sys.stderr):  # what the model prints is not the result
        found = find_model(options.target)
        result = crosscheck(
            found.model,
            draws=draws_from(options.draws),
            seed=options.seed,
            progress=False if options.quiet else None,
            budget=budget,
            executor=options.executor,
            workers=options.workers,
            checkpoint=options.checkpoint,
        )
    if options.json:
        sys.stdout.write(json.dumps(result.to_dict(), indent=2) + "\n")
    if not options.json or not options.quiet:
        show(result.explain(), sys.stderr if options.json else sys.stdout)
    if page is not None:
        result.report(page)
        if not options.quiet:
            say(f"  {one_line(f'report written to {page}.')}")
    if options.seed is None and not options.quiet:
        say(f"  {one_line(f'seed {result.evidence.seed} was drawn: --seed {result.evidence.seed} repeats this run.')}")
    return exit_of(result.evidence)
