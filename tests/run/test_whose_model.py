"""Whose model it is, when it is not one of ours."""

from __future__ import annotations

import pytest

import zhat
from zhat.errors import BadType


def a_class(name, module):
    return type(name, (), {"__module__": module})


@pytest.mark.parametrize("call", [zhat.evidence, zhat.sandwich])
def test_a_pymc_model_is_told_from_ours(call):
    with pytest.raises(BadType) as told:
        call(a_class("Model", "pymc.model.core")())
    message = str(told.value)
    assert f"{call.__name__}() takes a zhat.Model first, not a pymc.model.core.Model: PyMC models are not read yet." in message
    assert "zhat.Model(log_likelihood, prior, data=...)" in message and "zhat.proposal_from_draws(model, draws)" in message


def test_anything_else_is_named_with_its_module():
    with pytest.raises(BadType, match=r"not a somewhere\.Model: give zhat\.Model\(log_likelihood, prior, data=\.\.\.\)\.$"):
        zhat.evidence(a_class("Model", "somewhere")())
    with pytest.raises(BadType, match=r"not a function: give"):
        zhat.evidence(lambda p: 0.0)
    with pytest.raises(BadType, match=r"not a dict: give"):
        zhat.evidence({})


def test_the_names_that_the_message_gives_exist():
    assert callable(zhat.Model) and callable(zhat.proposal_from_draws) and callable(zhat.Importance)
