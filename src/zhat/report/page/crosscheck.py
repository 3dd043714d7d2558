"""A self-contained page on a crosscheck: the verdict, what every family said, what could not have been seen, how to reproduce it.

zhat.crosscheck(model, seed=1).report("crosscheck.html")
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from zhat.citations import bibtex, entries
from zhat.formatting import with_error
from zhat.report.page.drawing import Bar, rows_with_intervals
from zhat.report.page.markup import Child, join, table, tag
from zhat.report.page.whole import Section, whole_page

if TYPE_CHECKING:
    from zhat.run.crosschecked import Crosscheck

# What stands before the verdict at the top, by whether the number has a standard error.
MARKS = {True: "✓", False: "✗"}


def crosscheck_page(found: Crosscheck) -> str:
    """The page as text."""
    answer = found.evidence
    verdict = f"{MARKS[found.verdict.is_answer]} {found.verdict.value.capitalize()}: trust {found.trust} of 5."
    number = f"log Z = {with_error(found.log_evidence, found.log_evidence_se)}"
    top: list[Child] = [
        tag("h1", f"Crosscheck of {answer.model}"),
        tag("p", "What do methods that start from different ends say about the evidence?", class_="question"),
        tag(
            "div",
            tag("span", verdict, class_="verdict"),
            f"{number}. Next: {found.next_step}",
            class_="answer" if found.verdict.is_answer else "answer doubt",
        ),
    ]
    sections: list[Section] = [
        ("families", "What every family says", _families(found)),
        ("meaning", "What it means", [tag("ul", *(tag("li", line) for line in found.meaning()))]),
        ("cite", "Methods and citations", _citations(found)),
        ("again", "How to reproduce it", [tag("pre", f"zhat.crosscheck(model, seed={answer.seed})")]),
    ]
    return whole_page(f"Crosscheck of {answer.model}", top, sections, str(answer.versions.get("zhat", "")))


def _families(found: Crosscheck) -> list[Child]:
    """The table of runs, and a picture of those that have a number."""
    header, rows = found.rows()
    shown = [[*row[:-1], tag("span", row[-1], class_=row[-1].split(" ")[0])] for row in rows]
    parts: list[Child] = [
        table(
            header,
            shown,
            "The runs in the order in which they were made; s.e. is the standard error.",
            numeric=frozenset({2, 3, 4}),
        )
    ]
    bars = []
    for member in found.members:
        e = member.evidence
        if not math.isfinite(e.log_evidence):
            continue
        error = e.error
        interval = None if error is None else (e.log_evidence - 1.96 * error, e.log_evidence + 1.96 * error)
        bars.append(Bar(member.family.label, e.log_evidence, interval, with_error(e.log_evidence, error), not member.is_accepted))
    if bars:
        caption = "Log evidence with 95 % interval. An open circle marks a run that its own checks refuse."
        drawing = rows_with_intervals(bars, "Log evidence by family", "log evidence, nats")
        parts.append(tag("div", tag("figure", drawing, tag("figcaption", caption)), class_="figures"))
    refusals = [
        join([tag("b", member.family.label), f": {reason.sentence}"])
        for member in found.members
        for reason in member.evidence.status.reasons
    ]
    if refusals:
        parts += [tag("h3", "Why runs were refused"), tag("ul", *(tag("li", line) for line in refusals))]
    return parts


def _citations(found: Crosscheck) -> list[Child]:
    known = [key for key in found.evidence.cites if key in entries()]
    by_method = {member.evidence.method: member.evidence.cites for member in found.members}
    return [
        tag("ul", *(tag("li", tag("b", method), f": {', '.join(cites)}") for method, cites in by_method.items())),
        tag("details", tag("summary", "BibTeX"), tag("pre", bibtex(known))),
    ]
