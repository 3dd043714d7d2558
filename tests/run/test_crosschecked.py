"""What a crosscheck prints, and where it stands on the ladder of trust."""

import json
from dataclasses import replace

import pytest

import zhat
from zhat import zoo
from zhat.results.estimate import Status
from zhat.run.crosschecked import TRUST, Verdict


@pytest.fixture(scope="module")
def easy():
    return zhat.crosscheck(zoo.example("E2").model, seed=1, progress=False)


def test_it_prints_a_table_that_aligns_and_says_what_to_do(easy):
    lines = str(easy).splitlines()
    assert lines[0].startswith("crosscheck of E2: confirmed (trust 3 of 5)")
    assert len({line.index("s.e.") + 4 for line in lines if "s.e." in line}) == 1
    assert "Next: nothing" in easy.explain() and "would have been noticed" in easy.explain()
    assert json.loads(json.dumps(easy.to_dict()))["verdict"] == "confirmed"


def test_where_nothing_agrees_the_range_is_given(easy):
    lower = replace(easy.members[1].evidence, log_evidence=easy.log_evidence - 3.0)
    apart = (easy.members[0], replace(easy.members[1], evidence=lower))
    answer = replace(easy.evidence, log_evidence_se=None, status=Status.suspect("no-agreement", "families disagree."))
    found = replace(easy, evidence=answer, verdict=Verdict.CONTRADICTED, members=apart)
    low, high = found.span
    assert high - low == pytest.approx(3.0, abs=0.1) and f"span {low:.2f} to {high:.2f}" in found.explain()
    assert json.loads(json.dumps(found.to_dict()))["span"] == [low, high]
    assert "families disagree." in found.explain() and found.trust == 0


def test_trust_rises_with_the_verdict():
    assert TRUST[Verdict.NO_ANSWER] < TRUST[Verdict.UNCONFIRMED] < TRUST[Verdict.ONE_SIDED] < TRUST[Verdict.CONFIRMED]
    assert [verdict for verdict in Verdict if verdict.is_answer] == [Verdict.CONFIRMED, Verdict.ONE_SIDED]
