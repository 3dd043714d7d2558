"""A page around its sections, and the file that it is written to."""

import pytest

from zhat.errors import BadInput
from zhat.report.page.markup import tag
from zhat.report.page.whole import check_path, whole_page, write_page


def test_sections_are_listed_at_the_top_and_nothing_is_loaded():
    page = whole_page("<title>", [tag("h1", "A & B")], [("one", "The first", [tag("p", "text")])], "1.0")
    assert page.startswith("<!DOCTYPE html>") and "default-src &#x27;none&#x27;" in page
    assert '<a href="#one">The first</a>' in page and '<section id="one"><h2>The first</h2><p>text</p></section>' in page
    assert "&lt;title&gt;" in page and "A &amp; B" in page and "<script" not in page


def test_a_path_is_refused_before_a_run(tmp_path):
    for bad in (tmp_path / "page.pdf", tmp_path / "nowhere" / "page.html"):
        with pytest.raises(BadInput):
            check_path(bad)
    path = write_page("a", check_path(tmp_path / "page.html"))
    assert write_page("b", path).read_text() == "b" and [p.name for p in tmp_path.iterdir()] == ["page.html"]
