"""``zhat reproduce friel-wyse``: the review's tables and figure remade, beside what it printed and beside the truth."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from zhat.cli.exits import Exit
from zhat.cli.parsing import command
from zhat.cli.terminal import say, show, table, width_of

# What a narrow terminal does without; the page and tables.md have everything.
SPARE = ("its spread", "spread", "ours true", "true", "reproduced", "with ours")


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "reproduce",
        "Friel & Wyse's review remade: Tables 1 to 4 and Figure 1, beside the printed numbers and the truth",
        "Run the review's experiments with its own settings and with ours, and write a page that compares them. What is finished "
        "is kept in the folder, so that a run that was stopped goes on where it was.",
        [
            "zhat reproduce friel-wyse --out friel-wyse --workers 2",
            "zhat reproduce friel-wyse --quick --table 2 --out look",
        ],
        exits=False,
    )
    parser.add_argument("name", choices=("friel-wyse",))
    parser.add_argument("--table", action="append", choices=("1", "2", "3", "4"), help="only this table; may be given again")
    parser.add_argument("--figure", action="append", choices=("1",), help="only this figure, which is drawn from Table 2's runs")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, the same code")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the same seed gives the same digits")
    parser.add_argument("--out", default="friel-wyse", metavar="FOLDER", help="where everything is written (friel-wyse)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="parts of the work at a time")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Run what is not finished, print the tables, write the page."""
    from zhat.studies.friel_wyse.page.layout import text_tables
    from zhat.studies.friel_wyse.page.output import write_all
    from zhat.studies.friel_wyse.settings import paper_settings, quick_settings
    from zhat.studies.friel_wyse.study import TABLES, reproduce

    settings = quick_settings() if options.quick else paper_settings()
    asked = set(options.table or ()) | ({"2"} if options.figure else set())
    tables = tuple(name for name in TABLES if name in asked) if asked else TABLES
    folder = Path(options.out)

    study = reproduce(settings, options.seed, folder, options.workers, tables, say)
    for name in tables:
        for title, header, rows in text_tables(name, study.of(name)):
            show(f"\n{title}")
            show(table(header, rows, width_of(sys.stdout), SPARE))
    show("")
    for path in write_all(study, folder):
        show(f"written: {path}")
    return Exit.OK
