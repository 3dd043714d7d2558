"""Settings of chains on a ladder of inverse temperatures, for `tempering.ladder` and `tempering.gibbs_ladder`."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from zhat.errors import BadInput, BadType
from zhat.kinds import checked_kinds, shown
from zhat.sampling.kernels._base import Kernel
from zhat.sampling.mixing import Moves
from zhat.sampling.tempering.schedules import Schedule


@dataclass(frozen=True)
@checked_kinds
class LadderChains:
    """How many chains, in how many islands, and what is thrown away and kept at each rung.

    With `n_islands = n_chains` no chain is ever resampled from another: as in Friel & Wyse (2012), if `burn_in` is a fixed
    number of moves.
    """

    n_chains: int = 400
    n_kept: int = 20
    burn_in: Moves = field(default_factory=lambda: Moves(correlation=0.3, at_once=5, at_most=60))
    n_islands: int = 20

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.n_chains < 1 or self.n_kept < 2:
            raise BadInput(f"LadderChains(n_chains={self.n_chains}, n_kept={self.n_kept}): needs a chain, and two states a rung.")
        if not isinstance(self.burn_in, Moves):
            raise BadType(f"LadderChains(burn_in={shown(self.burn_in)}): give zhat.settings.Moves(correlation=..., at_most=...).")
        if self.n_islands < 1 or self.n_chains % self.n_islands:
            raise BadInput(
                f"LadderChains(n_chains={self.n_chains}, n_islands={self.n_islands}): the islands are equal, so the number of "
                "chains must be a multiple of theirs."
            )

    def sized(self, factor: float) -> LadderChains:
        """So many times as many chains, in as many islands of at least two."""
        each = max(2, math.ceil(self.n_chains * factor / self.n_islands))
        return replace(self, n_chains=each * self.n_islands)


@dataclass(frozen=True)
class Ladder:
    """Chains on a ladder: the schedule that chooses its rungs, and the kernels that move the chains."""

    chains: LadderChains
    schedule: Schedule
    kernels: tuple[Kernel, ...]
