"""Buffers: the same memory for the same name, shape and kind, and aligned so that compiled code reads it in place."""

from __future__ import annotations

import numpy as np
import pytest

from zhat.sampling.backend.buffers import ALIGNMENT, Buffers, aligned


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (0, 2)])
def test_memory_is_aligned_and_of_the_shape(shape, dtype):
    found = aligned(shape, dtype)
    assert found.shape == shape and found.dtype == dtype and found.flags.writeable
    assert found.size == 0 or found.ctypes.data % ALIGNMENT == 0


def test_what_was_written_is_there_again():
    buffers = Buffers()
    buffers.place("noise", (4,), np.float64)[:] = 7.0
    assert buffers.place("noise", (4,), np.float64).tolist() == [7.0] * 4


def test_another_name_shape_or_kind_is_other_memory():
    buffers = Buffers()
    first = buffers.place("noise", (4,), np.float64)
    for other in (("more", (4,), np.float64), ("noise", (2, 2), np.float64), ("noise", (4,), np.int64)):
        assert not np.shares_memory(first, buffers.place(*other))
