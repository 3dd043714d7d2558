"""The outer integral: Laplace's inner integral summed over a lattice of the other parameters, refined until it stops moving.

The mode of log Z~(theta) and its curvature (`sampling.latent.ascent`) give standardised coordinates theta = mode + E z. There the
trapezoid rule on a lattice of step h converges geometrically (for a normal integrand its relative error is 2 exp(-2 pi^2 / h^2) in
each coordinate: 5e-9 at h = 1). The lattice is grown from the mode: neighbours of nodes within `DROP` nats of the highest are added, so
that each side is as wide as its own tail, and corners that hold nothing cost nothing.

Two lattices are used, one shifted by half a step in all coordinates: their first errors have opposite signs, so their mean is better
than both.

*Its error.* A finer pair follows until the means of two steps agree to `AGREE`; the change from the last step to this one, which is larger
than what is left, is the error. The difference of the two lattices of a pair is no measure of it: where the integrand is narrow along a
diagonal both have the same error. The share of nodes at the rim is added for what lies beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from zhat.numerics.logspace import log_sum_exp
from zhat.results.records import Array
from zhat.sampling.backend.loop import Loop
from zhat.sampling.latent.ascent import Ascent, ascend
from zhat.sampling.latent.field import Field
from zhat.sampling.latent.inner import Node, inner_modes

# Nats below the highest node at which the lattice ends, in one and two dimensions and in more, where nodes are many: a normal
# has 2e-6 of its mass beyond in two dimensions, 8e-5 in three. The share of the rim around them is part of the error.
DROP, DROP_IN_MANY = 13.0, 11.0
# Means of two steps that differ by at most this many nats agree, in one and two dimensions and in more.
AGREE, AGREE_IN_MANY = 1e-3, 2e-3
# The first step in standard deviations, in one and two dimensions and in more; the factor of the next, how many there are; nodes at most.
FIRST_STEP, FIRST_STEP_IN_MANY = 1.4, 1.6
FINER = 0.7
MOST_REFINEMENTS = 5
MOST_NODES = 40_000
# Nats below the highest mode within which a prior draw is a seed of the lattice: what it stands for is more than exp(-6) of the mass.
SEED_DROP = 6.0
# Prior draws of theta that are evaluated, and the best of them that an ascent starts from.
SEARCHED = 128
OPTIMISED = 4
# Prior draws of the latents from which Newton starts where zero fails (a saddle between two modes, an edge).
FURTHER_STARTS = 4

Point = tuple[int, ...]


@dataclass
class Marginal:
    """log Z~(theta) at any values. Newton starts at the mode of the best node so far, then at zero, then at prior draws."""

    field: Field
    loop: Loop
    draws: Array
    best: Node | None = None

    def nodes(self, theta: Array) -> list[Node | None]:
        """The nodes at these values."""
        starts = [np.zeros(self.field.shape.size)] if self.best is None else [self.best.mode, np.zeros(self.field.shape.size)]
        if not self.field.log_concave:
            starts += list(self.draws[:FURTHER_STARTS])
        nodes: list[Node | None] = [None] * len(theta)
        for start in starts:
            left = [k for k, node in enumerate(nodes) if node is None]
            if not left:
                break
            for k, node in zip(left, inner_modes(self.field, theta[left], start, self.loop), strict=True):
                nodes[k] = node
        for node in nodes:
            if node is not None and (self.best is None or node.log_laplace > self.best.log_laplace):
                self.best = node
        return nodes

    def values(self, theta: Array) -> Array:
        """log Z~ at these values; -inf where no inner mode was found."""
        return np.array([-np.inf if node is None else node.log_laplace for node in self.nodes(theta)])


@dataclass(frozen=True)
class Outer:
    """The nodes of both lattices with equal weight, and what they sum to.

    Attributes
    ----------
    nodes : list of Node
    log_cell : float
        Log volume that a node stands for.
    log_integral : float
        The mean of both lattices.
    error : float
        The change from the step before, and the share of the rim.
    step : float
    agrees : bool
        Whether two steps agree; False when the nodes allowed were too few.
    n_modes : int
        Separate maxima that the search found.
    searched : (n, m) array
        Prior draws of theta at which the search evaluated log Z~.
    searched_value : (n,) array
    """

    nodes: list[Node]
    log_cell: float
    log_integral: float
    error: float
    step: float
    agrees: bool
    n_modes: int
    searched: Array = field(default_factory=lambda: np.zeros((0, 0)))
    searched_value: Array = field(default_factory=lambda: np.zeros(0))


def integrate(field: Field, draws: Array, loop: Loop) -> Outer | None:
    """Integrate over theta; `draws` are prior draws, unconstrained. None where no inner mode was found."""
    marginal = Marginal(field, loop, draws[:, field.latent])
    if not len(field.rest):
        nodes = [node for node in marginal.nodes(np.zeros((1, 0))) if node is not None]
        return Outer(nodes, 0.0, nodes[0].log_laplace, 0.0, 0.0, True, 1) if nodes else None
    searched = draws[:SEARCHED, field.rest]
    value = marginal.values(searched)
    if not np.isfinite(value).any():
        return None
    modes, axes = _search(marginal, searched, value)
    # Draws within reach of the highest mode are seeds of the lattice too: a region apart from the modes is then part of it.
    top = max(value.max(), marginal.values(modes[:1])[0])
    found = _refine(marginal, modes, np.concatenate([modes, searched[value > top - SEED_DROP]]), axes, loop)
    return replace(found, searched=searched, searched_value=value)


# -- the search ----------------------------------------------------------------------------------------------------------------


def _search(marginal: Marginal, draws: Array, values: Array) -> tuple[Array, Array]:
    """The maxima of log Z~, highest first, and axes in which the highest has unit curvature; from prior draws and the values there."""
    widths = np.maximum(np.subtract(*np.quantile(draws, [0.84, 0.16], axis=0)) / 2.0, 1e-3)
    order = [row for row in np.argsort(-values) if np.isfinite(values[row])]
    ends = sorted(ascend(marginal.values, draws[order[:OPTIMISED]], np.diag(widths)), key=lambda end: -end.value)
    top = ends[0]
    inverse = np.asarray(np.linalg.inv(top.axes), np.float64)
    modes = [top.place]
    for end in ends[1:]:
        if _apart(end, modes, inverse) > 1.0 and end.value > top.value - DROP:
            modes.append(end.place)
    return np.array(modes), top.axes


def _apart(end: Ascent, modes: list[Array], inverse: Array) -> float:
    """Standard deviations to the nearest of the modes."""
    return min(float(np.linalg.norm(inverse @ (end.place - mode))) for mode in modes)


# -- the lattice ---------------------------------------------------------------------------------------------------------------


@dataclass
class _Lattice:
    """Nodes by their whole coordinates, in units of half a step; even ones and odd ones are the two lattices."""

    marginal: Marginal
    centre: Array
    axes: Array
    step: float
    nodes: dict[Point, Node | None] = field(default_factory=dict)

    def theta(self, points: list[Point]) -> Array:
        return self.centre + 0.5 * self.step * np.array(points, float) @ self.axes.T

    def evaluate(self, points: list[Point]) -> None:
        new = [point for point in dict.fromkeys(points) if point not in self.nodes]
        if new:
            self.nodes.update(zip(new, self.marginal.nodes(self.theta(new)), strict=True))

    def value(self, point: Point) -> float:
        node = self.nodes[point]
        return -np.inf if node is None else node.log_laplace

    def grow(self, seeds: list[Point], loop: Loop) -> tuple[list[Point], list[Point]]:
        """The nodes within DROP of the highest that are connected with the seeds, and the rim around them."""
        self.evaluate(seeds)
        seen, inside, frontier = set(seeds), [], list(seeds)
        rim: list[Point] = []
        drop = DROP if len(self.centre) <= 2 else DROP_IN_MANY
        top = -np.inf
        while frontier and len(self.nodes) < MOST_NODES:
            loop.tick(f"quadrature  {len(self.nodes)} nodes")
            top = max([top, *(self.value(point) for point in frontier)])
            kept = [point for point in frontier if self.value(point) > top - drop]
            rim += [point for point in frontier if self.value(point) <= top - drop]
            inside += kept
            near = [_moved(point, i, by) for point in kept for i in range(len(point)) for by in (-2, 2)]
            frontier = [point for point in dict.fromkeys(near) if point not in seen]
            seen.update(frontier)
            self.evaluate(frontier)
        return inside, rim + frontier


def _moved(point: Point, axis: int, by: int) -> Point:
    return (*point[:axis], point[axis] + by, *point[axis + 1 :])


def _refine(marginal: Marginal, modes: Array, places: Array, axes: Array, loop: Loop) -> Outer:
    """The integral over lattices centred at the first mode and grown from all `places`."""
    m = modes.shape[1]
    log_volume = float(np.log(np.abs(np.linalg.det(axes))))
    inverse = np.linalg.inv(axes)
    step, allowed = (FIRST_STEP, AGREE) if m <= 2 else (FIRST_STEP_IN_MANY, AGREE_IN_MANY)
    total, change, n_nodes = np.nan, np.inf, 0
    for _ in range(MOST_REFINEMENTS):
        lattice = _Lattice(marginal, modes[0], axes, step)
        nearest = [np.round((inverse @ (place - modes[0])) / step) for place in places]
        sums, inside, beyond = [], [], 0.0
        for odd in (0, 1):
            seeds = list(dict.fromkeys(tuple(int(2 * i) + odd for i in place) for place in nearest))
            points, rim = lattice.grow(seeds, loop)
            points += [point for point in rim if lattice.value(point) > -np.inf]
            sums.append(float(log_sum_exp(np.array([lattice.value(point) for point in points]))))
            # What lies beyond the rim is about twice as much as the rim (the mean of both lattices): tails of scales fall
            # exponentially, and slowly along ridges. On the autoregression in noise it is 0.7 to 1.6 times the rim.
            beyond += sum(float(np.exp(lattice.value(point) - sums[-1])) for point in rim)
            inside += points
        log_cell, n_nodes = log_volume + m * float(np.log(step)) - float(np.log(2.0)), len(lattice.nodes)
        before, total = total, float(np.logaddexp(sums[0], sums[1])) + log_cell
        change = np.inf if np.isnan(before) else abs(total - before)
        if change < allowed or n_nodes / FINER**m > MOST_NODES:
            break
        step *= FINER
    if np.isinf(change):  # the first lattice is the largest that is allowed
        change = abs(sums[0] - sums[1])
    nodes = [node for point in inside if (node := lattice.nodes[point]) is not None]  # with the rim
    agrees = change < allowed and n_nodes < MOST_NODES
    return Outer(nodes, log_cell, total, change + beyond, lattice.step, agrees, len(modes))
