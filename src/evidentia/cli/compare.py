"""``evidentia compare``: models of files or of the zoo, or results kept as JSON, side by side."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path

from evidentia.cli.estimate import method_from
from evidentia.cli.exits import Exit
from evidentia.cli.finding import find_model
from evidentia.cli.terminal import printable
from evidentia.compare import DECIDED, compare
from evidentia.comparison import Comparison
from evidentia.errors import BadInput
from evidentia.model import Model
from evidentia.result import Evidence


def run(options: argparse.Namespace) -> Exit:
    """Compare, print."""
    method = method_from(options.method)
    with contextlib.redirect_stdout(sys.stderr):  # what the models print is not the result
        comparison = compare(
            items_from(options.targets),
            method,
            prior=options.prior,
            seed=options.seed,
            repeats=options.repeats,
            until=DECIDED if options.until_decided else None,
            progress=False if options.quiet else None,
        )
    text = printable(comparison.explain() if options.explain else str(comparison))
    if options.json:
        print(comparison.to_json())
    elif options.markdown:
        print(printable(comparison.to_markdown()))
    elif options.latex:
        print(printable(comparison.to_latex()))
    else:
        print(text)
    if (options.json or options.markdown or options.latex) and not options.quiet:
        print(text, file=sys.stderr)
    return exit_of(comparison)


def items_from(targets: list[str]) -> dict[str, Model | Evidence]:
    """What each word names, by the name it will have in the table: ``name=TARGET``, or the model's own."""
    items: dict[str, Model | Evidence] = {}
    for word in targets:
        name, equals, target = word.partition("=")
        if not equals or not name or Path(word).is_file():
            name, target = "", word
        item = Evidence.load(target) if target.endswith(".json") else find_model(target).model
        label = name or (item.model if isinstance(item, Evidence) else item.name)
        if label in items:
            raise BadInput(f"{word!r}: there is a model called {label!r} already; name it anew, as in other={target}.")
        items[label] = item
    return items


def exit_of(comparison: Comparison) -> Exit:
    """0 when it is decided and every evidence is ok."""
    return Exit.OK if comparison.decided and not comparison.suspects else Exit.SUSPECT
