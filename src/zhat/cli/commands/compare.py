"""``zhat compare``: models of files or of the zoo, or results kept as JSON, side by side."""

from __future__ import annotations

import argparse
import contextlib
import sys
from typing import Any

from zhat.cli.exits import Exit, exit_of_comparison
from zhat.cli.finding import find_items
from zhat.cli.options import (
    add_method,
    add_output,
    add_page,
    add_run,
    add_vary,
    add_where,
    budget_from,
    method_from,
    values_from,
)
from zhat.cli.parsing import command
from zhat.cli.terminal import comparison_text, one_line, printable, say, show, width_of
from zhat.comparing.compare import DECIDED, compare
from zhat.comparing.sensitivity import sensitivity
from zhat.errors import BadInput
from zhat.methods._base import method_named
from zhat.model.model import Model
from zhat.report.page.page import check_path
from zhat.report.page.words import agreement, disagree
from zhat.results.estimate import Evidence
from zhat.run.distribution.executors import opened
from zhat.run.estimate import evidence
from zhat.seeding import Key, check_seed

EXAMPLES = (
    "zhat compare models.py:linear models.py:quadratic --seed 1",
    "zhat compare simple=run.json line=models.py:linear --json",
    "zhat compare zoo:pima zoo:pima-age --check smc --html pima.html",
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
    add_page(parser)
    add_vary(parser, "on the page, how the evidence moves with this entry of the models' `hyper`", required=False)
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
    values = _values(options)
    seed = check_seed(options.seed)
    progress = False if options.quiet else None
    # What the models print is not the result.
    with contextlib.redirect_stdout(sys.stderr), opened(options.executor, options.workers) as where:
        items = find_items(options.targets)
        if values and not any(isinstance(item, Model) and options.vary in item.hyper for item in items.values()):
            raise BadInput(f"--vary {options.vary}: no model that is run here has a hyperparameter of this name.")
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
        models = {name: item for name, item in items.items() if isinstance(item, Model)}
        opinions: dict[str, Evidence] = {}
        for name, model in models.items() if second is not None else ():
            own = _seed(seed, "second opinion", name)
            opinions[name] = evidence(model, second, seed=own, progress=progress, budget=budget, executor=where)
        curves = []
        for name, model in models.items() if values else ():
            if options.vary in model.hyper:
                own = _seed(seed, "sensitivity of", name)
                curves.append(sensitivity(model, options.vary, values, method, seed=own, progress=progress))
    _print(comparison, options)
    notes = [] if options.seed is not None else [f"seed {seed} was drawn: --seed {seed} repeats this."]
    firsts = comparison.evidences
    notes += [f"second opinion on {name}: {agreement(firsts[name], opinion)}" for name, opinion in opinions.items()]
    if path is not None:
        page = comparison.report(path, question=options.question, second_opinions=opinions, sensitivity=curves)
        notes.append(f"report: {page}")
    if not options.quiet:
        for line in notes:
            say(one_line(line))
    if any(disagree(firsts[name], opinion) for name, opinion in opinions.items()):
        return Exit.SUSPECT
    return exit_of_comparison(comparison)


def _values(options: argparse.Namespace) -> list[float]:
    """Where the page's curves of sensitivity are wanted; none if it has none."""
    if options.vary is None:
        return []
    if options.html is None:
        raise BadInput("--vary draws curves on the page: give --html too, or use `zhat sensitivity`.")
    if options.values is None and options.range is None:
        raise BadInput(f"--vary {options.vary}: over which values? Give --values V ... or --range LOW HIGH.")
    return values_from(options)


def _seed(seed: int, purpose: str, name: str) -> int:
    return int(Key(seed).child(purpose, name).generator().integers(2**63))


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
