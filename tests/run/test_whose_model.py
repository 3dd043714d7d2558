"""Whose model it is, when it is not one of ours."""

from __future__ import annotations

import pytest

import zhat
from zhat.errors import BadType


def a_class(name, module):
    return type(name, (), {"__module__": module})


@pytest.mark.parametrize("call", [zhat.evidence, zhat.sandwich])
@pytest.mark.parametrize(
    "library, door", [("pymc.model.core", "from_pymc"), ("bambi.models", "from_bambi"), ("bridgestan.model", "from_stan")]
)
def test_the_model_of_another_library_gets_its_door(call, library, door):
    with pytest.raises(BadType) as told:
        call(a_class("Model", library)())
    assert str(told.value) == f"{call.__name__}() takes a zhat.Model first, not a {library}.Model: give zhat.Model.{door}(model)."
    assert callable(getattr(zhat.Model, door))


@pytest.mark.parametrize("library", ["pymc3.model", "cmdstanpy.model", "stan.model"])
def test_what_cannot_be_read_gets_a_way_out(library):
    with pytest.raises(
        BadType, match=r"are not read; .*, or write likelihood and prior as zhat\.Model\(log_likelihood, prior, data=\.\.\.\)"
    ):
        zhat.evidence(a_class("Model", library)())


def test_anything_else_is_named_with_its_module():
    with pytest.raises(BadType, match=r"not a somewhere\.Model: give zhat\.Model\(log_likelihood, prior, data=\.\.\.\)\.$"):
        zhat.evidence(a_class("Model", "somewhere")())
    with pytest.raises(BadType, match=r"not a function: give"):
        zhat.evidence(lambda p: 0.0)
    with pytest.raises(BadType, match=r"not a dict: give"):
        zhat.evidence({})
