"""The page of a comparison: what it says, that it stands alone, and that nothing from outside is markup."""

from __future__ import annotations

import dataclasses
import html
import re
from html.parser import HTMLParser

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.comparing.sensitivity import Sensitivity
from zhat.errors import BadInput, BadType
from zhat.report.page.drawing import decades, ticks
from zhat.report.page.markup import join, style, tag, text
from zhat.report.page.page import report_page
from zhat.report.page.recipe import python_call
from zhat.report.page.words import agreement, why_trust
from zhat.results.estimate import Reason

HOSTILE = "<img src=x onerror=alert(1)></script>\"'&\x1b\u202e"


@pytest.fixture(scope="module")
def runs():
    names = {"none": "E8s-none", "slope": "E8s-slope"}
    return {
        name: zhat.evidence(zoo.example(id_).model, "importance", seed=i, progress=False)
        for i, (name, id_) in enumerate(names.items())
    }


class Elements(HTMLParser):
    """The elements of a page and their attributes; checks that what is opened is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, name, attrs):
        self.found.append((name, dict(attrs)))
        if name != "meta":
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name


def test_the_page_has_the_answer_the_reasons_and_the_recipe(runs, tmp_path):
    comparison = zhat.Comparison.of(runs)
    path = comparison.report(tmp_path / "page.html", question="Is there a slope?")
    page = path.read_text(encoding="utf-8")
    for words in (
        "Is there a slope?",
        "data favour slope over none",
        "Decided",
        "Pareto k",
        "@article{geweke1989",
        "seed=0",
        "jax 0.",
    ):
        assert words in page, words
    for e in runs.values():
        assert str(e.seed) in page and f"{e.log_evidence:.4f}" in page
    assert page.count("<h2>") == 7


def test_it_stands_alone_and_is_accessible(runs):
    page = report_page(zhat.Comparison.of(runs))
    elements = Elements(page)
    names = [name for name, _ in elements.found]
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(names)
    assert not [a for _, attrs in elements.found for a in attrs if a in ("src", "action", "style") or a.startswith("on")]
    assert all(attrs["href"].startswith("#") for name, attrs in elements.found if name == "a")
    ids = [attrs["id"] for _, attrs in elements.found if "id" in attrs]
    assert {attrs["href"][1:] for name, attrs in elements.found if name == "a"} == set(ids)
    for name, attrs in elements.found:
        if name == "svg":
            assert attrs["role"] == "img" and len(attrs["aria-label"]) > 40
    assert names.count("h1") == 1 and ("html", {"lang": "en"}) in elements.found
    assert "url(" not in page and "@import" not in page and not re.search(r"https?://", page)


def test_colours_have_contrast(runs):
    page = report_page(zhat.Comparison.of(runs))
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", page))
    for ink, paper in (
        ("ink", "paper"),
        ("soft", "paper"),
        ("soft", "wash"),
        ("good", "good-wash"),
        ("doubt", "doubt-wash"),
        ("blue", "paper"),
    ):
        assert contrast(colours[ink], colours[paper]) >= 4.5, (ink, paper)


def contrast(one: str, two: str) -> float:
    """As the accessibility guidelines (WCAG 2) define it."""

    def light(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        return np.dot([0.2126, 0.7152, 0.0722], [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts])

    low, high = sorted((light(one), light(two)))
    return (high + 0.05) / (low + 0.05)


def test_hostile_words_stay_words(runs):
    first, second = runs.values()
    status = zhat.Status(zhat.Level.SUSPECT, (Reason(HOSTILE, HOSTILE),))
    bad = dataclasses.replace(
        first, model=HOSTILE, method=HOSTILE, status=status, settings={HOSTILE: HOSTILE}, versions={HOSTILE: HOSTILE},
        data_id=HOSTILE,
        no_se_because=HOSTILE, log_evidence_se=None, cites=(HOSTILE,),
    )  # fmt: skip
    good = dataclasses.replace(second, data_id=HOSTILE)
    grid = np.array([1.0, 2.0])
    curve = Sensitivity(HOSTILE, HOSTILE, grid, grid, grid, grid, {1.0: bad})
    comparison = zhat.Comparison.of({HOSTILE: bad, "good": good})
    page = report_page(comparison, question=HOSTILE, second_opinions={HOSTILE: bad}, sensitivity=[curve])
    usual = report_page(
        zhat.Comparison.of(runs), second_opinions={"none": first}, sensitivity=[dataclasses.replace(curve, runs={1.0: first})]
    )
    assert {name for name, _ in Elements(page).found} <= {name for name, _ in Elements(usual).found}
    assert "<img" not in page and "</script" not in page and "\x1b" not in page and "\u202e" not in page
    assert "Not reliable" in page
    for shown in (bad._repr_html_(), comparison._repr_html_()):
        assert "<img" not in shown and "&lt;img" in shown


def test_methods_that_disagree_spoil_the_answer(runs):
    first = runs["none"]
    other = dataclasses.replace(first, log_evidence=first.log_evidence + 1.0, method="smc")
    page = report_page(zhat.Comparison.of(runs), second_opinions={"none": [first, other]})
    assert "two methods disagree about none" in page and "they agree" in page
    assert "they disagree (beyond 3)" in agreement(first, other)
    assert "cannot be judged" in agreement(first, dataclasses.replace(other, log_evidence_se=None))


def test_many_models_are_cut_and_it_says_so(runs):
    first = runs["none"]
    many = {f"m{i}": dataclasses.replace(first, model=f"m{i}", log_evidence=-float(i)) for i in range(30)}
    page = report_page(zhat.Comparison.of(many))
    assert "The 10 least probable models are in the table only" in page and "of 435 pairs" in page


@pytest.mark.parametrize("method", ["smc", "nested", "power-posterior", "chib-jeliazkov", "ais", "laplace"])
def test_every_sort_of_run_has_reasons_in_words(method):
    result = zhat.evidence(zoo.example("E2").model, method, seed=1, progress=False)
    sentences = why_trust(result)
    assert len(sentences) >= 1 and all(s.endswith(".") and "nan" not in s for s in sentences)


def test_the_recipe_gives_the_same_digits(runs):
    result = zhat.evidence(zoo.example("E1").model, "prior-mean", seed=5, repeats=2, progress=False)
    space = {"zhat": zhat, "runs": {}, "models": {"a'b": zoo.example("E1").model}}
    exec(python_call(result, "a'b"), space)
    assert space["runs"]["a'b"].log_evidence == result.log_evidence
    tempered = zhat.evidence(zoo.example("E1").model, "smc", seed=5, progress=False)
    assert "# with schedule=AdaptiveESS(fraction=" in python_call(tempered, "x")


def recipe_of(page: str) -> str:
    """The first block of the last section, as a reader would copy it."""
    return html.unescape(re.findall(r"<pre>(.*?)</pre>", page.split("How to reproduce it</h2>")[1], re.DOTALL)[0])


def test_the_page_repeats_a_comparison_of_unnamed_models(capsys):
    def log_likelihood(params, y):
        return dist.Normal(params["x"], 1.0).log_prob(y).sum()

    models = {
        f"width '{w}'": zhat.Model(log_likelihood, {"x": dist.Normal(0.0, w)}, data=np.array([1.0, 2.0])) for w in (1.0, 9.0)
    }
    comparison = zhat.compare(models, "importance", seed=4, prior=[0.3, 0.7], progress=False)
    exec(recipe_of(report_page(comparison)), {"models": models})
    assert capsys.readouterr().out.strip() == str(comparison)


def test_rounds_that_were_added_are_told(runs):
    first = dataclasses.replace(runs["none"], repeats=runs["none"].repeats * 3, diagnostics={"runs_before_pooling": 1})
    page = report_page(zhat.Comparison.of({**runs, "none": first}))
    assert "the first round of none;" in page and "repeats=" not in recipe_of(page)


@pytest.mark.parametrize(("path", "message"), [("x.pdf", "ends in .html"), ("absent/x.html", "no directory")])
def test_paths_that_cannot_be_written(runs, path, message, tmp_path):
    with pytest.raises(BadInput, match=message):
        zhat.Comparison.of(runs).report(tmp_path / path)


def test_second_opinions_are_checked(runs):
    comparison, other = zhat.Comparison.of(runs), zhat.evidence(zoo.example("E1").model, "laplace", seed=1)
    with pytest.raises(BadInput, match="there is no model 'x'"):
        report_page(comparison, second_opinions={"x": other})
    with pytest.raises(BadInput, match="other data"):
        report_page(comparison, second_opinions={"none": other})
    with pytest.raises(BadType, match="give an Evidence"):
        report_page(comparison, second_opinions={"none": ["x"]})


def test_markup_escapes_what_it_did_not_make():
    assert tag("p", "a<b", tag("i", "&"), class_='x"y', data_a=None) == '<p class="x&quot;y">a&lt;b<i>&amp;</i></p>'
    assert join(["<", None, text("<")]) == "&lt;&lt;"
    with pytest.raises(ValueError, match="ends its own"):
        style("</style>")


def test_ticks_are_round_and_inside():
    assert ticks(0.0, 1.0) == [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    assert ticks(-8.7, 0.3) == [-8.0, -6.0, -4.0, -2.0, 0.0]
    assert ticks(2.0, 2.0) == [2.0]
    assert decades(0.01, 1.0) == [0.01, 0.1, 1.0]
    assert decades(0.02, 3.0) == [0.03, 0.1, 0.3, 1.0, 3.0]
    assert decades(2.0, 9.0) == [2.0, 5.0]
