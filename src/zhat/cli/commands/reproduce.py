"""``zhat reproduce friel-wyse``: the tables and figure of Friel & Wyse (2012), beside the printed and the exact numbers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from zhat.cli.exits import Exit
from zhat.cli.parsing import command
from zhat.cli.terminal import say, show, table, width_of

# Columns that a narrow terminal omits, the first first; the page and tables.md have all.
SPARE = ("its spread", "spread", "ours true", "true", "reproduced", "with ours")


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "reproduce",
        "Tables 1 to 4 and Figure 1 of Friel & Wyse (2012), beside the printed and the exact numbers",
        "Run the experiments of Friel & Wyse (2012) with their settings and with ours, and write a page that compares them. "
        "Finished parts are kept in the folder, so that an interrupted run continues from there.",
        [
            "zhat reproduce friel-wyse --out friel-wyse --workers 2",
            "zhat reproduce friel-wyse --quick --table 2 --out look",
        ],
        exits=False,
    )
    parser.add_argument("name", choices=("friel-wyse",))
    parser.add_argument("--table", action="append", choices=("1", "2", "3", "4"), help="only this table; may be given again")
    parser.add_argument("--figure", action="append", choices=("1",), help="only this figure, drawn from the runs of Table 2")
    parser.add_argument("--quick", action="store_true", help="a tenth of the work, the same code")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the same seed gives the same digits")
    parser.add_argument("--out", default="friel-wyse", metavar="FOLDER", help="the folder of all output (friel-wyse)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="parts of the work that run at the same time")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Run the unfinished parts, print the tables, write the page."""
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
