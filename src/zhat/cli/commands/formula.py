"""``zhat formula``: regressions from a CSV file and formulas, side by side: from a table to a Bayes factor without Python."""

from __future__ import annotations

import argparse
import difflib
from typing import Any

from zhat.adapters.formula.door import formula
from zhat.adapters.formula.table import read_csv
from zhat.cli.commands.compare import print_comparison
from zhat.cli.exits import Exit, exit_of_comparison
from zhat.cli.options import add_method, add_output, add_page, add_run, budget_from, method_from, settings_from
from zhat.cli.parsing import command
from zhat.cli.terminal import one_line, say
from zhat.comparing.compare import compare
from zhat.comparing.comparison import Comparison
from zhat.errors import BadInput, BadType
from zhat.model.model import Model
from zhat.model.regression.families import Binomial, Family
from zhat.model.regression.priors import JZS, Prior, ScaledNormal, UnitInformation, ZellnerSiow
from zhat.report.page.page import check_path
from zhat.seeding import check_seed

PRIORS: dict[str, type[Prior]] = {
    "jzs": JZS,
    "zellner-siow": ZellnerSiow,
    "unit-information": UnitInformation,
    "scaled-normal": ScaledNormal,
}


def add(commands: Any) -> None:
    """The arguments."""
    parser = command(
        commands,
        "formula",
        "regressions of a CSV file, side by side",
        "Compare regressions of a table: Bayes factors and posterior probabilities of formulas, with default priors that the result "
        "states. A single formula is compared with the model that has the intercept alone.",
        [
            'zhat formula pine.csv "strength ~ density" "strength ~ adjusted_density"',
            'zhat formula pima.csv "diabetes ~ age + bmi" "diabetes ~ bmi"',
            'zhat formula trees.csv "y ~ a" --prior jzs slopes=0.5',
        ],
    )
    parser.add_argument("data", metavar="DATA.csv", help="a table with a header: comma, semicolon or tab between columns")
    parser.add_argument("formulas", nargs="+", metavar='"y ~ x"', help="one formula or more, as in R, for the same response")
    parser.add_argument(
        "--family", default="gaussian", metavar="NAME", help="gaussian, bernoulli, binomial, poisson, negative-binomial"
    )
    parser.add_argument("--trials", metavar="COLUMN", help="for the binomial family: the column of trials, or a number")
    parser.add_argument(
        "--prior",
        nargs="+",
        metavar=("NAME", "key=value"),
        help=f"the prior of all coefficients and its scales: {', '.join(PRIORS)}; default jzs for gaussian, scaled-normal for the others",
    )
    add_method(parser, "the method for models that have no closed form, and its settings")
    add_run(parser)
    add_page(parser)
    parser.add_argument("--explain", action="store_true", help="all pairs in words, the priors, and the reason of every verdict")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="the table in Markdown")
    form.add_argument("--latex", action="store_true", help="the table in LaTeX")
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> Exit:
    """Build the models, compare, print, write the page."""
    path = None if options.html is None else check_path(options.html)
    seed = check_seed(options.seed)
    models = _models(options)
    comparison = compare(
        models,
        method_from(options.method),
        seed=seed,
        repeats=options.repeats,
        precision=options.precision,
        progress=False if options.quiet else None,
        budget=budget_from(options.budget),
    )
    print_comparison(comparison, options)
    if not options.quiet:
        for line in _notes(models, comparison, options, seed, path):
            say(one_line(line))
    elif path is not None:
        comparison.report(path, question=options.question)
    return exit_of_comparison(comparison)


def _models(options: argparse.Namespace) -> dict[str, Model]:
    frame = read_csv(options.data)
    family, prior = _family(options), _prior(options.prior)
    texts = [text.strip() for text in options.formulas]
    if len(texts) == 1:
        response = texts[0].partition("~")[0].strip()
        null = f"{response} ~ 1"
        if texts[0].replace(" ", "") == null.replace(" ", ""):
            raise BadInput(f"{texts[0]!r} alone: a comparison needs a second formula.")
        texts.append(null)
    return {text: formula(text, frame, family, prior=prior) for text in texts}


def _family(options: argparse.Namespace) -> Family | str:
    if options.trials is not None and options.family.lower() != "binomial":
        raise BadInput(f"--trials {options.trials}: only the binomial family has trials; write --family binomial.")
    if options.family.lower() != "binomial":
        return str(options.family)
    if options.trials is None:
        raise BadInput("--family binomial: out of how many trials? Write --trials COLUMN, or --trials 10.")
    return Binomial(int(options.trials) if options.trials.isdigit() else options.trials)


def _prior(words: list[str] | None) -> Prior | None:
    if not words:
        return None
    name, *settings = words
    if name not in PRIORS:
        near = difflib.get_close_matches(name, PRIORS, n=1, cutoff=0.4)
        guess = f"; did you mean {near[0]!r}?" if near else "."
        raise BadInput(f"--prior {name}: there is no such prior{guess} Known: {', '.join(PRIORS)}.")
    try:
        return PRIORS[name](**settings_from(settings))
    except TypeError as error:
        if isinstance(error, BadType):
            raise
        raise BadInput(f"--prior {' '.join(words)}: {name} has no such setting.") from error


def _notes(models: dict[str, Model], comparison: Comparison, options: argparse.Namespace, seed: int, path: Any) -> list[str]:
    sampled = any(result.method != "exact" for result in comparison.evidences.values())
    first = next(iter(models.values())).described
    notes = [] if first is None else [f"prior: {first.prior}."]
    notes += [f"note: {model.described.warning}" for model in models.values() if model.described and model.described.warning][:1]
    if sampled and options.seed is None:
        notes.append(f"seed {seed} was drawn: --seed {seed} repeats this.")
    if path is not None:
        notes.append(f"report: {comparison.report(path, question=options.question)}")
    return notes
