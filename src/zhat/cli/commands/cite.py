"""``zhat cite``: the references of kept results, or of methods, as BibTeX."""

from __future__ import annotations

import argparse
import json
from typing import Any

from zhat.citations import bibtex
from zhat.cli.exits import Exit
from zhat.cli.parsing import command
from zhat.cli.terminal import printable
from zhat.methods._base import method_named, registry
from zhat.results.estimate import Evidence


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "cite",
        "the references of a result or a method, as BibTeX",
        "BibTeX entries of the publications behind a result or a method.",
        ["zhat cite run.json > references.bib", "zhat cite smc nested"],
    )
    parser.add_argument("results", nargs="+", metavar="RESULT", help="a .json file of `estimate --save`, or a method's name")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Print the entries, each once."""
    keys: list[str] = []
    for word in options.results:
        if word in registry() or not word.endswith(".json"):
            keys += type(method_named(word)).cites
        else:
            keys += Evidence.load(word).cites
    keys = list(dict.fromkeys(keys))
    text = bibtex(keys)
    print(json.dumps({"cites": keys, "bibtex": text}, indent=2) if options.json else printable(text))
    return Exit.OK
