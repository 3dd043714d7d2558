"""Which of several kernels moves a rung: the one whose correlation with the start falls fastest for its cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from zhat.sampling.kernels._base import Kernel
from zhat.sampling.tuning import Scale

# Rungs after which a kernel that was not in use is tried again; its scale was not tuned in the meantime.
STALE = 8


@dataclass
class KernelChoice:
    """The kernels of a run, their tuned scales, and the efficiency of each: how fast its autocorrelation falls for its cost."""

    kernels: tuple[Kernel, ...]
    scales: list[Scale]
    current: int = 0
    rung: int = 0
    # The scale of stragglers' local moves, as a fraction of the kernel's first scale.
    local_part: float = 0.5
    efficiency: dict[int, float] = field(default_factory=dict)
    measured_at: dict[int, int] = field(default_factory=dict)

    @staticmethod
    def of(kernels: tuple[Kernel, ...], n_dimensions: int) -> KernelChoice:
        """The kernels at their first scales."""
        return KernelChoice(kernels, [kernel.first_scale(n_dimensions) for kernel in kernels])

    def state(self) -> list[Any]:
        """What was tuned and measured so far."""
        return [self.scales, self.current, self.rung, self.local_part, self.efficiency, self.measured_at]

    def resume(self, state: Any) -> None:
        """Go on from there."""
        self.scales, self.current, self.rung, self.local_part, self.efficiency, self.measured_at = state

    @property
    def kernel(self) -> Kernel:
        """The kernel in use."""
        return self.kernels[self.current]

    @property
    def scale(self) -> Scale:
        """Its scale."""
        return self.scales[self.current]

    @property
    def for_local_moves(self) -> Kernel:
        """The kernel of local moves: the first one without gradients, because many short leapfrog steps are expensive."""
        fitted = [kernel for kernel in self.kernels if kernel.needs_tuning]
        return next((kernel for kernel in fitted if not kernel.needs_gradient), fitted[0] if fitted else self.kernels[0])

    def measure(self, efficiency: float) -> None:
        """Average the efficiency of the current kernel's last moves with its earlier ones."""
        known = self.efficiency.get(self.current, efficiency)
        self.efficiency[self.current] = 0.5 * (known + efficiency)
        self.measured_at[self.current] = self.rung

    def reconsider(self) -> None:
        """Try a kernel not tried for `STALE` rungs, or else take the most efficient one."""
        others = [i for i in range(len(self.kernels)) if self.rung - self.measured_at.get(i, -STALE) >= STALE]
        if others:
            self.current = others[0]
        else:
            self.current = max(self.efficiency, key=lambda i: self.efficiency[i])
