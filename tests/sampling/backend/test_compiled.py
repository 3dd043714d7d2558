"""The search for cyclic garbage pauses inside, also when an error leaves, and only if it was on."""

import gc

import pytest

from zhat.sampling.backend.compiled import without_collection


def test_it_pauses_and_goes_on():
    assert gc.isenabled()
    with without_collection():
        assert not gc.isenabled()
        with without_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_error_inside_does_not_leave_it_off():
    with pytest.raises(ValueError, match="inside"), without_collection():
        raise ValueError("inside")
    assert gc.isenabled()


def test_who_has_switched_it_off_keeps_it_off():
    gc.disable()
    try:
        with without_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
