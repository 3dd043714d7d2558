"""How chains climb a ladder, and what they leave behind at a rung: what `sampling.ladder` and `sampling.rungs_together` share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from zhat.errors import BadInput
from zhat.results.records import Array
from zhat.sampling.kernels._base import Tuning
from zhat.sampling.tempering.population import Moves


@dataclass(frozen=True)
class LadderChains:
    """How chains chains: how many, in how many islands, what is thrown away and kept at each rung.

    With `n_islands = n_chains` no chain ever meets another: the review's way, if `burn_in` is a fixed number of moves.
    """

    n_chains: int = 400
    n_kept: int = 20
    burn_in: Moves = field(default_factory=lambda: Moves(correlation=0.3, at_once=5, at_most=60))
    n_islands: int = 20

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.n_chains < 1 or self.n_kept < 2:
            raise BadInput(f"Climb(n_chains={self.n_chains}, n_kept={self.n_kept}): needs a chain, and two states a rung.")
        if self.n_islands < 1 or self.n_chains % self.n_islands:
            raise BadInput(
                f"Climb(n_chains={self.n_chains}, n_islands={self.n_islands}): the islands are equal, so the number of chains "
                "must be a multiple of theirs."
            )


@dataclass(frozen=True)
class ChainRung:
    """What the chains did at one beta: (m, n) arrays, positions (m, n, d); `log_prior` is None if no kernel read it."""

    position: Array
    log_prior: Array | None
    log_likelihood: Array
    acceptance: float = 1.0
    correlation: float = 0.0
    memory: float = 0.0
    n_moves: int = 0
    ancestors: NDArray[np.int64] | None = None
    idleness: Array | None = None
    idle: float = 0.0  # the share of chains that even shorter moves did not move
    tuning: Tuning | None = None  # what shaped the moves
