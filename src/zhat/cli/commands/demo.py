"""``zhat demo``: two models of radiata pine and two of the Pima data, beside their exact evidences, and a report of each."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from zhat.cli.exits import Exit, exit_of
from zhat.cli.parsing import command
from zhat.cli.terminal import show
from zhat.report.page.page import check_path
from zhat.studies.demo import compare_pima, compare_pine


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "demo",
        "compare models whose evidence is known, and write a report of each comparison",
        "Compare the two radiata pine models and the two Pima models of Friel & Wyse (2012), whose evidences are known, and write "
        "a report of each comparison.",
        ["zhat demo --out reports"],
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the same seed gives the same digits")
    parser.add_argument("--out", metavar="FOLDER", help="where to write pine.html and pima.html; without it no page is written")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Print both comparisons, write the pages."""
    folder = None
    if options.out is not None:
        folder = Path(options.out)
        folder.mkdir(parents=True, exist_ok=True)
        check_path(folder / "pine.html")
    worst, comparisons, pages = Exit.OK, {}, []
    for name, demonstrate in (("pine", compare_pine), ("pima", compare_pima)):
        demonstration = demonstrate(options.seed, second_opinion=folder is not None)
        comparisons[name] = json.loads(demonstration.comparison.to_json())
        if not options.json:
            show(demonstration.text + "\n")
        if folder is not None:
            pages.append(str(demonstration.report(folder / f"{name}.html")))
        worst = max(worst, *(exit_of(result) for result in demonstration.evidences))
    if options.json:
        print(json.dumps({"comparisons": comparisons, "reports": pages}, indent=2))
    elif pages:
        show("Checks, citations and how to repeat the runs are in these pages:")
        for page in pages:
            show(f"  {page}")
    return worst
