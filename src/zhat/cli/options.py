"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import argparse
import ast
import math
from collections.abc import Collection, Sequence
from typing import Any

from zhat.errors import BadInput
from zhat.methods._base import Method, method_named
from zhat.sampling.backend.loop import Budget

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def add_method(parser: argparse.ArgumentParser, help: str) -> None:
    """``--method NAME key=value ...``."""
    parser.add_argument("--method", nargs="+", metavar=("NAME", "key=value"), help=help)


def add_run(parser: argparse.ArgumentParser) -> None:
    """What bounds and repeats a run."""
    parser.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same digits")
    parser.add_argument("--repeats", type=int, default=1, metavar="K", help="independent runs of each model, combined")
    parser.add_argument(
        "--precision",
        type=float,
        metavar="SE",
        help="the standard error of log Z that is wanted, such as 0.05: as much work as that takes, and no more",
    )
    parser.add_argument(
        "--budget",
        action="append",
        default=[],
        metavar="B",
        help="stop after this many evaluations (1e6) or this time (90s, 10m, 2h); may be given twice, once of each",
    )


def add_draws(parser: argparse.ArgumentParser) -> None:
    """``--draws PATH ...``."""
    parser.add_argument(
        "--draws",
        nargs="+",
        metavar="PATH",
        help="posterior draws of this model that you have: a NetCDF, Zarr or .npz file, or the Stan CSV files of all chains",
    )


def add_draws_by_model(parser: argparse.ArgumentParser) -> None:
    """``--draws NAME=PATH ...``, once for each model that has draws."""
    parser.add_argument(
        "--draws",
        nargs="+",
        action="append",
        metavar=("NAME=PATH", "PATH"),
        help="posterior draws of the model of this name, as in `estimate --draws`; once for each model that has some",
    )


def draws_by_model(words: Sequence[Sequence[str]] | None, names: Collection[str]) -> dict[str, Any]:
    """The draws of every ``--draws`` by the model's name."""
    found: dict[str, Any] = {}
    for first, *others in words or ():
        name, equals, path = first.partition("=")
        if not equals or name not in names or not path:
            raise BadInput(f"--draws {first}: give NAME=PATH, where NAME is one of {', '.join(names)}.")
        if name in found:
            raise BadInput(f"--draws {first}: {name!r} has draws already; give all its files after one --draws {name}=.")
        found[name] = draws_from([path, *others])
    return found


def draws_from(paths: Sequence[str] | None) -> Any:
    """The draws of ``--draws``: one file, or those of all chains."""
    return None if paths is None else paths[0] if len(paths) == 1 else paths


def add_endurance(parser: argparse.ArgumentParser) -> None:
    """``--checkpoint`` and ``--log``, for long runs."""
    parser.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        help="keep what is computed in this folder; the same command goes on from there after the process ended (exit code 75 after SIGTERM)",
    )
    parser.add_argument("--log", metavar="FILE", help="append what is done, with times, to this file")


def add_where(parser: argparse.ArgumentParser, what: str) -> None:
    """``--workers`` and ``--executor``: where the runs are made; the digits are the same."""
    parser.add_argument(
        "--workers", type=int, metavar="N", help=f"run {what}, or the likelihoods of a black box, on N local processes"
    )
    parser.add_argument("--executor", metavar="ADDRESS", help=f"run {what} on a Dask cluster, dask://host:port")


def add_output(parser: argparse.ArgumentParser) -> None:
    """``--json`` and ``--quiet``."""
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout, everything else on stderr")
    parser.add_argument("--quiet", action="store_true", help="the result and errors only")


def add_page(parser: argparse.ArgumentParser) -> None:
    """``--html`` and the question at the top of the page."""
    parser.add_argument(
        "--html", metavar="PATH", help="write a report, one self-contained page: answer, checks, citations, how to repeat it"
    )
    parser.add_argument("--question", default="", metavar="TEXT", help="the question that the page answers, printed at its top")


def add_vary(parser: argparse.ArgumentParser, help: str, required: bool) -> None:
    """``--vary NAME`` over ``--values`` or a ``--range``."""
    parser.add_argument("--vary", required=required, metavar="NAME", help=help)
    where = parser.add_mutually_exclusive_group(required=required)
    where.add_argument("--values", nargs="+", type=float, metavar="V", help="the values of --vary")
    where.add_argument(
        "--range", nargs=3, type=float, metavar=("START", "STOP", "N"), help="N values, evenly spaced on a log scale"
    )


def values_from(options: argparse.Namespace) -> list[float]:
    """The values of ``--values``, or those of ``--range``."""
    given: list[float] | None = options.values
    return given or spaced(*options.range)


def spaced(start: float, stop: float, n: float) -> list[float]:
    """N values from START to STOP, evenly spaced on a log scale."""
    asked = f"--range {start:g} {stop:g} {n:g}"
    if not (math.isfinite(n) and n == int(n) and n >= 2):
        raise BadInput(f"{asked}: N is the number of values, 2 or more.")
    if not (math.isfinite(stop) and 0.0 < start < stop):
        raise BadInput(f"{asked}: a log scale needs 0 < START < STOP; for other values write --values V V ...")
    steps = int(n) - 1
    between = [math.exp(math.log(start) + i / steps * math.log(stop / start)) for i in range(1, steps)]
    return [start, *between, stop]


def budget_from(words: Sequence[str]) -> Budget | None:
    """The budget of ``--budget 1e6 --budget 10m``; None when there is none."""
    limits: dict[str, float] = {}
    for word in words:
        unit = word[-1:] if word[-1:] in UNITS else ""
        try:
            value = float(word.removesuffix(unit)) * UNITS.get(unit, 1.0)
        except ValueError as error:
            raise BadInput(
                f"--budget {word}: write a number of evaluations, such as 1e6, or a time, such as 90s, 10m or 2h."
            ) from error
        if not value > 0.0:
            raise BadInput(f"--budget {word}: a budget must be above zero.")
        name = "seconds" if unit else "likelihoods"
        if name in limits:
            raise BadInput(f"--budget {word}: {'a time' if unit else 'a number of evaluations'} is given twice.")
        limits[name] = value
    return Budget(limits.get("likelihoods", math.inf), limits.get("seconds", math.inf)) if limits else None


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
