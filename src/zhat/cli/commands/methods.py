"""``zhat methods``: the methods, or the codes of verdicts, as a table for a terminal or for the documentation."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from zhat.cli.exits import Exit
from zhat.cli.parsing import command
from zhat.cli.terminal import table, width_of
from zhat.errors import BadInput
from zhat.methods._base import Method, registry
from zhat.results.codes import TABLE

BEGIN = "<!-- table of `zhat methods --markdown` -->"
BEGIN_CODES = "<!-- table of verdict codes -->"
END = "<!-- end of table -->"


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "methods",
        "the methods: what each needs, and when to use it",
        "The methods: what each needs of a model, and when to use it.",
        exits=False,
    )
    parser.add_argument("--markdown", action="store_true", help="the table in Markdown, as in the documentation")
    parser.add_argument(
        "--into", nargs="+", default=[], metavar="FILE", help="write that table between the markers of these files"
    )
    parser.add_argument(
        "--codes", action="store_true", help="the codes of verdicts instead: which method raises each, what to do"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Print the table, or put it into files."""
    begin, markdown = (BEGIN_CODES, markdown_codes) if options.codes else (BEGIN, markdown_table)
    for name in options.into:
        replace_table(Path(name), begin, markdown)
    if options.json and options.codes:
        print(json.dumps({"codes": [asdict(code) for code in TABLE]}, indent=2))
    elif options.json:
        print(json.dumps({"methods": [plain(method) for method in registry().values()]}, indent=2))
    elif options.markdown:
        print(markdown())
    elif options.codes and not options.into:
        codes = [(code.name, code.raised_by, f"{code.meaning}; to do: {code.remedy}".replace("`", "")) for code in TABLE]
        print(table(("code", "raised by", "meaning, and what to do"), codes, width_of(sys.stdout), spare=("raised by",)))
    elif not options.into:
        rows = [(method.name, _needs(method), method.when) for method in registry().values()]
        print(table(("method", "needs", "use it when"), rows, width_of(sys.stdout), spare=("needs",)))
    return Exit.OK


def plain(method: type[Method]) -> dict[str, Any]:
    """A method as JSON values."""
    settings = [field.name for field in fields(method) if field.init]
    return {
        "name": method.name,
        "class": method.__name__,
        "needs": sorted(need.value for need in method.needs),
        "when": method.when,
        "cites": list(method.cites),
        "settings": settings,
    }


def markdown_table() -> str:
    """The table in the documentation."""
    lines = ["| method | on the command line | needs | use it when |", "|---|---|---|---|"]
    for method in registry().values():
        when = method.when.replace("|", "\\|")
        lines.append(f"| `{method.__name__}` | `{method.name}` | {_needs(method)} | {when} |")
    return "\n".join(lines)


def markdown_codes() -> str:
    """The table of verdict codes in the documentation."""
    lines = ["| code | level | raised by | what it means | what to do |", "|---|---|---|---|---|"]
    for code in TABLE:
        cells = (f"`{code.name}`", ", ".join(code.levels), code.raised_by, code.meaning, code.remedy)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def replace_table(path: Path, begin: str = BEGIN, markdown: Callable[[], str] = markdown_table) -> None:
    """Put a table between its two markers in a Markdown file."""
    text = path.read_text(encoding="utf-8")
    before, found, rest = text.partition(begin)
    _, end, after = rest.partition(END)
    if not found or not end:
        raise BadInput(f"--into {path}: the table is written between two lines, {begin} and {END}; the file lacks them.")
    path.write_text(f"{before}{begin}\n\n{markdown()}\n\n{END}{after}", encoding="utf-8")


def _needs(method: type[Method]) -> str:
    return ", ".join(sorted(need.value for need in method.needs))
