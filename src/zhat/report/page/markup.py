"""HTML that is safe by construction: text is escaped unless this file made it.

    tag("p", "a < b", tag("b", name), class_="note")

`Html` is the type of finished markup. Every plain `str`, child or attribute, is escaped, so text from outside can become markup only
through a call of `Html`, and only this file calls it.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable

# Elements that have no end tag in HTML.
VOID = frozenset({"meta", "link", "br", "hr"})


class Html(str):
    """Finished markup."""

    __slots__ = ()


Child = str | Html | None


def text(value: object) -> Html:
    """Anything as text: escaped, without control characters and those that reverse the direction of text."""
    if isinstance(value, Html):
        return value
    kept = "".join(c for c in str(value) if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    return Html(html.escape(kept, quote=True))


def tag(name: str, /, *children: Child, **attributes: object) -> Html:
    """One element; attribute names may end in ``_`` (``class_``) and use ``_`` for ``-``; None leaves one out."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(str(value))}"' for key, value in attributes.items() if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{shown}>")
    return Html(f"<{name}{shown}>{join(children)}</{name}>")


def join(children: Iterable[Child], between: str = "") -> Html:
    """Children one after the other."""
    return Html(between.join(text(child) for child in children if child is not None))


def style(css: str) -> Html:
    """A style sheet of this package, not escaped."""
    if "</" in css:
        raise ValueError("a style sheet that ends its own element")
    return Html(f"<style>{css}</style>")


def table(
    header: Iterable[Child], rows: Iterable[Iterable[Child]], caption: str, *, numeric: frozenset[int] = frozenset()
) -> Html:
    """A table that turns into cards on a narrow screen: every cell carries its column's name.

    The first cell of a row names it. The roles are written out because browsers drop them when cells are laid out as blocks.
    """
    names = [text(h) for h in header]
    head = tag("tr", *(tag("th", name, scope="col", role="columnheader") for name in names), role="row")
    body = []
    for row in rows:
        cells = [
            tag("th", tag("span", cell, class_="cell"), scope="row", role="rowheader")
            if j == 0
            else tag(
                "td", tag("span", cell, class_="cell"), role="cell", data_label=html.unescape(names[j]), class_=_class(j, numeric)
            )
            for j, cell in enumerate(row)
        ]
        body.append(tag("tr", *cells, role="row"))
    return tag(
        "table",
        tag("caption", caption),
        tag("thead", head, role="rowgroup"),
        tag("tbody", *body, role="rowgroup"),
        role="table",
    )


def _class(column: int, numeric: frozenset[int]) -> str | None:
    return "number" if column in numeric else None
