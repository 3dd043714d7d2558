"""What calls return, as JSON values and arrays, and back."""

from __future__ import annotations

import jax
import numpy as np

from zhat.sampling.backend.nesting import MISSING, rebuilt, taken_apart
from zhat.sampling.backend.segments import Entry
from zhat.sampling.state import State


def test_a_nesting_comes_back_with_its_types():
    out = {
        "state": State(position=np.ones((2, 3)), log_prior=None, log_likelihood=np.zeros(2)),
        "both": (np.arange(3), [np.array(True)]),
    }
    spec, arrays = taken_apart(out)
    again = rebuilt(Entry(spec, arrays))
    assert isinstance(again["state"], State) and again["state"].log_prior is None
    assert again["both"][0].dtype == np.int64 and isinstance(again["both"][1], list)
    assert jax.tree.structure(again) == jax.tree.structure(out)
    assert all((np.asarray(a) == b).all() for a, b in zip(jax.tree.leaves(again), jax.tree.leaves(out), strict=True))


def test_what_is_not_a_nesting_of_arrays_is_not_taken():
    for out in ({1: np.ones(2)}, (np.ones(2), "text"), np.array(["a"])):
        assert taken_apart(out) == (None, ())


def test_an_entry_that_does_not_fit_counts_as_missing():
    for spec in (None, {"value": 3}, {"value": {"tuple": [0], "class": ["os", "system"]}}, {"other": 0}, 7):
        assert rebuilt(Entry(spec, (np.ones(1),))) is MISSING
