"""Reading arguments: help that fits the terminal, and errors that name their command."""

from __future__ import annotations

import argparse
import difflib
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from zhat.cli.exits import EPILOG, Exit
from zhat.cli.terminal import say


class Help(argparse.HelpFormatter):
    """Folds paragraphs; lines that begin with a space, such as examples, stay as they are written."""

    def add_argument(self, action: argparse.Action) -> None:
        """Count the indent of command names, which argparse forgets: it would break the line after the longest name."""
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            longest = max(len(name) for name in action.choices) + 2 * self._indent_increment
            self._action_max_length = max(self._action_max_length, longest)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.splitlines()
        return "\n".join(line if line.startswith(" ") or not line else textwrap.fill(line, width) for line in lines)


class Parser(argparse.ArgumentParser):
    """Refuses with a sentence that fits the terminal, and suggests the nearest option."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"formatter_class": Help, **settings})

    def error(self, message: str) -> NoReturn:
        """Usage, the sentence, and the code for bad input."""
        self.print_usage(sys.stderr)
        say(f"{self.prog}: {message}")
        sys.exit(int(Exit.BAD_INPUT))

    def refuse(self, words: Sequence[str]) -> NoReturn:
        """Refuse words that are no arguments of this command."""
        known = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
        near = [match for word in words for match in difflib.get_close_matches(word.partition("=")[0], known, n=1)]
        hint = f" Did you mean {' and '.join(dict.fromkeys(near))}?" if near else ""
        self.error(f"unknown arguments: {' '.join(words)}.{hint}")


def command(
    commands: Any, name: str, help: str, description: str, examples: Sequence[str] = (), exits: bool = True
) -> argparse.ArgumentParser:
    """A parser for one command: description, options, examples, exit codes."""
    shown = "".join(f"  {line}\n" for line in examples)
    epilog = (f"examples:\n{shown}\n" if shown else "") + (EPILOG if exits else "")
    parser: Parser = commands.add_parser(name, help=help, description=description, epilog=epilog)
    parser.set_defaults(parser=parser)
    return parser
