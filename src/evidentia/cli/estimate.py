"""``evidentia estimate``: a model from a file or the zoo, through the front door, to the terminal or to JSON."""

from __future__ import annotations

import argparse
import ast
import contextlib
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evidentia.cli.exits import Exit
from evidentia.cli.finding import find_model
from evidentia.cli.terminal import one_line, printable
from evidentia.codec import to_plain
from evidentia.errors import BadInput
from evidentia.estimate import evidence
from evidentia.methods._base import Method, method_named
from evidentia.result import Evidence, Level
from evidentia.sampling.loop import Budget
from evidentia.storage import check_save_path, document, save_evidence


def run(options: argparse.Namespace) -> Exit:
    """Estimate, print, save."""
    method = method_from(options.method)
    budget = Budget(options.budget_likelihoods or math.inf, options.budget_seconds or math.inf)
    _check(options)
    with contextlib.redirect_stdout(sys.stderr):  # what the model prints is not the result
        found = find_model(options.target)
        result = evidence(
            found.model,
            method,
            seed=options.seed,
            repeats=options.repeats,
            progress=False if options.quiet else None,
            budget=budget,
        )
    _report(result, options, found.note)
    return exit_of(result)


def method_from(words: Sequence[str] | None) -> Method | None:
    """The method of ``--method NAME key=value ...``; None when the option is not there."""
    if not words:
        return None
    name, *settings = words
    if "=" in name:
        raise BadInput(f"--method {name}: give the method's name first, then its settings.")
    return method_named(name, settings_from(settings))


def settings_from(words: Sequence[str]) -> dict[str, Any]:
    """Settings of ``key=value`` words; values are Python literals and nothing else."""
    settings: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key.isidentifier():
            raise BadInput(f"{word!r} after --method is not a setting; write key=value, and FILE before --method.")
        if key in settings:
            raise BadInput(f"{word!r}: the setting {key!r} is given twice.")
        try:
            settings[key] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
            raise BadInput(
                f"{word!r}: {text!r} is not a Python literal; write a number, True, False, None or 'text' in quotes "
                "(settings that are objects are set from Python)."
            ) from error
    return settings


def exit_of(result: Evidence) -> Exit:
    """The exit code that tells a result's verdict."""
    if any(reason.code == "interrupted" for reason in result.status.reasons):
        return Exit.INTERRUPTED
    return {Level.OK: Exit.OK, Level.SUSPECT: Exit.SUSPECT, Level.FAILED: Exit.FAILED}[result.status.level]


def _check(options: argparse.Namespace) -> None:
    """What can be refused before any work."""
    if options.target is None:
        raise BadInput("which model? Give FILE, FILE:name or zoo:ID before the options.")
    for name in ("likelihoods", "seconds"):
        value = getattr(options, f"budget_{name}")
        if value is not None and not value > 0:
            raise BadInput(f"--budget-{name} {value:g}: a budget must be above zero.")
    if options.save is not None:
        check_save_path(options.save)


def _report(result: Evidence, options: argparse.Namespace, note: str) -> None:
    if options.json:
        plain, _ = to_plain(replace(result, record=None))
        sys.stdout.write(document(plain))
    if not options.json or not options.quiet:
        print(printable(result.explain()), file=sys.stderr if options.json else sys.stdout)
    notes = (
        [] if options.seed is not None else [f"seed {result.seed} was drawn: --seed {result.seed} repeats this run."]
    )
    if options.save is not None:
        notes.append(f"saved to {save_evidence(result, options.save)}.")
    if not options.quiet:
        for line in (*notes, note):
            if line:
                print(f"  {one_line(line)}", file=sys.stderr)
