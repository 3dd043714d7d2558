"""Posterior draws in two halves, by chain: a density is fitted to one and used on the other."""

from __future__ import annotations

import numpy as np

from zhat.results.records import Draws


def in_halves(draws: Draws) -> tuple[Draws, Draws]:
    """The first half of the chains and the second; of a single chain its earlier and its later draws."""
    assert draws.chain is not None
    names = np.unique(draws.chain)
    if len(names) == 1:
        n = len(draws.position) // 2
        return _rows(draws, np.arange(n)), _rows(draws, np.arange(n, 2 * n))
    first = np.isin(draws.chain, names[: len(names) // 2])
    return _rows(draws, np.flatnonzero(first)), _rows(draws, np.flatnonzero(~first))


def _rows(draws: Draws, rows: np.ndarray) -> Draws:
    assert draws.chain is not None
    return Draws(
        position=draws.position[rows],
        log_prior=draws.log_prior[rows],
        log_likelihood=draws.log_likelihood[rows],
        n_drawn=len(rows),
        chain=draws.chain[rows],
    )
