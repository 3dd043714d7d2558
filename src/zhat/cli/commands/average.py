"""``zhat average``: a quantity averaged over models, each in proportion to its posterior probability."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Callable
from typing import Any

from zhat.cli.commands.compare import add_targets
from zhat.cli.exits import Exit, exit_of_comparison
from zhat.cli.finding import find_function, find_items
from zhat.cli.options import add_output, add_page, add_where, budget_from, method_from
from zhat.cli.parsing import command
from zhat.cli.terminal import comparison_text, one_line, say, show, table, width_of
from zhat.comparing.averaging import Average, average
from zhat.comparing.compare import compare
from zhat.comparing.comparison import Comparison
from zhat.report.page.page import check_path
from zhat.seeding import check_seed

EXAMPLES = (
    "zhat average --quantity slope models.py:linear models.py:quadratic",
    "zhat average --quantity models.py:forecast line=1.json curve=2.json",
)


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "average",
        "a quantity averaged over models",
        "Average a quantity over models by their posterior probabilities: mean, standard deviation, interval.",
        EXAMPLES,
    )
    add_targets(parser)
    add_where(parser, "models and repeats")
    parser.add_argument(
        "--quantity",
        required=True,
        metavar="NAME",
        help="a parameter of every model, or FILE.py:function of the parameters by name (arrays, one row per draw)",
    )
    parser.add_argument("--draws", type=int, default=10_000, metavar="N", help="draws pooled over the models")
    add_page(parser)
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Compare, average, print."""
    method, budget, seed = method_from(options.method), budget_from(options.budget), check_seed(options.seed)
    path = None if options.html is None else check_path(options.html)
    with contextlib.redirect_stdout(sys.stderr):
        quantity: str | Callable[..., Any] = options.quantity
        if ".py:" in options.quantity:
            quantity = find_function(options.quantity)
        items = find_items(options.targets)
        progress = False if options.quiet else None
        comparison = compare(
            items,
            method,
            prior=options.prior,
            seed=seed,
            repeats=options.repeats,
            progress=progress,
            budget=budget,
            executor=options.executor,
            workers=options.workers,
        )
        found = average(comparison, quantity, n_draws=options.draws, seed=seed)
    if options.json:
        print(json.dumps(plain(found, comparison, options.quantity, seed), indent=2, allow_nan=False))
    if not options.json or not options.quiet:
        stream = sys.stderr if options.json else sys.stdout
        show(comparison_text(comparison, False, width_of(stream)), stream)
        show(f"\n{_text(found, options.quantity, width_of(stream))}", stream)
    notes = [] if options.seed is not None else [f"seed {seed} was drawn: --seed {seed} repeats this."]
    if path is not None:
        page = comparison.report(path, question=options.question, averages={options.quantity: found})
        notes.append(f"report: {page}")
    if not options.quiet:
        for line in notes:
            say(one_line(line))
    return exit_of_comparison(comparison)


def plain(found: Average, comparison: Comparison, quantity: str, seed: int) -> dict[str, Any]:
    """The average as JSON values."""
    return {
        "format": "zhat average",
        "schema": 1,
        "quantity": quantity,
        "seed": seed,
        **found.to_dict(),
        "probabilities": {name: float(p) for name, p in zip(comparison.names, comparison.probabilities, strict=True)},
    }


def _text(found: Average, quantity: str, width: int | None) -> str:
    doubt = f"\nsuspect: {', '.join(found.suspects)}" if found.suspects else ""
    return table(*found.rows(quantity), width) + doubt
