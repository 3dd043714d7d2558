"""``zhat sensitivity``: log evidence, or the Bayes factor of two models, over a hyperparameter of the prior."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

from zhat.cli.exits import Exit
from zhat.cli.finding import find_models
from zhat.cli.options import add_method, add_output, add_vary, method_from, values_from
from zhat.cli.parsing import command
from zhat.cli.terminal import one_line, say, show, table
from zhat.comparing.sensitivity import Sensitivity, finite, sensitivities
from zhat.errors import BadInput
from zhat.formatting import with_error
from zhat.report.files import KINDS, check_picture_path, new_figure, save_figure
from zhat.report.pictures.sensitivity_curve import bayes_factor_curve, sensitivity_curve
from zhat.seeding import check_seed

EXAMPLES = (
    "zhat sensitivity zoo:pima --vary tau --range 0.001 1 13 --out tau.svg",
    "zhat sensitivity a.py:linear a.py:quadratic --vary scale --values 0.5 1 2",
)


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "sensitivity",
        "log evidence, or a Bayes factor, over a hyperparameter of the prior",
        "Log evidence over one hyperparameter of the prior, from as few runs as reweighting allows; with two models also the log "
        "Bayes factor of the first against the second.",
        EXAMPLES,
    )
    parser.add_argument(
        "targets", nargs="+", metavar="[name=]TARGET", help="FILE.py[:name] or zoo:ID; one model, or two for their Bayes factor"
    )
    add_vary(parser, "the hyperparameter: an entry of every model's `hyper`", required=True)
    add_method(parser, "the method of the runs")
    parser.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same digits")
    parser.add_argument("--out", metavar="PATH", help=f"draw the curve: {', '.join(KINDS)}")
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Run, print, draw."""
    method = method_from(options.method)
    values = values_from(options)
    path = None if options.out is None else check_picture_path(options.out)
    seed = check_seed(options.seed)
    progress = False if options.quiet else None
    if len(options.targets) > 2:
        raise BadInput(f"{len(options.targets)} models: give one, or two for their Bayes factor.")
    with contextlib.redirect_stdout(sys.stderr):  # what the models print is not the result
        models = [model.named(name) for name, model in find_models(options.targets).items()]
        curves = sensitivities(models, options.vary, values, method, seed=seed, progress=progress)
    if options.json:
        print(json.dumps(plain(curves, seed), indent=2, allow_nan=False))
    if not options.json or not options.quiet:
        show(text(curves), sys.stderr if options.json else sys.stdout)
    notes = [] if options.seed is not None else [f"seed {seed} was drawn: --seed {seed} repeats this."]
    if path is not None:
        _draw(curves, path)
        notes.append(f"drawn: {path}")
    if not options.quiet:
        for line in notes:
            say(one_line(line))
    return Exit.SUSPECT if any(curve.suspects for curve in curves) else Exit.OK


def text(curves: list[Sensitivity]) -> str:
    """One row per value: the log evidence of each model, and with two models the log Bayes factor."""
    two = len(curves) == 2
    header = [curves[0].hyperparameter]
    rows = [[f"{value:.6g}"] for value in curves[0].values]
    for i, curve in enumerate(curves):
        header.append(f"log evidence of {i + 1}" if two else "log evidence")
        for row, log_z, se in zip(rows, curve.log_evidence, curve.se, strict=True):
            row.append(with_error(log_z, se))
    if two:
        header.append("log Bayes factor")
        for row, value, se in zip(rows, *curves[0].against(curves[1]), strict=True):
            row.append(with_error(value, se))
    names = [f"{i + 1}: {curve.model}" for i, curve in enumerate(curves)] if two else []
    runs = [
        f"{f'{i + 1}: ' if two else ''}{curve.effort}, at "
        f"{curve.hyperparameter} = {', '.join(f'{value:.6g}' for value in curve.runs)}"
        for i, curve in enumerate(curves)
    ]
    doubts = [
        f"suspect: {curve.model} at {curve.hyperparameter} = {value:g}: {curve.runs[value].status.reasons[0].sentence}"
        for curve in curves
        for value in curve.suspects
    ]
    return "\n".join([*names, table(header, rows), *runs, *doubts])


def plain(curves: list[Sensitivity], seed: int) -> dict[str, Any]:
    """The curves as JSON values; numbers that are not finite are null."""
    factor = curves[0].against(curves[1]) if len(curves) == 2 else None
    return {
        "format": "zhat sensitivity",
        "schema": 1,
        "hyperparameter": curves[0].hyperparameter,
        "seed": seed,
        "values": curves[0].values.tolist(),
        "curves": [curve.to_dict() for curve in curves],
        "log_bayes_factor": None if factor is None else finite(factor[0]),
        "log_bayes_factor_error": None if factor is None else finite(factor[1]),
    }


def _draw(curves: list[Sensitivity], path: Path) -> None:
    figure = new_figure()
    if len(curves) == 2:
        bayes_factor_curve(curves[0], curves[1], figure.subplots())
    else:
        sensitivity_curve(curves[0], figure.subplots())
    save_figure(figure, path)
