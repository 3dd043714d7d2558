"""``evidentia study``: what the library shows of itself on the review's small examples."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evidentia.cli.exits import Exit
from evidentia.cli.options import command
from evidentia.cli.terminal import show, table


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "study",
        "every method on the review's running example, or the review's Table 1",
        "What the library shows of itself on the small examples of Friel & Wyse's review.",
        ["evidentia study running-example --out pictures", "evidentia study table-1"],
        exits=False,
    )
    parser.add_argument("name", choices=("running-example", "table-1"))
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--sample-seed", type=int, default=0, metavar="N", help="of the simulated sample of Table 1")
    parser.add_argument("--out", metavar="FOLDER", help="draw the records of the running example into this folder")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Print the table, draw the pictures if a folder was named."""
    if options.name == "table-1":
        from evidentia.studies import table_one

        cells = [row.cells() for row in table_one.run_table(options.seed, options.sample_seed)]
        _print(
            options, "Normal-gamma example, one simulated sample of 100: log evidence for four priors", table_one.HEADER, cells
        )
        return Exit.OK
    from evidentia.studies import running_example

    study = running_example.run_all(options.seed)
    title = f"Running example of the review: exact log evidence {study.exact:.8f}"
    _print(options, title, running_example.HEADER, study.rows)
    if options.out:
        for path in running_example.draw(study, Path(options.out)):
            print(f"drawn: {path}", file=sys.stderr if options.json else sys.stdout)
    return Exit.OK


def _print(options: argparse.Namespace, title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if options.json:
        print(
            json.dumps(
                {"study": options.name, "title": title, "header": list(header), "rows": [list(row) for row in rows]}, indent=2
            )
        )
        return
    print(title)
    show(table(header, rows))
