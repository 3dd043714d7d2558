"""``evidentia compare``: models of files or of the zoo, or results kept as JSON, side by side."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import Any

from evidentia.cli.exits import Exit, exit_of_comparison
from evidentia.cli.finding import find_items
from evidentia.cli.options import add_method, add_output, add_run, add_where, budget_from, method_from
from evidentia.cli.parsing import command
from evidentia.cli.terminal import comparison_text, one_line, printable, say, show, width_of
from evidentia.compare import DECIDED, compare
from evidentia.estimate import evidence
from evidentia.methods._base import method_named
from evidentia.model import Model
from evidentia.report.page import check_path
from evidentia.result import Evidence
from evidentia.seeding import Key, check_seed
from evidentia.spread.executors import opened

EXAMPLES = (
    "evidentia compare models.py:linear models.py:quadratic --seed 1",
    "evidentia compare simple=run.json line=models.py:linear --json",
    "evidentia compare zoo:pima zoo:pima-age --check smc --html pima.html",
)


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "compare",
        "models, or kept results, side by side",
        "Compare models: log Bayes factors and posterior probabilities, with errors and a verdict.",
        EXAMPLES,
    )
    add_targets(parser)
    add_where(parser, "models and repeats")
    parser.add_argument("--until-decided", action="store_true", help="more runs where the decision is not clear")
    parser.add_argument(
        "--check", metavar="METHOD", help="a second opinion: run every model by this method as well, and say if they agree"
    )
    parser.add_argument(
        "--html", metavar="PATH", help="write one page that stands alone: answer, reasons, citations, how to repeat it"
    )
    parser.add_argument("--question", default="", metavar="TEXT", help="what is asked, as the page's first line")
    parser.add_argument("--explain", action="store_true", help="all pairs in words, and every reason for doubt")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="the table in Markdown")
    form.add_argument("--latex", action="store_true", help="the table in LaTeX")
    add_output(parser)
    parser.set_defaults(run=run)


def add_targets(parser: argparse.ArgumentParser) -> None:
    """What is compared and how it is run; also for other commands that begin with a comparison."""
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="[name=]TARGET",
        help="FILE.py[:name], zoo:ID, or a result kept by `estimate --save` (.json)",
    )
    add_method(parser, "for the models that are run")
    parser.add_argument("--prior", nargs="+", type=float, metavar="P", help="prior probabilities, in the same order")
    add_run(parser)


def run(options: argparse.Namespace) -> Exit:
    """Compare, print, write the page."""
    method = method_from(options.method)
    second = None if options.check is None else method_named(options.check)
    budget = budget_from(options.budget)
    path = None if options.html is None else check_path(options.html)
    seed = check_seed(options.seed)
    progress = False if options.quiet else None
    # What the models print is not the result.
    with contextlib.redirect_stdout(sys.stderr), opened(options.executor, options.workers) as where:
        items = find_items(options.targets)
        comparison = compare(
            items,
            method,
            prior=options.prior,
            seed=seed,
            repeats=options.repeats,
            until=DECIDED if options.until_decided else None,
            progress=progress,
            budget=budget,
            executor=where,
        )
        opinions: dict[str, Evidence] = {}
        for name, item in items.items() if second is not None else ():
            if isinstance(item, Model):
                other = int(Key(seed).child("second opinion", name).generator().integers(2**63))
                opinions[name] = evidence(item, second, seed=other, progress=progress, budget=budget, executor=where)
    _print(comparison, options)
    notes = [] if options.seed is not None else [f"seed {seed} was drawn: --seed {seed} repeats this."]
    notes += [f"second opinion on {name}: {opinion}" for name, opinion in opinions.items()]
    if path is not None:
        notes.append(f"report: {comparison.report(path, question=options.question, second_opinions=opinions)}")
    if not options.quiet:
        for line in notes:
            say(one_line(line))
    return exit_of_comparison(comparison)


def _print(comparison: Any, options: argparse.Namespace) -> None:
    other_form = options.json or options.markdown or options.latex
    if options.json:
        print(comparison.to_json())
    elif options.markdown:
        print(printable(comparison.to_markdown()))
    elif options.latex:
        print(printable(comparison.to_latex()))
    if not other_form or not options.quiet:
        stream = sys.stderr if other_form else sys.stdout
        show(comparison_text(comparison, options.explain, width_of(stream)), stream)
