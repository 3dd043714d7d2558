"""A whole page around its sections: one file without scripts, external files or fonts; and the writing of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from zhat.errors import BadInput
from zhat.report.page.markup import Child, style, tag

POLICY = "default-src 'none'; style-src 'unsafe-inline'"

# An identifier, a heading and what stands below it.
Section = tuple[str, str, list[Child]]


def whole_page(title: str, top: Sequence[Child], sections: Sequence[Section], version: str) -> str:
    """The page as text: its head, what stands at the top, a list of contents, the sections."""
    contents = tag(
        "nav", tag("ul", *(tag("li", tag("a", name, href=f"#{id_}")) for id_, name, _ in sections)), aria_label="contents"
    )
    body = [tag("section", tag("h2", name), *parts, id=id_) for id_, name, parts in sections]
    css = resources.files("zhat").joinpath("report", "page", "style.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        style(css),
    )
    foot = tag("footer", tag("p", f"Written by zhat {version}. This page loads nothing and runs nothing."))
    page = tag("body", tag("header", *top, contents), tag("main", *body), foot)
    return "<!DOCTYPE html>\n" + tag("html", head, page, lang="en") + "\n"


def check_path(path: str | Path) -> Path:
    """The path, if a page can be written there; called before a long run, so that a bad path costs nothing."""
    path = Path(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"path={str(path)!r}: a report is one HTML page; give a name that ends in .html.")
    if path.is_dir():
        raise BadInput(f"path={str(path)!r} is a directory; give the name of a file in it.")
    if not path.parent.is_dir():
        raise BadInput(f"path={str(path)!r}: there is no directory {str(path.parent)!r}; make it first.")
    return path


def write_page(page: str, path: Path) -> Path:
    """Write a page; a file that exists is replaced when the new one is complete."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False, encoding="utf-8") as file:
        file.write(page)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
    return path
