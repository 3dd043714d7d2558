"""``zhat study``: the methods on the small examples of Friel & Wyse (2012)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zhat.cli.exits import Exit
from zhat.cli.parsing import command
from zhat.cli.terminal import say, show, table, width_of

# Columns that a narrow terminal omits, the first first.
SPARE = (
    "reference",
    "its probability",
    "pseudo-likelihood",
    "parameters",
    "likelihoods",
    "its verdict",
    "in errors",
    "in s.e.",
    "models averaged",
    "seconds",
    "sd over splits",
    "best model",
    "off by",
)


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "study",
        "the methods on the small examples of Friel & Wyse (2012)",
        "Run the methods on the small examples of Friel & Wyse (2012), beside exact or published values.",
        [
            "zhat study running-example --out pictures",
            "zhat study table-1",
            "zhat study pima-splits",
            "zhat study ising --out pictures",
        ],
        exits=False,
    )
    parser.add_argument(
        "name",
        metavar="STUDY",
        choices=("running-example", "table-1", "bayes-factors", "pima-splits", "change-points", "ising", "smoother"),
        help="running-example: every method on one small model; table-1: the normal-gamma example under four priors; "
        "bayes-factors: the pine and Pima models by several methods (ten minutes); pima-splits: predictions of averaged models "
        "(minutes); change-points: how many and where, in three models; ising: evidences with exact and approximate partition functions "
        "(minutes); smoother: INLA on coal-mining disasters",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the same seed gives the same digits")
    parser.add_argument("--sample-seed", type=int, default=0, metavar="N", help="seed of the simulated sample of Table 1")
    parser.add_argument("--out", metavar="FOLDER", help="draw pictures into this folder")
    parser.add_argument("--splits", type=int, default=20, metavar="N", help="random splits of the Pima data")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Print the table, draw the pictures where a folder is given."""
    if options.name == "table-1":
        from zhat.studies import table_one

        cells = [row.cells() for row in table_one.run_table(options.seed, options.sample_seed)]
        _print(
            options, "Normal-gamma example, one simulated sample of 100: log evidence for four priors", table_one.HEADER, cells
        )
        return Exit.OK
    if options.name == "bayes-factors":
        from zhat.studies import bayes_factors

        cells = [row.cells() for row in bayes_factors.run_all(options.seed, say)]
        _print(options, "Bayes factors of Friel & Wyse (2012) by several methods", bayes_factors.HEADER, cells)
        return Exit.OK
    if options.name == "pima-splits":
        return _pima_splits(options)
    if options.name in ("change-points", "ising", "smoother"):
        return _fields(options)
    from zhat.studies import running_example

    study = running_example.run_all(options.seed)
    title = f"Running example of Friel & Wyse (2012): exact log evidence {study.exact:.8f}"
    _print(options, title, running_example.HEADER, study.rows)
    if options.out:
        for path in running_example.draw(study, Path(options.out)):
            print(f"drawn: {path}", file=sys.stderr if options.json else sys.stdout)
    return Exit.OK


def _fields(options: argparse.Namespace) -> Exit:
    """The studies of section 3.7 of Friel & Wyse (2012)."""
    from zhat.studies import change_points, ising, smoother

    found: Any
    study: Any
    if options.name == "change-points":
        study, found, title = change_points, change_points.run_all(), "Change points, after Wyse, Friel & Rue (2011)"
    elif options.name == "ising":
        study, found, title = ising, ising.run_all(options.seed, say), "Log evidences of Ising models by partition function"
    else:
        study, found, title = smoother, smoother.run_all(options.seed), "Latent Gaussian models by INLA"
    _print(options, title, study.HEADER, found.rows)
    if options.out:
        for path in study.draw(found, Path(options.out)):
            print(f"drawn: {path}", file=sys.stderr if options.json else sys.stdout)
    return Exit.OK


def _pima_splits(options: argparse.Namespace) -> Exit:
    from zhat.studies import pima_splits

    found = pima_splits.run_splits(options.seed, options.splits, say)
    title = f"Pima data: log score of {found.n_held_out} held-out cases over {options.splits} random splits"
    _print(options, title, pima_splits.HEADER, found.rows)
    stream = sys.stderr if options.json else sys.stdout
    show(found.sentence, stream)
    if options.out:
        for path in pima_splits.draw(found, Path(options.out)):
            print(f"drawn: {path}", file=stream)
    return Exit.OK


def _print(options: argparse.Namespace, title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if options.json:
        print(
            json.dumps(
                {"study": options.name, "title": title, "header": list(header), "rows": [list(row) for row in rows]}, indent=2
            )
        )
        return
    show(title)
    show(table(header, rows, width_of(sys.stdout), SPARE))
