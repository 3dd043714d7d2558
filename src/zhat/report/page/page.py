"""A self-contained page on a comparison: the question, the answer, the checks, the citations, how to reproduce it.

    comparison.report("pine.html", question="Which density predicts the strength of timber?")

The page has no script, no external file and no font: it can be mailed, printed and archived with a paper. `markup` escapes all text
from outside, and the page's content security policy forbids scripts and requests.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from zhat.comparing.comparison import Comparison
from zhat.errors import BadInput, BadType
from zhat.report.page.markup import Child, Html, tag
from zhat.report.page.posterior import posteriors
from zhat.report.page.sections import again, averaged, citations, models, pairs, sensitivity_curves, settings, trust
from zhat.report.page.whole import check_path, whole_page, write_page
from zhat.report.page.words import disagree
from zhat.results.estimate import Evidence

if TYPE_CHECKING:
    from zhat.comparing.averaging import Average
    from zhat.comparing.sensitivity import Sensitivity

Opinions = Mapping[str, Evidence | Sequence[Evidence]]


def write_report(
    comparison: Comparison,
    path: str | Path,
    *,
    question: str = "",
    second_opinions: Opinions | None = None,
    sensitivity: Sensitivity | Sequence[Sensitivity] | None = None,
    averages: Mapping[str, Average] | None = None,
) -> Path:
    """Write the page and return where it is.

    Parameters
    ----------
    path : str or Path
        Ends in .html.
    question : str
        The question that the comparison answers, printed at the top.
    second_opinions : mapping of str to Evidence or sequence of them
        Evidences of the same models by other methods or seeds, by the models' names in the comparison.
    sensitivity : Sensitivity or sequence of them
        Curves over a prior's hyperparameter.
    averages : mapping of str to Average
        Quantities averaged over the models, by their names.
    """
    path = check_path(path)
    page = report_page(comparison, question=question, second_opinions=second_opinions, sensitivity=sensitivity, averages=averages)
    return write_page(page, path)


def report_page(
    comparison: Comparison,
    *,
    question: str = "",
    second_opinions: Opinions | None = None,
    sensitivity: Sensitivity | Sequence[Sensitivity] | None = None,
    averages: Mapping[str, Average] | None = None,
) -> str:
    """The page as text."""
    others = _opinions(comparison, second_opinions)
    more = [] if sensitivity is None else list(sensitivity) if isinstance(sensitivity, Sequence) else [sensitivity]
    curves = [*comparison.curves, *more]
    parameters = posteriors(comparison)
    asked = question or "Which of these models do the data support, and by how much?"
    sections: list[tuple[str, str, list[Child]]] = [
        ("models", "The models", models(comparison)),
        ("pairs", "Bayes factors", pairs(comparison)),
        *([("parameters", "Parameters", parameters)] if parameters else []),
        *([("average", "Averaged over models", averaged(averages))] if averages else []),
        ("trust", "Checks", trust(comparison, others)),
    ]
    if curves:
        sections.append(("sensitivity", "Sensitivity to the prior", sensitivity_curves(curves)))
    sections += [
        ("cite", "Methods and citations", citations(comparison, others)),
        ("settings", "Settings, seeds, versions", settings(comparison)),
        ("again", "How to reproduce it", again(comparison)),
    ]
    top = [tag("h1", "Comparison of models"), tag("p", asked, class_="question"), _answer(comparison, others)]
    return whole_page(f"Comparison of {len(comparison.names)} models", top, sections, _version(comparison))


def _answer(comparison: Comparison, others: Mapping[str, list[Evidence]]) -> Html:
    disputed = [name for name, found in others.items() if any(disagree(comparison.evidences[name], other) for other in found)]
    if comparison.suspects:
        verdict = f"✗ Not reliable: {', '.join(comparison.suspects)} did not pass the checks of its own run."
    elif disputed:
        verdict = f"✗ Not reliable: two methods disagree about {', '.join(disputed)}."
    elif not comparison.decided:
        verdict = "? Undecided: the standard errors are too large to say which model has the larger evidence."
    else:
        verdict = "✓ Decided; every run passed its checks."
    doubt = bool(comparison.suspects or disputed or not comparison.decided)
    sentence = comparison.sentence()
    return tag(
        "div",
        tag("span", verdict, class_="verdict"),
        sentence[0].upper() + sentence[1:] if sentence.startswith(("the data", "undecided")) else sentence,
        class_="answer doubt" if doubt else "answer",
    )


def _version(comparison: Comparison) -> str:
    return str(comparison.evidences[comparison.best].versions.get("zhat", ""))


def _opinions(comparison: Comparison, second_opinions: Opinions | None) -> dict[str, list[Evidence]]:
    found = {name: [check] for name, check in comparison.checks.items()}
    for name, given in (second_opinions or {}).items():
        if name not in comparison.evidences:
            raise BadInput(
                f"second_opinions: there is no model {name!r}; the comparison has {', '.join(map(repr, comparison.names))}."
            )
        items = [given] if isinstance(given, Evidence) else list(given)
        for item in items:
            if not isinstance(item, Evidence):
                raise BadType(f"second_opinions[{name!r}] holds a {type(item).__name__}: give an Evidence.")
            if item.data_id != comparison.evidences[name].data_id:
                raise BadInput(f"second_opinions[{name!r}] was fitted to other data ({item.data_id}).")
        found[name] = [*found.get(name, []), *items]
    return found
