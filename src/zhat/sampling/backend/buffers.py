"""Memory for noise that compiled code reads where it lies, used again for every call.

On a CPU, compiled code reads a NumPy array in place if its memory begins at a multiple of 64 bytes, and copies it first if not.
Noise that is drawn straight into such memory is never copied, and memory that was touched before is at hand: together a seventh
of the time of annealed Gibbs sweeps.

What lies on a shelf may be overwritten only when the call that reads it has finished: whoever fills one while another is read
takes two in turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ALIGNMENT = 64


class Buffers:
    """Arrays by name and shape, the same ones every time."""

    def __init__(self) -> None:
        self._arrays: dict[Any, np.ndarray] = {}

    def place(self, name: Any, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """The array of this name, with whatever was last written there."""
        kind = (name, shape, np.dtype(dtype))
        if kind not in self._arrays:
            self._arrays[kind] = aligned(shape, dtype)
        return self._arrays[kind]


def aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array, not initialised, that compiled code can read in place."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    begin = -memory.ctypes.data % ALIGNMENT
    return memory[begin : begin + size].view(dtype).reshape(shape)
