"""`zhat demo`: the pine and Pima models of Friel & Wyse (2012), what is known of them, the Bayes factors, and a report of each."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re

from zhat import zoo
from zhat.cli import main
from zhat.studies import demo


def test_the_page_shows_estimate_error_and_truth(capsys, tmp_path):
    assert main(["demo", "--out", str(tmp_path / "reports")]) == 0
    out = capsys.readouterr().out
    assert "-310.12829" in out and "-301.70460" in out and "-257.23230" in out
    for of, word, exact in (("2 against 1", "exact", 4553.65), ("1 against 2", "known", 13.82)):
        factor, error = map(float, re.search(rf"Bayes factor of {of}:  ([\d.]+) ± ([\d.]+)", out).groups())
        assert re.search(rf"{word}:  {exact}", out)
        assert abs(factor - exact) < 4 * error
        assert error < 0.01 * factor
    for name in ("pine", "pima"):
        page = (tmp_path / "reports" / f"{name}.html").read_text(encoding="utf-8")
        assert f"{name}.html" in out
        assert "they agree" in page and "Decided; every run passed" in page


def test_without_an_error_the_page_says_so(monkeypatch):
    real = demo.evidence(zoo.example("E1").model, "prior-mean", seed=1)
    names = itertools.count()

    def doubtful(model, seed):
        return dataclasses.replace(real, log_evidence_se=None, log_evidence=-310.0, model=f"m{next(names)}")

    monkeypatch.setattr(demo, "evidence", doubtful)
    page = demo.compare_pine().text
    assert "1.00 ± ?" in page
    assert math.isclose(zoo.pine("density").log_evidence, -310.12829, abs_tol=1e-5)


def test_json(capsys):
    assert main(["demo", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["comparisons"]) == {"pine", "pima"} and found["reports"] == []
