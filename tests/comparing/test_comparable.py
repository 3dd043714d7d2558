"""What evidences must have to stand side by side, and prior probabilities of models."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import zhat
from zhat import zoo
from zhat.comparing.comparable import check_evidences, check_prior
from zhat.errors import BadInput, BadType


@pytest.fixture(scope="module")
def runs():
    found = zhat.evidences({k: zoo.example(k).model for k in ("E8s-none", "E8s-slope")}, "laplace", seed=1, progress=False)
    check_evidences(found)
    return found


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"data_id": "other"}, "'E8s-none' and 'E8s-slope' have different data .*and other"),
        ({"log_evidence": math.nan}, "'E8s-slope' failed and cannot be compared"),
        ({"model": "E8s-none", "n_dimensions": 1}, r"the same model as far as an evidence can tell \('E8s-none', 1 parameters"),
    ],
)
def test_what_cannot_be_compared_gets_a_sentence(runs, change, sentence):
    first = replace(runs["E8s-none"], n_dimensions=1)
    with pytest.raises(BadInput, match=sentence):
        check_evidences({"E8s-none": first, "E8s-slope": replace(runs["E8s-slope"], **change)})


def test_what_is_no_evidence(runs):
    with pytest.raises(BadType, match="'a' is a int: give an Evidence"):
        check_evidences({"a": 1, "b": runs["E8s-none"]})
    with pytest.raises(BadInput, match="two or more"):
        check_evidences({"a": runs["E8s-none"]})
    with pytest.raises(BadType, match="a dict of evidences by name"):
        check_evidences(list(runs.values()))


def test_priors_by_name_or_in_order():
    assert check_prior(("a", "b"), None) == (0.5, 0.5)
    assert check_prior(("a", "b"), [0.2, 0.8]) == check_prior(("a", "b"), {"b": 0.8, "a": 0.2}) == (0.2, 0.8)
    for prior, sentence in (
        ({"a": 1.0}, r"missing \['b'\]"),
        ({"a": 0.5, "b": 0.5, "c": 0.0}, r"not compared \['c'\]"),
        ([1.0], "1 entries for 2 models"),
        ([-0.5, 1.5], "not negative"),
        ([0.5, 0.6], "not to one"),
    ):
        with pytest.raises(BadInput, match=sentence):
            check_prior(("a", "b"), prior)
