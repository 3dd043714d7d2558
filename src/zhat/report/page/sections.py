"""The sections of a comparison's page, each from the comparison alone."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zhat.citations import bibtex, entries
from zhat.comparing.comparison import Comparison
from zhat.comparing.scales import JEFFREYS, KASS_RAFTERY
from zhat.formatting import with_error
from zhat.report.page.drawing import Bar, curve, rows_with_intervals
from zhat.report.page.markup import Child, Html, join, table, tag
from zhat.report.page.recipe import command_line, python_call, was_pooled
from zhat.report.page.words import agreement, reasons
from zhat.results.estimate import Evidence

if TYPE_CHECKING:
    from zhat.comparing.averaging import Average
    from zhat.comparing.sensitivity import Sensitivity

# Longer tables are hard to read; the full set is in the JSON.
MOST_DRAWN = 20
MOST_PAIRS = 30


def models(comparison: Comparison) -> list[Child]:
    """The table, and pictures of evidences and probabilities."""
    header, rows = comparison.rows()
    best = comparison.evidences[comparison.best]
    drawn = comparison.ranking[:MOST_DRAWN]
    evidences, chances = [], []
    bounds = comparison.probability_intervals()
    for name in drawn:
        e, i = comparison.evidences[name], comparison.names.index(name)
        shift = e.log_evidence - best.log_evidence
        error = e.error
        interval = None if error is None else (shift - 1.96 * error, shift + 1.96 * error)
        evidences.append(Bar(name, shift, interval, with_error(shift, error), not e.status.is_ok))
        p = float(comparison.probabilities[i])
        chances.append(Bar(name, p, None if bounds is None else bounds[i], f"{p:.4g}", not e.status.is_ok))
    left_out = len(comparison.names) - len(drawn)
    note = f" The {left_out} least probable models are in the table only." if left_out else ""
    numeric = frozenset({1, 2, 3, 4, 5, 6})
    return [
        table(
            header,
            ([*row[:-1], _verdict(row[-1])] for row in rows),
            "The most probable model first; logarithms are natural.",
            numeric=numeric,
        ),
        *_told(comparison),
        tag(
            "div",
            tag(
                "figure",
                rows_with_intervals(
                    evidences, "Log evidence relative to the most probable model", "log evidence relative to the best model, nats"
                ),
                tag(
                    "figcaption",
                    f"Log evidence with 95 % interval, relative to the best model. An open circle marks a suspect run.{note}",
                ),
            ),
            tag(
                "figure",
                rows_with_intervals(chances, "Posterior probabilities of the models", "posterior probability", (-0.02, 1.02)),
                tag("figcaption", "Posterior probability, with the interval from the standard errors of the evidences."),
            ),
            class_="figures",
        ),
    ]


def _told(comparison: Comparison) -> list[Child]:
    """What models say of themselves: formulas, priors, and what is odd about their data; each sentence once."""
    told: list[Child] = []
    for word, title in (("model", "Models"), ("prior", "Priors"), ("data", "Data")):
        texts = [str(e.diagnostics.get(f"{word}_in_words", "")) for e in comparison.evidences.values()]
        found = list(dict.fromkeys(text for text in texts if text))
        if found:
            told.append(tag("p", tag("strong", f"{title}. "), "; ".join(found), "."))
    return told


def _verdict(word: str) -> Html:
    return tag("span", word, class_=word.split(" ")[0])


def pairs(comparison: Comparison) -> list[Child]:
    """Every pair on both scales; with many models, those with the best."""
    factors = comparison.log_bayes_factors()
    best = [f for f in factors if comparison.best in (f.first, f.second)]
    shown = factors if len(factors) <= MOST_PAIRS else best[:MOST_PAIRS]
    rows = [
        [
            f"{f.first} against {f.second}",
            with_error(f.value, f.se),
            _ratio(f.value),
            f.words(JEFFREYS),
            f.words(KASS_RAFTERY),
        ]
        for f in shown
    ]
    header = ["pair", "log Bayes factor ± s.e.", "Bayes factor", JEFFREYS.name, KASS_RAFTERY.name]
    parts: list[Child] = [
        table(
            header,
            rows,
            "The words are those of each scale, for the 95 % interval of the Bayes factor.",
            numeric=frozenset({1, 2}),
        )
    ]
    if len(shown) < len(factors):
        parts.append(tag("p", f"{len(shown)} of {len(factors)} pairs: those with the best model.", class_="note"))
    meaning = (
        "± is the Monte Carlo standard error: how far another run may differ from this one. It does not include"
        if any(f.se for f in factors)
        else "These are exact values, without a Monte Carlo standard error. ± does not include"
    )
    parts.append(tag("p", f"{meaning} the effect of the priors of the models on the Bayes factor.", class_="note"))
    return parts


def averaged(averages: Mapping[str, Average]) -> list[Child]:
    """Quantities averaged over the models, and their means under each model."""
    parts: list[Child] = []
    for quantity, found in averages.items():
        header, rows = found.rows(quantity)
        shown = rows[:MOST_DRAWN]
        left_out = f" The first {MOST_DRAWN} of {len(rows)} elements." if len(rows) > MOST_DRAWN else ""
        words = f"Posterior of {quantity}, averaged over the models with their posterior probabilities as weights.{left_out}"
        parts.append(table([quantity, *header[1:]], shown, words, numeric=frozenset({1, 2, 3, 4})))
        if found.mean.ndim == 0:
            means = "; ".join(f"{name} {float(value):.5g}" for name, value in found.by_model.items())
            parts.append(tag("p", f"Mean under each model alone: {means}."))
        if found.suspects:
            parts.append(tag("p", join([_verdict("suspect"), f": {', '.join(found.suspects)}; the average is suspect too."])))
    return parts


def _ratio(log_value: float) -> str:
    return f"{math.exp(log_value):.4g}" if abs(log_value) < 300.0 else f"exp({log_value:.1f})"


# -- trust -----------------------------------------------------------------------------------------------------------


def trust(comparison: Comparison, others: Mapping[str, list[Evidence]]) -> list[Child]:
    """For every model its verdict, the estimates by other methods, and its diagnostics in words."""
    parts: list[Child] = []
    if not others:
        parts.append(tag("p", "No second method was run. The agreement of two different methods is the strongest check of both."))
    for name in comparison.ranking[:MOST_DRAWN]:
        e = comparison.evidences[name]
        lines = [join([_verdict(e.status.level.value), f": {reason.sentence}"]) for reason in e.status.reasons]
        if e.status.is_ok:
            lines.append(join([_verdict("ok"), ": the run passed all checks of its method."]))
        lines += [join(["Note: ", note.sentence]) for note in e.status.notes]
        if e.no_se_because and e.no_se_because not in [reason.sentence for reason in e.status.reasons]:
            lines.append(join(["No standard error: ", e.no_se_because]))
        lines += [join([agreement(e, other)]) for other in others.get(name, [])]
        lines += [join([_verdict("flagged"), f": {text}"]) if flagged else join([text]) for text, flagged in reasons(e)]
        parts += [tag("h3", name), tag("p", str(e).replace("  ", " · ")), tag("ul", *(tag("li", line) for line in lines))]
    return parts


def sensitivity_curves(curves: Sequence[Sensitivity]) -> list[Child]:
    """The evidence as a function of a prior's hyperparameter."""
    parts: list[Child] = []
    for found in curves:
        log_x = bool(found.values.min() > 0 and found.values.max() > 10 * found.values.min())
        title = f"Log evidence of {found.model} over {found.hyperparameter}"
        drawing = curve(
            found.values.tolist(),
            found.log_evidence.tolist(),
            found.se.tolist(),
            title,
            (found.hyperparameter, "log evidence"),
            log_x,
        )
        moved = float(found.log_evidence.max() - found.log_evidence.min())
        doubt = f" Suspect runs at {', '.join(f'{v:g}' for v in found.suspects)}." if found.suspects else ""
        words = (
            f"Over this range of {found.hyperparameter} the log evidence of {found.model} varies by {moved:.2f} nats "
            f"({_runs(len(found.runs))} for {len(found.values)} values; the others by reweighting).{doubt}"
        )
        parts += [tag("h3", f"{found.model}: {found.hyperparameter}"), tag("figure", drawing, tag("figcaption", words))]
    return parts


def _runs(n: int) -> str:
    return "one run" if n == 1 else f"{n} runs"


# -- references, and how to reproduce -------------------------------------------------------------------------------------


def citations(comparison: Comparison, others: Mapping[str, list[Evidence]]) -> list[Child]:
    """The methods of the comparison and their references."""
    runs = [*comparison.evidences.values(), *(other for found in others.values() for other in found)]
    by_method: dict[str, tuple[str, ...]] = {}
    for run in runs:
        by_method[run.method] = run.cites
    keys = [*(key for cites in by_method.values() for key in cites), JEFFREYS.cites, KASS_RAFTERY.cites, "friel2012"]
    known = [key for key in dict.fromkeys(keys) if key in entries()]
    return [
        tag("ul", *(tag("li", tag("b", method), f": {', '.join(cites)}") for method, cites in by_method.items())),
        tag("p", "As BibTeX, with the scales and the paper of Friel & Wyse (2012):"),
        tag("pre", bibtex(known)),
    ]


def settings(comparison: Comparison) -> list[Child]:
    """Seeds, costs, settings and versions."""
    rows, parts = [], list[Child]()
    for name in comparison.ranking:
        e = comparison.evidences[name]
        rows.append(
            [
                name,
                e.method,
                str(e.seed),
                str(len(e.repeats)),
                str(e.n_dimensions),
                f"{e.cost.n_likelihood:,}",
                f"{e.cost.seconds:.1f}",
            ]
        )
    header = ["model", "method", "seed", "runs", "parameters", "likelihoods", "seconds"]
    numeric = frozenset({2, 3, 4, 5, 6})
    data = comparison.evidences[comparison.best].data_id
    settings: dict[str, list[str]] = {}
    for name in comparison.ranking:
        e = comparison.evidences[name]
        settings.setdefault(f"{e.method}: {json.dumps(_plain(e.settings), indent=2)}", []).append(name)
    for shown, names in settings.items():
        parts += [tag("p", f"{', '.join(names[:6])}{f' and {len(names) - 6} more' if len(names) > 6 else ''}"), tag("pre", shown)]
    versions = dict.fromkeys(tuple(e.versions.items()) for e in comparison.evidences.values())
    lines = [", ".join(f"{package} {number}" for package, number in found) for found in versions]
    return [
        table(header, rows, f"Fingerprint of the data: {data or 'none; the models were built without data='}.", numeric=numeric),
        *parts,
        *(tag("p", f"Versions: {line}.") for line in lines),
    ]


def again(comparison: Comparison) -> list[Child]:
    """Code that reproduces the runs."""
    lines = [f"{python_call(e, name)}" for name, e in comparison.evidences.items()]
    begin = ["from dataclasses import replace", "import zhat", "", "runs = {}"]
    code = [*begin, *lines, f"print(zhat.compare(runs, prior={list(comparison.prior)!r}))"]
    words = dict.fromkeys(command_line(e) for e in comparison.evidences.values())
    parts: list[Child] = [
        tag(
            "p",
            "The same models, data, versions and seeds give the same digits. In Python, where ",
            tag("code", "models"),
            " holds the models:",
        ),
        tag("pre", "\n".join(code)),
        tag("p", "Or on the command line, one model at a time:"),
        tag("pre", "\n".join(words)),
    ]
    pooled = [name for name, e in comparison.evidences.items() if was_pooled(e)]
    if pooled:
        said = f"These lines reproduce the first round of {', '.join(pooled)}; further rounds were added by "
        call = tag("code", 'zhat.compare(models, until="decided", seed=...)')
        parts.append(tag("p", said, call, " with the seed of that call."))
    return parts


def _plain(value: Any) -> Any:
    """Settings as JSON can hold them."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
