"""Families from different ends, and one verdict."""

import json

import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadType
from zhat.run.crosscheck import TRUST, Verdict


@pytest.fixture(scope="module")
def easy():
    return zhat.crosscheck(zoo.example("E2").model, seed=1, progress=False)


def test_two_runs_where_all_is_well(easy):
    assert easy.verdict is Verdict.CONFIRMED and easy.trust == 3
    assert [member.family.label for member in easy.members] == ["importance", "smc"]
    assert abs(easy.log_evidence - zoo.example("E2").log_evidence) < 4.0 * easy.log_evidence_se
    assert easy.status.is_ok and 0.0 < easy.resolution < 0.1


def test_it_prints_a_table_that_aligns_and_says_what_to_do(easy):
    lines = str(easy).splitlines()
    assert lines[0].startswith("crosscheck of E2: confirmed (trust 3 of 5)")
    assert len({line.index("s.e.") + 4 for line in lines if "s.e." in line}) == 1
    assert "Next: nothing" in easy.explain() and "would have been noticed" in easy.explain()
    assert json.loads(json.dumps(easy.to_dict()))["verdict"] == "confirmed"


def test_it_enters_a_comparison(easy):
    other = zhat.evidence(zoo.example("E1").model, seed=1, progress=False)
    assert easy.evidence.log_evidence_se is not None and other.log_evidence_se is not None


@pytest.mark.slow
def test_one_end_is_enough_for_one_sided():
    example = zoo.example("S6")
    result = zhat.crosscheck(example.model, seed=1, progress=False)
    assert result.verdict in (Verdict.ONE_SIDED, Verdict.CONFIRMED) and result.status.is_ok
    assert abs(result.log_evidence - example.log_evidence) < 4.0 * result.log_evidence_se
    assert {member.family.label for member in result.members} >= {"nested", "nested by slices"}


def test_trust_rises_with_the_verdict():
    assert TRUST[Verdict.NO_ANSWER] < TRUST[Verdict.UNCONFIRMED] < TRUST[Verdict.ONE_SIDED] < TRUST[Verdict.CONFIRMED]


def test_bad_input_is_refused_before_any_run():
    with pytest.raises(BadType, match="Model"):
        zhat.crosscheck({"x": dist.Normal(0.0, 1.0)})
