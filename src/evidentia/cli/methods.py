"""``evidentia methods``: the registry as a table, for a terminal or for the documentation."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from evidentia.cli.exits import Exit
from evidentia.cli.terminal import table
from evidentia.errors import BadInput
from evidentia.methods._base import Method, registry

BEGIN = "<!-- table of `evidentia methods --markdown` -->"
END = "<!-- end of table -->"


def run(options: argparse.Namespace) -> Exit:
    """Print the table, or put it into files."""
    for name in options.into:
        replace_table(Path(name))
    if options.markdown:
        print(markdown_table())
    elif not options.into:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        rows = [(method.name, _needs(method), method.when) for method in registry().values()]
        print(table(("method", "needs", "use it when"), rows, width))
    return Exit.OK


def markdown_table() -> str:
    """The table in the documentation."""
    lines = ["| method | on the command line | needs | use it when |", "|---|---|---|---|"]
    for method in registry().values():
        when = method.when.replace("|", "\\|")
        lines.append(f"| `{method.__name__}` | `{method.name}` | {_needs(method)} | {when} |")
    return "\n".join(lines)


def replace_table(path: Path) -> None:
    """Put the table between the two markers of a Markdown file."""
    text = path.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise BadInput(f"--into {path}: the table goes between two lines, {BEGIN} and {END}, which it does not have.")
    path.write_text(f"{before}{BEGIN}\n\n{markdown_table()}\n\n{END}{after}", encoding="utf-8")


def _needs(method: type[Method]) -> str:
    return ", ".join(sorted(need.value for need in method.needs))
