"""Arrays are checked before arithmetic starts: what passes, and which element a refusal names."""

from __future__ import annotations

import numpy as np
import pytest

from zhat.numerics import _checks


def test_what_passes_comes_back_as_float64():
    for check in (_checks.numbers, _checks.vector, _checks.finite_vector, _checks.finite, _checks.unit_interval):
        found = check([0, 1], "x")
        assert found.dtype == np.float64 and found.tolist() == [0.0, 1.0]
    assert _checks.log_weights([[-np.inf, 0.0]]).shape == (1, 2)
    assert _checks.numbers(np.inf, "x") == np.inf


@pytest.mark.parametrize(
    ("check", "values", "message"),
    [
        (_checks.numbers, [[0.0, np.nan]], r"x\[0, 1\]=nan: not a number"),
        (_checks.numbers, np.nan, "x=nan"),
        (_checks.vector, [[1.0]], r"x has shape \(1, 1\): one axis"),
        (_checks.finite, [1.0, -np.inf], r"x\[1\]=-inf: averages"),
        (_checks.finite_vector, [np.inf], r"x\[0\]=inf"),
        (_checks.log_weights, [0.0, np.inf], r"x\[1\]=inf: an infinite weight"),
        (_checks.log_weight_vector, [[0.0]], "one axis"),
        (_checks.unit_interval, [0.5, 1.5], r"x\[1\]=1.5: uniform numbers"),
    ],
)
def test_a_refusal_names_the_element_and_the_reason(check, values, message):
    with pytest.raises(ValueError, match=message):
        check(values, "x")


def test_arrays_that_are_read_in_pairs_have_one_length():
    _checks.same_length(np.zeros(2), np.ones(2), "a and b")
    with pytest.raises(ValueError, match=r"a and b have shapes \(2,\) and \(3,\)"):
        _checks.same_length(np.zeros(2), np.zeros(3), "a and b")
