"""HTML of results for notebooks: the text of the terminal, as small tables."""

from __future__ import annotations

from zhat.comparing.comparison import Comparison
from zhat.report.page.markup import tag
from zhat.results.estimate import Evidence


def of_evidence(result: Evidence) -> str:
    """The line, and every reason below it."""
    first, *rest = result.explain().splitlines()
    return tag("div", tag("b", first), *(tag("div", line.strip()) for line in rest))


def of_comparison(comparison: Comparison) -> str:
    """The table and the sentence."""
    header, rows = comparison.rows()
    head = tag("tr", *(tag("th", name, scope="col") for name in header))
    body = [tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])) for row in rows]
    return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), tag("p", comparison.sentence()))
