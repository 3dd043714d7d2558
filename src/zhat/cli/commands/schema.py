"""``zhat schema``: the JSON Schema of a command's ``--json`` output."""

from __future__ import annotations

import argparse
import json
from importlib import resources
from typing import Any

from zhat.cli.exits import Exit
from zhat.cli.parsing import command

# Which file describes what a command prints with --json.
SCHEMAS = {
    "estimate": "evidence",
    "crosscheck": "crosscheck",
    "show": "evidence",
    "compare": "comparison",
    "formula": "comparison",
    "average": "average",
    "sensitivity": "sensitivity",
    "methods": "methods",
    "cite": "citations",
    "demo": "demo",
    "study": "study",
}


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "schema",
        "the form of a command's --json, as JSON Schema",
        "Print the JSON Schema (draft 2020-12) of what a command prints with --json.",
        ["zhat schema compare"],
        exits=False,
    )
    parser.add_argument("of", metavar="COMMAND", choices=sorted(SCHEMAS), help=", ".join(sorted(SCHEMAS)))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Print it."""
    print(json.dumps(schema_of(options.of), indent=2))
    return Exit.OK


def schema_of(name: str) -> dict[str, Any]:
    """The schema of a command's output."""
    return _read(SCHEMAS[name])


def _read(name: str) -> dict[str, Any]:
    text = resources.files("zhat").joinpath("cli", "schemas", f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    for other in found.get("$defs", {}):  # a file names the schemas that it contains; each is written once, in its own file
        found["$defs"][other] = _read(other)
    return found
