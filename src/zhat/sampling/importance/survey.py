"""A survey of the modes: thousands of starts, spread over the prior, and a search only from those that no known mode explains.

A mode with a narrow basin is found only if a start lies in the basin, so a basin that holds less than 3/n of the prior is missed by n
starts with a probability above 5 %. A search from each of thousands of starts would cost more than the estimate. But most starts need no
search: *if the density rises all the way along the straight line from a start to a known mode, that mode explains the start.* (For a
log-concave posterior this holds for every start; for one that falls off along every ray from its mode, too.) A start in the basin of
an unknown mode has a valley on its line: the density falls before it rises. The line is sampled at a dozen points, closer together near
the start, where the valley of a narrow basin lies; this takes a dozen likelihoods instead of dozens of gradients and Hessians. And only one start
in sixteen is compared: those whose density is high for their distance from the mode (`nearness`), as it is in the basin of an unknown one.

Searches start from the starts that are left, the highest and some at random, a batch at a time; the modes that they find explain
further starts. A basin may also lie so that lines out of it pass no valley, far in the tails of a broad mode. There the density is
above the normal approximations of all known modes; so searches start from the points where it exceeds them the most, too.
A curved posterior leaves many starts unexplained although they lead to known modes. Then only some are searched, and the resolution
says what follows: a basin that holds the share s of the prior has n s starts, of which the searched part counts.

The number of starts doubles, up to four times the first, while some mode was met by one start only: as with species in a sample, modes met
once tell how many were not met (Good 1953). It does so, too, where two modes or more matter: where there are several, further ones are likely,
and their basins may be far smaller than those that were met.

*Modes that do not matter*: a rough likelihood (a periodogram, say) has hundreds of modes without mass beside the few that have it. They
explain starts as others do, but a mode of less than a millionth of the largest mass is not counted: a search that finds one was in vain.

*What it cannot see*: a mode with fewer starts in its basin than one; a basin so narrow that no point of the line lies in its valley; one whose
densities are below those of a strongly curved broad mode wherever they are at the same distance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from zhat.model.model import Model
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import draws_from_prior, log_densities
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.modes import SAME, Mode, Modes, Search, find_modes, starts_of
from zhat.sampling.importance.nearness import high_starts
from zhat.sampling.importance.proposals import matter
from zhat.sampling.importance.starts import spread_positions
from zhat.seeding import Key

# Points of the line from a start (0) to a mode (1), denser near the start, where the valley of a narrow basin lies.
LINE = np.array([0.03, 0.06, 0.1, 0.14, 0.18, 0.23, 0.28, 0.34, 0.41, 0.5, 0.6, 0.75])
# Share of the starts in a narrow basin that are compared and whose line shows the valley: 0.94 to 0.56 of 1,800 starts in basins of 3e-4 to
# 1e-2 of the prior (two modes of unequal width, 2 to 10 dimensions). Three points of the line of every start, four likelihoods a start
# instead of 1.75, show 0.9 to 0.4.
RECOGNISED = 0.5
# Nats by which a density exceeds a normal approximation beyond rounding and the third derivative near a mode.
ABOVE = 1.0
# A fall along a line that is rounding: relative to the densities, and in nats.
ROUNDING, FALL = 1e-9, 1e-6
# Probability 95 % that a Poisson count of this mean is above zero.
NEARLY_SURE = 3.0


@dataclass(frozen=True)
class Starts:
    """How many starts and searches a survey makes.

    Attributes
    ----------
    n_starts : int
        Draws from the prior, at first.
    n_at_most : int
        To which they are doubled while some mode is met by one start only, or there are several.
    n_first : int
        Searches before the first comparison.
    n_searches : int
        Further searches, from starts that no known mode explains, at most.
    n_modes : int
        Known modes that matter at which the survey ends: more are left to methods that need no modes.
    search : Search
        Tolerance and number of steps of every search.
    steps_from_above : int
        Steps, at most, from starts above the normal approximations of the known modes: they are in a narrow basin, a few steps from
        its mode, or in a tail and need not arrive.
    """

    n_starts: int
    n_at_most: int
    n_first: int
    n_searches: int
    n_modes: int = 64
    search: Search = field(default_factory=Search)
    steps_from_above: int = 12


@dataclass(frozen=True)
class Survey:
    """The modes that a survey found, and how thorough it was.

    Attributes
    ----------
    modes : Modes
    n_starts, n_unexplained : int
        Starts, and those that are explained neither by a mode nor by a search.
    n_in_vain : int
        Searches from unexplained starts since the last one that found a new mode that matters.
    ended_early : bool
        Whether it ended at `Starts.n_modes` known modes that matter.
    """

    modes: Modes
    n_starts: int
    n_unexplained: int = 0
    n_in_vain: int = 0
    ended_early: bool = False

    @property
    def resolution(self) -> float:
        """The smallest share of the prior that a mode's basin may hold and still be met with probability 95 %."""
        if not self.modes.usable or self.ended_early:
            return 1.0
        share = NEARLY_SURE / (RECOGNISED * self.n_starts)
        if self.n_unexplained:
            left = self.n_unexplained / self.n_starts
            share = max(share, left * NEARLY_SURE / max(self.n_in_vain, NEARLY_SURE))
        return min(share, 1.0)

    @property
    def diagnostics(self) -> dict[str, float | int]:
        """How thorough it was, as entries of a result's diagnostics."""
        return {"n_starts": self.n_starts, "n_unexplained_starts": self.n_unexplained, "basin_resolution": self.resolution}


def survey_modes(
    model: Model,
    starts: Starts,
    key: Key,
    loop: Loop,
    known: tuple[Mode, ...] = (),
    source: Callable[[int, Key], Draws] | None = None,
) -> Survey:
    """Modes reached from many draws of a `source`, the prior by default; starts that `known` modes explain need no search."""
    catalogue = _Catalogue(model, loop, starts)
    catalogue.learn(known)
    n_starts, n_left = 0, 0
    while True:
        n = max(n_starts, starts.n_starts)
        if source is None:
            position = spread_positions(model, n, key.child("starts"), after=n_starts)
            draws = draws_from_prior(model, position, loop, some_must_count=False)
        else:
            draws = source(n, key.child("starts", n_starts))
        n_starts += draws.n_drawn
        n_left += catalogue.search(draws, key.child("searches", n_starts))
        if not catalogue.wants_more or n_starts >= starts.n_at_most or catalogue.is_full:
            break
    modes = catalogue.modes_with_hits
    found = Modes(modes or catalogue.failed, catalogue.n_searched, len(modes))
    return Survey(found, n_starts, n_left, catalogue.n_in_vain, catalogue.is_full)


class _Catalogue:
    """The modes known so far and how many starts met each; it grows during a survey."""

    def __init__(self, model: Model, loop: Loop, starts: Starts) -> None:
        self._model, self._loop, self._starts = model, loop, starts
        self.modes: list[Mode] = []
        self._log_masses: list[float] = []
        self.failed: tuple[Mode, ...] = ()
        self._hits: list[int] = []
        self.n_searched = 0
        self.n_in_vain = 0

    @property
    def is_full(self) -> bool:
        """Whether there are as many modes that matter as a survey may know."""
        return int(self._matter.sum()) >= self._starts.n_modes

    @property
    def wants_more(self) -> bool:
        """Whether there are several modes that matter, or one that was met by one start only."""
        hits = np.asarray(self._hits)[self._matter]
        return len(hits) > 1 or 1 in hits

    @property
    def modes_with_hits(self) -> tuple[Mode, ...]:
        """The modes, most massive first, each with the number of starts that it explains or that a search led to it.

        Of more than a survey may know, those that do not matter are left out.
        """
        counted = [replace(mode, hits=hits) for mode, hits in zip(self.modes, self._hits, strict=True)]
        found = sorted(counted, key=lambda mode: -mode.log_mass)
        return tuple(found if len(found) <= self._starts.n_modes else found[: int(self._matter.sum())])

    @property
    def _matter(self) -> NDArray[np.bool_]:
        """Which modes have more than a millionth of the largest mass."""
        return matter(np.array(self._log_masses))

    def search(self, draws: Draws, key: Key) -> int:
        """Explain these starts by known modes, and search from those that are left; how many remain unexplained."""
        left = draws = _alive(draws)
        if not len(draws.position):
            return 0
        if self.modes:
            left = self._unexplained(self._compared(draws), list(range(len(self.modes))))
        is_first, searched = not self.modes, 0
        while searched < self._starts.n_first + self._starts.n_searches and not self.is_full:
            here, search = key.child(searched), self._starts.search
            if len(left.position) and (self.modes or not searched):
                chosen = starts_of(left, self._starts.n_first, here)
                some = _take(left, chosen)
                left = _without(left, chosen)
            elif self.modes:
                above = self._above_modes(draws)
                some, search = _take(draws, above), replace(search, max_iterations=self._starts.steps_from_above)
                draws = _without(draws, above)
            else:
                break
            if not len(some.position):
                break
            searched += len(some.position)
            new = self._search_from(some, search, here)
            if new and len(left.position):
                left, is_first = self._unexplained(self._compared(left) if is_first else left, new), False
            elif not new and not len(left.position) and searched > self._starts.n_first:
                break  # the points highest above the known modes led to known modes
        return len(left.position)

    def _search_from(self, some: Draws, search: Search, key: Key) -> list[int]:
        """Search from these starts; which modes are new."""
        found = find_modes(self._model, some, key.child("search"), self._loop, replace(search, n_starts=len(some.position)))
        self.n_searched += found.n_starts
        if not found.usable:
            self.failed = self.failed or found.modes
        new = self.learn(found.usable)
        self.n_in_vain = 0 if self._matter[new].any() else self.n_in_vain + found.n_starts
        return new

    def _above_modes(self, draws: Draws) -> NDArray[np.int64]:
        """The starts at which the density exceeds the normal approximations of all known modes the most."""
        expected = np.max([mode.log_density - 0.5 * mode.distances(draws.position) ** 2 for mode in self.modes], axis=0)
        excess = draws.log_prior + draws.log_likelihood - expected
        above = np.flatnonzero(excess > ABOVE)
        return above[np.argsort(-excess[above], kind="stable")[: self._starts.n_first]]

    def learn(self, found: tuple[Mode, ...]) -> list[int]:
        """Add modes that are new; which they are. A known mode that is found again was met so many times more."""
        new = []
        for mode in found:
            at = next((i for i, old in enumerate(self.modes) if min(mode.distance(old), old.distance(mode)) < SAME), None)
            if at is None:
                at = len(self.modes)
                self.modes.append(mode)
                self._log_masses.append(mode.log_mass)
                self._hits.append(0)
                new.append(at)
            self._hits[at] += mode.hits
        return new

    def _compared(self, draws: Draws) -> Draws:
        """The starts whose density is among the highest at their distance from the known mode that should explain them."""
        return _take(draws, np.flatnonzero(high_starts(self._model, draws, self.modes)))

    def _unexplained(self, draws: Draws, which: list[int]) -> Draws:
        """The starts from which the density does not rise along the line to any of these modes that is compared."""
        density, left = draws.log_prior + draws.log_likelihood, np.arange(len(draws.position))
        for order in _candidates(draws.position, [self.modes[i] for i in which]).T:
            if not len(left):
                break
            rises = self._rises(draws.position[left], density[left], np.asarray(which)[order[left]])
            for i in np.unique(np.asarray(which)[order[left]]):
                self._hits[i] += int((rises & (np.asarray(which)[order[left]] == i)).sum())
            left = left[~rises]
        return _take(draws, left)

    def _rises(self, position: Array, density: Array, mode: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the density rises all the way along the line from each point to its mode."""
        way = np.stack([m.position for m in self.modes])[mode] - position
        top = np.array([m.log_density for m in self.modes])[mode]
        before, rising = density, np.arange(len(position))
        for share in LINE:
            if not len(rising):
                break
            log_prior, log_likelihood = log_densities(self._model, position[rising] + share * way[rising], self._loop)
            value = log_prior + log_likelihood
            rises = _no_fall(before, value)
            before, rising = value[rises], rising[rises]
        rising = rising[_no_fall(before, top[rising])]
        return np.asarray(np.isin(np.arange(len(position)), rising, assume_unique=True))


def _no_fall(before: Array, after: Array) -> NDArray[np.bool_]:
    """Whether densities do not fall by more than rounding."""
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.abs(before), np.where(np.isfinite(after), np.abs(after), 0.0))
        return np.asarray(after - before >= -(ROUNDING * np.where(np.isfinite(size), size, 0.0) + FALL))


def _candidates(position: Array, modes: list[Mode]) -> NDArray[np.int64]:
    """For every point the modes it is compared with: the one whose normal approximation is highest, and the nearest other one."""
    if len(modes) == 1:
        return np.zeros((len(position), 1), dtype=np.int64)
    expected = np.stack([mode.log_density - 0.5 * mode.distances(position) ** 2 for mode in modes], axis=1)
    first = expected.argmax(axis=1)
    unit = np.maximum(position.std(axis=0), 1e-300)
    centres = np.stack([mode.position for mode in modes]) / unit
    scaled = position / unit
    squared = (scaled**2).sum(axis=1)[:, None] - 2.0 * scaled @ centres.T + (centres**2).sum(axis=1)
    squared[np.arange(len(first)), first] = np.inf
    return np.stack([first, squared.argmin(axis=1)], axis=1)


def _alive(draws: Draws) -> Draws:
    """The starts at which the density is a number above zero."""
    density = draws.log_prior + draws.log_likelihood
    return _take(draws, np.flatnonzero(np.isfinite(density) & np.isfinite(draws.position).all(axis=1)))


def _take(draws: Draws, rows: NDArray[np.int64]) -> Draws:
    return Draws(
        position=draws.position[rows],
        log_prior=draws.log_prior[rows],
        log_likelihood=draws.log_likelihood[rows],
        n_drawn=len(rows),
    )


def _without(draws: Draws, rows: NDArray[np.int64]) -> Draws:
    keep = np.ones(len(draws.position), dtype=bool)
    keep[rows] = False
    return _take(draws, np.flatnonzero(keep))
