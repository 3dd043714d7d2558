"""The page of a crosscheck: the verdict at the top, every family in the table, nothing from outside as markup."""

from dataclasses import replace

import pytest

import zhat
from zhat import zoo
from zhat.report.page.crosscheck import crosscheck_page
from zhat.results.estimate import Status

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def found():
    return zhat.crosscheck(zoo.example("E1").model, seed=1, progress=False)


def test_the_page_has_the_verdict_the_table_and_the_recipe(found, tmp_path):
    page = found.report(tmp_path / "page.html").read_text(encoding="utf-8")
    for words in (
        "✓ Confirmed: trust 3 of 5.",
        "from the modes",
        "from the prior, by tempering",
        "zhat.crosscheck(model, seed=1)",
    ):
        assert words in page
    assert "would have been noticed" in page and "<svg" in page and "Why runs were refused" not in page


def test_a_refused_run_is_explained_and_a_hostile_name_is_text(found):
    first, second = found.members
    refused = replace(second.evidence, log_evidence_se=None, status=Status.suspect("stuck", f"hardly moved {HOSTILE}."))
    answer = replace(found.evidence, model=HOSTILE)
    page = crosscheck_page(replace(found, evidence=answer, members=(first, replace(second, evidence=refused))))
    assert "Why runs were refused" in page and "hardly moved" in page
    assert HOSTILE not in page and "&lt;img src=x" in page
