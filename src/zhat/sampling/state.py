"""A batch of points and what is known at each: the one record of points that samplers hand to each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from zhat.results.records import Draws


class State(NamedTuple):
    """Points (n, d) with their log priors and log likelihoods (n,); or states of points over moves, with an additional leading axis.

    Construct it by keywords. `gradient`, of the target's log density, is None for kernels that use none, and `log_prior` is None
    where no kernel reads it. Between the steps of a kernel that moves parameters, `position` is their dictionary.
    """

    position: Any
    log_prior: Any
    log_likelihood: Any
    gradient: Any = None

    @staticmethod
    def of_draws(draws: Draws) -> State:
        """The points of some draws."""
        return State(position=draws.position, log_prior=draws.log_prior, log_likelihood=draws.log_likelihood)

    def with_moves(self, n_moves: int) -> State:
        """The points as states of `n_moves` moves each, one move after another: leading axes (n_moves, n / n_moves)."""
        return self._each(lambda field: field.reshape(n_moves, -1, *field.shape[1:]))

    def take(self, rows: Any) -> State:
        """Some of the points (of the leading axis), in this order."""
        return self._each(lambda field: field[rows])

    def chosen(self, mask: Any, other: State, xp: Any) -> State:
        """These points where the mask is true, the other ones where it is not."""

        def choose(own: Any, others: Any) -> Any:
            if own is None or others is None:
                return None
            return xp.where(mask[:, None] if own.ndim > 1 else mask, own, others)

        return State(*map(choose, self, other))

    @staticmethod
    def joined(parts: Sequence[State]) -> State:
        """Several batches in one, one after another."""
        if len(parts) == 1:
            return parts[0]
        fields = zip(*parts, strict=True)
        return State(*(None if any(part is None for part in field) else np.concatenate(field) for field in fields))

    def _each(self, function: Callable[[Any], Any]) -> State:
        return State(*(None if field is None else function(field) for field in self))
