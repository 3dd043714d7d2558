"""Two evidences of one model: agree, far apart, disagree, and what cannot be judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

import zhat
from zhat import zoo
from zhat.comparing.agreement import Agreement


@pytest.fixture(scope="module")
def run():
    found = zhat.evidence(zoo.example("E1").model, "importance", seed=1, progress=False)
    return replace(found, log_evidence=-5.0, log_evidence_se=0.03)


@pytest.mark.parametrize(
    ("apart", "words", "disagrees"),
    [
        (0.02, "0.4 joint standard errors of 0.05; they agree (within 2).", False),
        (0.12, "2.4 joint standard errors of 0.05; they differ, but not beyond 3.", False),
        (-0.2, "4.0 joint standard errors of 0.05; they disagree (beyond 3); do not rely on either.", True),
    ],
)
def test_a_sentence_for_every_outcome(run, apart, words, disagrees):
    found = Agreement(run, replace(run, log_evidence=-5.0 + apart, log_evidence_se=0.04, method="smc", seed=7))
    assert str(found).startswith("smc (seed 7) gives ") and str(found).endswith(words)
    assert found.disagrees is disagrees and found.to_dict()["agrees"] is (not disagrees)


def test_without_an_error_nothing_is_judged(run):
    found = Agreement(run, replace(run, log_evidence=3.0, log_evidence_se=None))
    assert "cannot be judged" in str(found)
    assert not found.disagrees and not found.can_be_judged
    assert found.to_dict()["z"] is None and found.to_dict()["agrees"] is None
