"""``zhat compare``: models of files or of the zoo, or kept results, side by side."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import Any

from zhat.cli.exits import Exit, exit_of_comparison
from zhat.cli.finding import find_items
from zhat.cli.options import (
    add_draws_by_model,
    add_endurance,
    add_method,
    add_output,
    add_page,
    add_run,
    add_vary,
    add_where,
    budget_from,
    draws_by_model,
    method_from,
    values_from,
)
from zhat.cli.parsing import command
from zhat.cli.terminal import comparison_text, one_line, printable, say, show, width_of
from zhat.comparing.compare import DECIDED, compare
from zhat.errors import BadInput
from zhat.report.page.page import check_path
from zhat.results.estimate import Evidence
from zhat.seeding import check_seed

EXAMPLES = (
    "zhat compare models.py:linear models.py:quadratic --seed 1",
    "zhat compare simple=run.json line=models.py:linear --json",
    "zhat compare zoo:pima zoo:pima-age --check smc --html pima.html",
    "zhat compare a=a.py b=b.py --draws a=a.nc --draws b=b_1.csv b_2.csv",
)


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "compare",
        "models, or kept results, side by side",
        "Compare models: log Bayes factors and posterior probabilities, with standard errors and a verdict.",
        EXAMPLES,
    )
    add_targets(parser)
    add_draws_by_model(parser)
    add_where(parser, "models and repeats")
    add_endurance(parser)
    parser.add_argument("--until-decided", action="store_true", help="more runs of the models that are tied within the error")
    parser.add_argument("--check", metavar="METHOD", help="a second opinion: estimate every model by this method as well")
    add_page(parser)
    add_vary(parser, "log evidence over this hyperparameter, an entry of every model's `hyper`", required=False)
    parser.add_argument(
        "--explain", action="store_true", help="all pairs in words, second opinions, and the reason of every verdict"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="the table in Markdown")
    form.add_argument("--latex", action="store_true", help="the table in LaTeX")
    add_output(parser)
    parser.set_defaults(run=run)


def add_targets(parser: argparse.ArgumentParser) -> None:
    """The models and how they are run; shared by commands that begin with a comparison."""
    parser.add_argument(
        "targets",
        nargs="+",
        metavar="[name=]TARGET",
        help="FILE.py[:name], zoo:ID, or a result kept by `estimate --save` (.json)",
    )
    add_method(parser, "the method for the models that are run, and its settings")
    parser.add_argument("--prior", nargs="+", type=float, metavar="P", help="prior probabilities, in the same order")
    add_run(parser)


def run(options: argparse.Namespace) -> Exit:
    """Compare, print, write the page."""
    path = None if options.html is None else check_path(options.html)
    seed = check_seed(options.seed)
    settings = {
        "method": method_from(options.method),
        "prior": options.prior,
        "seed": None if options.checkpoint is not None and options.seed is None else seed,  # that of the checkpoint
        "repeats": options.repeats,
        "precision": options.precision,
        "until": DECIDED if options.until_decided else None,
        "check": options.check,
        "vary": _vary(options),
        "progress": False if options.quiet else None,
        "budget": budget_from(options.budget),
        "executor": options.executor,
        "workers": options.workers,
        "checkpoint": options.checkpoint,
    }
    with contextlib.redirect_stdout(sys.stderr):  # what the models print is not the result
        comparison = compare(_with_draws(find_items(options.targets), options.draws), **settings)
    print_comparison(comparison, options)
    notes = (
        []
        if options.seed is not None or options.checkpoint is not None
        else [f"seed {seed} was drawn: --seed {seed} repeats this."]
    )
    notes += [f"second opinion on {name}: {agreement}" for name, agreement in comparison.agreements.items()]
    notes += [f"{curve.model}: {curve.sentence}." for curve in comparison.curves]
    if path is not None:
        notes.append(f"report: {comparison.report(path, question=options.question)}")
    if not options.quiet:
        for line in notes:
            say(one_line(line))
    return exit_of_comparison(comparison)


def _with_draws(items: dict[str, Any], words: list[list[str]] | None) -> dict[str, Any]:
    """The models, those with draws as (model, draws)."""
    draws = draws_by_model(words, items)
    for name in draws:
        if isinstance(items[name], Evidence):
            raise BadInput(f"--draws {name}=...: {name!r} is a kept result; give the model itself, FILE.py[:name] or zoo:ID.")
    return {name: (item, draws[name]) if name in draws else item for name, item in items.items()}


def _vary(options: argparse.Namespace) -> dict[str, list[float]] | None:
    if options.vary is None:
        return None
    if options.values is None and options.range is None:
        raise BadInput(f"--vary {options.vary}: over which values? Give --values V ... or --range START STOP N.")
    return {options.vary: values_from(options)}


def print_comparison(comparison: Any, options: argparse.Namespace) -> None:
    """The comparison in the form that the options ask for."""
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
