"""``zhat estimate``: the evidence of a model in a file or in the zoo, as text or JSON."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path
from typing import Any

from zhat.cli.exits import Exit, exit_of
from zhat.cli.finding import find_model
from zhat.cli.options import (
    add_draws,
    add_endurance,
    add_method,
    add_output,
    add_run,
    add_where,
    budget_from,
    draws_from,
    method_from,
)
from zhat.cli.parsing import command
from zhat.cli.terminal import one_line, say, show
from zhat.errors import BadInput
from zhat.results.estimate import Evidence
from zhat.results.storage import check_save_path, json_of, save_evidence
from zhat.run.estimate import evidence


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "estimate",
        "the evidence of a model in a Python file",
        "Estimate the evidence of a model: log Z, its standard error, and a verdict on both.",
        [
            "zhat estimate model.py",
            "zhat estimate models.py:linear --method smc n_particles=4000 --seed 1",
            "zhat estimate zoo:E1 --repeats 4 --budget 10m --save run.json",
            "zhat estimate model.py --draws fit.nc",
        ],
    )
    parser.add_argument(
        "target",
        nargs="?",
        metavar="FILE[:name]",
        help="a Python file that defines a Model called `model`, or `name`, or a function returning one; "
        "or zoo:ID for a built-in example, such as zoo:E1 or zoo:pima",
    )
    add_method(parser, "a name that `zhat methods` lists, and settings, such as: --method importance n_draws=10_000")
    add_draws(parser)
    add_run(parser)
    add_where(parser, "the repeats")
    add_endurance(parser)
    parser.add_argument(
        "--save", metavar="PATH", help="keep the result in a .json file, and its arrays in an .npz file beside it"
    )
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Estimate, print, save."""
    method = method_from(options.method)
    budget = budget_from(options.budget)
    if options.target is None:
        raise BadInput("which model? Give FILE, FILE:name or zoo:ID before the options.")
    if options.save is not None:
        check_save_path(options.save)
    with contextlib.redirect_stdout(sys.stderr):  # what the model prints is not the result
        found = find_model(options.target)
        result = evidence(
            found.model,
            method,
            draws=draws_from(options.draws),
            seed=options.seed,
            repeats=options.repeats,
            precision=options.precision,
            progress=False if options.quiet else None,
            budget=budget,
            executor=options.executor,
            workers=options.workers,
            checkpoint=options.checkpoint,
        )
    _report(result, options, found.note)
    return exit_of(result)


def _report(result: Evidence, options: argparse.Namespace, note: str) -> None:
    if options.json:
        sys.stdout.write(json_of(result))
    if not options.json or not options.quiet:
        show(result.explain(), sys.stderr if options.json else sys.stdout)
    notes = [] if options.seed is not None else [f"seed {result.seed} was drawn: --seed {result.seed} repeats this run."]
    if options.save is not None:
        notes.append(kept(result, options.save))
    if not options.quiet:
        for line in (*notes, note):
            if line:
                say(f"  {one_line(line)}")


def kept(result: Evidence, path: str) -> str:
    """Save a result where it was asked for, or else in the folder for temporary files: a long run is not lost to a full disk."""
    try:
        return f"saved to {save_evidence(result, path)}."
    except OSError as error:
        why = f"{path} could not be written ({error.strerror or error})"
        spare = Path(tempfile.mkdtemp(prefix="zhat-")) / Path(path).name
        try:
            return f"{why}; saved to {save_evidence(result, spare)} instead."
        except OSError as again:
            raise BadInput(
                f"{why}, and {spare} neither ({again.strerror or again}): make room and give --save another place."
            ) from again
