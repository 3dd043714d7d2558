"""`evidentia demo`: both pine models, their exact evidences, and the Bayes factor of the review."""

from __future__ import annotations

import dataclasses
import math
import re

from evidentia import zoo
from evidentia.cli import main
from evidentia.studies import demo


def test_the_page_shows_estimate_error_and_truth(capsys):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "-310.12829" in out and "-301.70460" in out
    factor, error = map(float, re.search(r"Bayes factor of 2 against 1:  ([\d.]+) ± ([\d.]+)", out).groups())
    assert re.search(r"exact:  4553\.65", out)
    assert abs(factor - 4553.65) < 4 * error
    assert error < 0.01 * factor


def test_without_an_error_the_page_says_so(monkeypatch):
    real = demo.evidence(zoo.example("E1").model, "prior-mean", seed=1)
    doubtful = dataclasses.replace(real, log_evidence_se=None, log_evidence=-310.0)
    monkeypatch.setattr(demo, "evidence", lambda model, seed: doubtful)
    page = demo.compare_pine().text
    assert "1.00 ± ?" in page
    assert math.isclose(zoo.pine("density").log_evidence, -310.12829, abs_tol=1e-5)
