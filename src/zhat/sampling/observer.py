"""The one hook that samplers offer: an observer is called with every rung after its moves.

Samplers do not depend on their observers: the check for missed mass collects outlying points, a survey of the path records means
and covariances, a plot may follow the particles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from zhat.results.records import Array

if TYPE_CHECKING:
    from zhat.sampling.tuning import Tuning


class RungView(Protocol):
    """The points of a rung, (m, n, d), n in equal blocks; their densities, (m, n); and what shaped the moves of each block."""

    @property
    def position(self) -> Array:
        """Unconstrained coordinates."""
        ...

    @property
    def log_prior(self) -> Array | None:
        """Log prior density; None where no kernel evaluated it."""
        ...

    @property
    def log_likelihood(self) -> Array:
        """Log likelihood."""
        ...

    @property
    def tuning(self) -> Tuning | None:
        """Location and shape that the moves of the rung used."""
        ...


class Observer(Protocol):
    """Called after the moves of a rung: its inverse temperature, its points, and the kernels in use with their scales."""

    def __call__(self, beta: float, rung: RungView, choice: Any = None, /) -> None:
        """Read the rung; nothing is returned and nothing may be changed."""
        ...


@runtime_checkable
class Watching(Observer, Protocol):
    """An observer that can go on where another process left it; with any other one, a loop begins anew."""

    def state(self) -> list[Any]:
        """What it has read so far."""
        ...

    def resume(self, state: Any, /) -> None:
        """Go on from there."""
        ...
