"""The report as a browser shows it: nothing sticks out, nothing is loaded, nothing runs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.comparing.sensitivity import Sensitivity
from zhat.results.estimate import Reason

HOSTILE = ("<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "\"'><svg onload=alert(2)>" + "w" * 200)


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    """Hostile names everywhere that a user's words can come."""
    one = zhat.evidence(zoo.example("E8s-none").model, "importance", seed=1, repeats=3, progress=False)
    two = zhat.evidence(zoo.example("E8s-slope").model, "smc", seed=2, progress=False)
    bad = zhat.Status(zhat.Level.SUSPECT, (Reason(HOSTILE[0], HOSTILE[1]),))
    runs = [
        dataclasses.replace(one, model=HOSTILE[0], method=HOSTILE[1]),
        dataclasses.replace(two, model=HOSTILE[1], settings={HOSTILE[2]: HOSTILE[0], "x": [HOSTILE[1]]}),
        dataclasses.replace(
            one, model=HOSTILE[2], status=bad, log_evidence_se=None, no_se_because=HOSTILE[0], versions={"a": HOSTILE[0]}
        ),
    ]
    comparison = zhat.Comparison.of(dict(zip(HOSTILE, runs, strict=True)))
    grid = np.array([0.1, 1.0, 10.0])
    curve = Sensitivity(HOSTILE[0], HOSTILE[1], grid, np.array([-3.0, -2.0, -4.0]), np.array([0.1, 0.1, 0.1]), grid, {1.0: one})
    path = tmp_path_factory.mktemp("report") / "hostile.html"
    return comparison.report(path, question=HOSTILE[0], second_opinions={HOSTILE[0]: [runs[1]]}, sensitivity=curve)


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_names_are_inert_and_nothing_sticks_out(browser, page, width):
    seen = browser.look(page, width)
    assert seen.overflowing == []
    assert seen.requests == [page.resolve().as_uri()]
    assert seen.complaints == [] and seen.dialogs == []
    for name in HOSTILE:
        assert name[:30] in seen.text
