"""``zhat completion``: a script by which the shell completes commands, options, methods and zoo models.

The script is generated from the parser; the program does not run while the user types.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from zhat.cli.exits import Exit
from zhat.cli.finding import SHORT
from zhat.cli.parsing import command
from zhat.methods._base import registry
from zhat.zoo import catalogue

HOW = {
    "bash": '# bash: put this line into ~/.bashrc:  eval "$(zhat completion bash)"',
    "zsh": '# zsh: put this line into ~/.zshrc:  eval "$(zhat completion zsh)"',
    "fish": "# fish: zhat completion fish > ~/.config/fish/completions/zhat.fish",
}


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "completion",
        "a script for the shell's completion",
        "Print a script that completes commands, options, methods and zoo models.",
        ['eval "$(zhat completion bash)"'],
        exits=False,
    )
    parser.add_argument("shell", choices=sorted(HOW))
    parser.set_defaults(run=run, parsers=commands.choices)  # a view, complete by the time it is read


def run(options: argparse.Namespace) -> Exit:
    """Print the script."""
    words = options_of(options.parsers)
    print(HOW[options.shell])
    print(_fish(words) if options.shell == "fish" else _bash(words, options.shell))
    return Exit.OK


def options_of(parsers: Mapping[str, argparse.ArgumentParser]) -> dict[str, list[str]]:
    """Every command with its long options and the choices of its positional arguments."""
    found: dict[str, list[str]] = {}
    for name, sub in parsers.items():
        words = [option for action in sub._actions for option in action.option_strings if option.startswith("--")]
        words += [str(choice) for action in sub._actions if not action.option_strings for choice in action.choices or ()]
        found[name] = words
    return found


def _zoo() -> str:
    return " ".join(f"zoo:{id_}" for id_ in (*SHORT, *catalogue()))


def _bash(words: dict[str, list[str]], shell: str) -> str:
    cases = "\n".join(f"    {name}) words='{' '.join(found)}' ;;" for name, found in words.items())
    begin = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    # bash splits words at colons, so the part before the last colon is removed from the completions.
    return f"""{begin}_zhat() {{
  local line="${{COMP_LINE:0:COMP_POINT}}" now before words
  now="${{line##* }}"
  before="${{line% *}}"; before="${{before##* }}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{" ".join(words)} --help' -- "$now"))
    return
  fi
  case "$before" in
    --method|--check) COMPREPLY=($(compgen -W '{" ".join(registry())}' -- "$now")); return ;;
  esac
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "$now" in
    -*) COMPREPLY=($(compgen -W "$words" -- "$now")) ;;
    zoo:*|*=zoo:*)
      COMPREPLY=($(compgen -W '{_zoo()}' -- "${{now#*=}}"))
      case "$COMP_WORDBREAKS" in *:*) COMPREPLY=("${{COMPREPLY[@]#zoo:}}") ;; esac ;;
    *) COMPREPLY=($(compgen -W "$words" -- "$now") $(compgen -f -- "$now")) ;;
  esac
}}
complete -o filenames -o bashdefault -F _zhat zhat"""


def _fish(words: dict[str, list[str]]) -> str:
    lines = [f"complete -c zhat -n __fish_use_subcommand -f -a '{' '.join(words)}'"]
    for name, found in words.items():
        at = f"-n '__fish_seen_subcommand_from {name}'"
        for word in found:
            if word.startswith("--"):
                values = f" -x -a '{' '.join(registry())}'" if word in ("--method", "--check") else ""
                lines.append(f"complete -c zhat {at} -l {word[2:]}{values}")
            else:
                lines.append(f"complete -c zhat {at} -f -a '{word}'")
    lines.append(f"complete -c zhat -n '__fish_seen_subcommand_from estimate compare average' -a '{_zoo()}'")
    return "\n".join(lines)
