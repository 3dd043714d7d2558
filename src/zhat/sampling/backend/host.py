"""The backend of short runs of a model that can be traced: densities are compiled, the arithmetic of kernels runs in NumPy.

A compiled sweep is one program that holds kernel, target and model; compiling it takes about a second, and a model is new to the
compiler each time its likelihood is edited. Its moves are quicker by a millisecond, so it earns the second back after a thousand of
them, and many runs make some dozens. So a run begins here: of the model only the density (and the gradient, where a kernel uses it)
is compiled, as for every other use of them. A run that makes more than `sweep.MOVES_ON_HOST` moves for one purpose (of
a few points `sweep.MOVES_OF_FEW_ON_HOST`) goes on compiled. Nested sampling always does, and begins compiled.

Where it changes over is a number of moves of this run, never a clock nor what was compiled before: the same seed gives the same digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zhat.sampling.backend.backend import NumpyBackend
from zhat.sampling.backend.batches import densities_at, gradients_at
from zhat.sampling.state import State
from zhat.sampling.target import Target


@dataclass(frozen=True)
class HostBackend(NumpyBackend):
    """NumPy around compiled densities; a sweep counts its evaluations from what its moves report.

    `quick` is whether gradients are compiled without optimisation; densities are not, which everything else uses, too.
    """

    quick: bool = False

    def density(self, position: Any, active: Any = None) -> tuple[Any, Any]:
        """See `Backend`."""
        return densities_at(self.model, position, small=True)

    def gradient(self, position: Any, target: Target) -> State:
        """See `Backend`."""
        return gradients_at(self.model, position, target, small=True, quick=self.quick)
