"""Every exception of the library is one of ours and one of Python's, so that either can be caught."""

from __future__ import annotations

import inspect

import pytest

from zhat import errors

OURS = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if cls.__module__ == errors.__name__]


@pytest.mark.parametrize("cls", [cls for cls in OURS if cls is not errors.ZhatError])
def test_each_is_ours_and_a_builtin_one(cls):
    assert issubclass(cls, errors.ZhatError) and issubclass(cls, ValueError | TypeError | RuntimeError)
    assert cls.__doc__


def test_a_failed_run_keeps_what_it_had():
    kept = object()
    error = errors.EvidenceFailed("said", kept)
    assert error.evidence is kept and str(error) == "said"
