"""Metropolis walks over subsets, many at a time, with every model evaluated once; `spaces.search` reads their record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zhat.errors import BadInput
from zhat.results.records import Array
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.families import peaks_of_all
from zhat.seeding import Key

if TYPE_CHECKING:
    from zhat.spaces.subsets import Subsets

Integers = NDArray[np.int64]

# Share of moves that swap two covariates instead of flipping one.
SWAPS = 0.3


class Known:
    """Models evaluated so far, each once: mask, Laplace's log evidence, log prior, mode."""

    def __init__(self, family: Subsets, prior: Callable[[Array], float] | None, loop: Loop) -> None:
        self.family, self.loop = family, loop
        self._prior = prior
        self._row: dict[bytes, int] = {}
        self.masks: list[Array] = []
        self.log_z: list[float] = []
        self.log_prior: list[float] = []
        self.mode: list[Array] = []

    def rows(self, masks: Array, parents: Integers | None) -> Integers:
        """Rows of these models; new ones are optimised together, from the modes of their parents."""
        names = [mask.tobytes() for mask in masks.astype(bool)]
        new = [i for name, i in {name: i for i, name in enumerate(names)}.items() if name not in self._row]
        if new:
            start = None if parents is None else np.stack([self.mode[parents[i]] for i in new])
            peaks = peaks_of_all(self.family.model, self.family.mask, masks[new], self.loop, start)
            for k, i in enumerate(new):
                self._row[names[i]] = len(self.masks)
                self.masks.append(masks[i].copy())
                self.log_z.append(float(peaks.log_mass[k]))
                self.log_prior.append(self._log_prior(masks[i]))
                self.mode.append(peaks.mode[k])
        return np.array([self._row[name] for name in names])

    def log_joint(self, rows: Integers) -> Array:
        """Log prior and evidence of these models."""
        return np.array([self.log_z[i] + self.log_prior[i] for i in rows])

    def _log_prior(self, mask: Array) -> float:
        if self._prior is None:
            return 0.0
        chance = float(self._prior(mask))
        if not (np.isfinite(chance) and chance >= 0.0):
            raise BadInput("Subsets.search(prior=...): it must return a finite number, 0 or above, for every mask.")
        return float(np.log(chance)) if chance > 0.0 else -np.inf


@dataclass(frozen=True)
class Walks:
    """The record of the walks after warm-up: (moves, chains) of each; -1 where no flip was proposed."""

    at: Integers  # row of the model
    flipped: Integers  # covariate
    without: Integers  # rows of the pair of models that differ in it
    with_: Integers
    seen_by: NDArray[np.bool_]  # (rows, 2): which half of the walks evaluated a model


def walk(known: Known, n_chains: int, n_moves: int, key: Key, loop: Loop) -> Walks:
    """Walks that start at no covariates, at all, and at random subsets; the first quarter is discarded."""
    rng = key.generator()
    p = len(known.family.covariates)
    masks = (rng.random((n_chains, p)) < rng.random((n_chains, 1))).astype(np.float64)
    masks[0], masks[1] = 0.0, 1.0
    at = known.rows(masks, None)
    chain = np.arange(n_chains)
    half = chain % 2
    seen: list[tuple[Integers, Integers]] = [(at, half)]
    kept: list[tuple[Integers, ...]] = []
    for move in range(n_moves):
        masks = np.stack([known.masks[i] for i in at])
        proposed, flipped = _propose(masks, rng)
        to = known.rows(proposed, at)
        seen.append((to, half))
        with np.errstate(invalid="ignore"):  # between two models of no mass the walk stays
            better = known.log_joint(to) - known.log_joint(at)
        if move >= n_moves // 4:
            was_in = masks[chain, np.maximum(flipped, 0)] > 0.5
            kept.append((at, flipped, np.where(was_in, to, at), np.where(was_in, at, to)))
        at = np.where(-rng.standard_exponential(n_chains) < better, to, at)
        if move % 20 == 0:
            loop.tick(f"move {move} of {n_moves}, {len(known.masks):,} models")
    seen_by = np.zeros((len(known.masks), 2), bool)
    for rows, halves in seen:
        seen_by[rows, halves] = True
    arrays = [np.stack(part) for part in zip(*kept, strict=True)]
    return Walks(arrays[0], arrays[1], arrays[2], arrays[3], seen_by)


def _propose(masks: Array, rng: np.random.Generator) -> tuple[Array, Integers]:
    """A flip or a swap of every mask, and the covariate flipped (-1 for a swap). Both moves are symmetric."""
    n, p = masks.shape
    proposed = masks.copy()
    flipped = rng.integers(p, size=(n,))
    swap = rng.random(n) < SWAPS
    # The largest of uniforms over the included ones picks one at random; likewise over the excluded ones.
    luck = rng.random((2, n, p))
    out: Integers = np.argmax(np.where(masks > 0.5, luck[0], -1.0), axis=1)
    in_: Integers = np.argmax(np.where(masks < 0.5, luck[1], -1.0), axis=1)
    able = (masks.sum(axis=1) > 0) & (masks.sum(axis=1) < p)
    flip, both = np.flatnonzero(~swap), np.flatnonzero(swap & able)
    proposed[flip, flipped[flip]] = 1.0 - masks[flip, flipped[flip]]
    proposed[both, out[both]] = 0.0
    proposed[both, in_[both]] = 1.0
    return proposed, np.where(swap, -1, flipped)
