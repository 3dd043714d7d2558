"""New live points by rejection from a region around the survivors: few likelihood calls in up to a dozen dimensions.

The survivors are uniform draws of the prior above the threshold. In the unit cube of the prior (`sampling.nested.cube`) ellipsoids
are put around them that reach as far as left-out survivors need (`sampling.nested.ellipsoids`), and points that are uniform in the
part of the cube inside the ellipsoids are evaluated until enough of them are above the threshold. They are independent of the
survivors and of each other, and one costs as many likelihoods as the region is larger than what it encloses: 1.2 to 2 in few
dimensions, 2 to 10 in ten. Moves of a Markov chain cost twenty and more (`MarkovReplacement`).

*Masses.* The prior mass of the region, V, is known without a likelihood: by its volume, or by draws from the cube or from the
ellipsoids of which the share inside both is counted. So every evaluated point, above the threshold or not, is a draw of known density
1/V relative to the prior, and all points of a run, its first prior draws included, are one importance sample from a mixture:

    Z = mean of L(x) / g(x),     g(x) = sum over regions s of (N_s / N) [x in s] / V_s.

This is importance nested sampling (Cameron & Pettitt 2014; Feroz et al. 2019). Its standard error does not add up over the shrinkages of
a run as that of live points does, √(H/n), and is several times smaller. What a region leaves out is not lost: the earlier
ones, and the prior draws, include it.

*Draws made again.* A part of the posterior in which no point happened to be drawn is left out of later regions, and has no draw that would
stand for it: so the mean of L / g over the draws of the run itself is low where contours have long, thin parts, and its standard error does
not know (a cigar and a pancake round one centre: 0.02 to 0.08 low, stated 0.003). Where a likelihood costs little, in a compiled model,
the draws of the run serve to find the regions alone; as many new ones are made in each, from which the answer is unbiased.

*When it lies.* When a part above the threshold holds no survivor, as every nested sampler; the insertion ranks and the comparison of
this estimate with that of the shrinkages see what a region cuts off, if it matters.

*When it does not pay.* The volume that ellipsoids enclose too much grows with the dimension, and with contours that are not
like ellipsoids. Where a new point would cost more than `calls_at_most` likelihoods, or the survivors are too few for a fit, the
batch is drawn by Markov moves (`otherwise`); early contours, cut by the edges of the prior, are often the worst, and later batches
come from regions again. Moved points are no draws of a known density and are not in the mixture. As soon as they hold more than
a thousandth of the evidence, all later batches are moved, and the answer is that of the shrinkages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from zhat.errors import BadType
from zhat.kinds import checked_kinds
from zhat.model.model import Model
from zhat.results.records import Array
from zhat.sampling.backend.backend import expect
from zhat.sampling.backend.evaluation import state_at
from zhat.sampling.backend.likelihoods import evaluator
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels._checks import check_whole
from zhat.sampling.nested.balls import Balls, balls_around
from zhat.sampling.nested.cube import Cube, cube_of
from zhat.sampling.nested.ellipsoids import Ellipsoids, enclosing
from zhat.sampling.nested.replacement import MarkovReplacement, Replaced, Vacancies
from zhat.sampling.state import State
from zhat.sampling.tuning import Scale
from zhat.seeding import Key

# Draws in one round for the mass of a region, the relative standard error of the mass at which no more are made, and their
# largest number. Errors of several regions average out; half a per cent of a mass is less than 0.005 nats.
MASS_AT_ONCE, MASS_SE, MASS_AT_MOST = 16_384, 0.005, 131_072
# Below this share of usable draws the region is not drawn from.
LEAST_SHARE = 2e-3
# Likelihood calls for a new point above which Markov moves take over: moves cost twenty to forty. Those of a compiled model take less time than
# the hundreds of moves that a posterior with hundreds of modes takes (periodograms), after which points still are in the mode they were in.
CALLS_AT_MOST, CALLS_AT_MOST_COMPILED = 25, 1000
# Evaluations after which the cost of a new point is judged, as a multiple of `calls_at_most`: that many for ten new points.
JUDGED_AFTER = 10
# Share of points above the threshold below which the number of draws that will be needed is not believed.
LEAST_EXPECTED = 0.2
# The same from the expected masses alone, for which nothing is evaluated: a factor of two allows for their uncertainty (a guess).
HOPELESS = 2.0
# Balls are tried where ellipsoids would take more calls than this for a new point, and up to so many dimensions: in more of them the
# neighbour searches took most of a run's CPU time (10 dimensions: 11.8 instead of 3.9 s). Where balls stop paying was not measured.
WELL_FILLED, BALLS_UP_TO = 1.5, 5
# The same for a compiled likelihood, which takes less time than it takes to find out whether a draw is in a ball.
WELL_FILLED_COMPILED = 10.0


Shape = Ellipsoids | Balls


class Region(NamedTuple):
    """A region of the cube and its prior mass: log V, and the relative standard error of V.

    `ellipsoids` None is the whole cube; `given` are the numbers, among all evaluated points of the run, of those that it was fitted to.
    The prior's density in the cube, where it is not uniform, is cut off at exp(`log_top`):
    draws have density min(q, top) / V.
    """

    ellipsoids: Shape | None
    log_mass: float
    mass_se: float
    log_top: float = 0.0
    given: Any = None

    def groups(self, coordinates: Array) -> NDArray[np.int64]:
        """Numbers of the separate parts of the region in which points of it are."""
        return np.zeros(len(coordinates), dtype=np.int64) if self.ellipsoids is None else self.ellipsoids.groups(coordinates)

    def log_density(self, coordinates: Array, log_q: Array, number: NDArray[np.int64]) -> Array:
        """Log density, relative to the prior, of draws from the region at some points of the cube; `number` is that of each point.

        A point that the region was fitted to counts as inside only if it would be inside without it.
        """
        inside = np.ones(len(number), bool)
        if self.ellipsoids is not None:
            order = np.argsort(self.given)
            at = np.minimum(np.searchsorted(self.given, number, sorter=order), len(order) - 1)
            inside = self.ellipsoids.inside(coordinates, np.where(self.given[order[at]] == number, order[at], -1))
        return np.where(inside, np.minimum(0.0, self.log_top - log_q) - self.log_mass, -np.inf)


class Drawn(NamedTuple):
    """All points that were evaluated in a region: where in the cube, the log density of the prior there, log likelihoods."""

    region: Region
    coordinates: Array
    log_q: Array
    points: State

    def above(self, threshold: float) -> NDArray[np.int64]:
        """Which of them became live points."""
        return np.flatnonzero(self.points.log_likelihood > threshold)


@dataclass(frozen=True)
@checked_kinds
class RegionReplacement:
    """Draws from ellipsoids around the survivors; where one would cost more than `calls_at_most` likelihoods, Markov moves.

    Attributes
    ----------
    calls_at_most : int or None
        Likelihood calls for one new point above which Markov moves take over. None: 25 for a black box, about what moves cost; 1000 for a
        compiled model.
    otherwise : MarkovReplacement
        Those moves.
    """

    calls_at_most: int | None = None
    otherwise: MarkovReplacement = field(default_factory=MarkovReplacement)

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.calls_at_most is not None:
            check_whole("RegionReplacement", "calls_at_most", self.calls_at_most, 2)
        if not isinstance(self.otherwise, MarkovReplacement):
            raise BadType(f"RegionReplacement(otherwise={self.otherwise!r}): give zhat.settings.MarkovReplacement(...).")

    def first_scale(self, n_dimensions: int) -> Scale:
        """That of the Markov moves."""
        return self.otherwise.first_scale(n_dimensions)

    def replace(self, model: Model, vacancies: Vacancies, scale: Scale, key: Key, loop: Loop) -> Replaced:
        """See `Replacement`."""
        new = None if vacancies.by_moves else self._from_region(model, vacancies, scale, key.child("region"), loop)
        return new if new is not None else self.otherwise.replace(model, vacancies, scale, key, loop)

    def _from_region(self, model: Model, vacancies: Vacancies, scale: Scale, key: Key, loop: Loop) -> Replaced | None:
        """New points by rejection; None where that does not pay."""
        cube, at_most = cube_of(model), self.calls_at_most or (CALLS_AT_MOST if model.is_black_box else CALLS_AT_MOST_COMPILED)
        source = _smallest(cube, vacancies, at_most, key.generator())
        if source is None:
            return None
        threshold, n_new = vacancies.threshold, vacancies.n_new
        kept, evaluated = [], []
        n_above = n_evaluated = 0
        while n_above < n_new:
            # Never more at once than are missing, so that no evaluation is left over.
            at, log_density = source.take(n_new - n_above)
            if not len(at):
                return None
            position, _ = cube.positions(at)
            if model.is_black_box and (n_workers := evaluator().n_workers) > 1:
                share = n_above / n_evaluated if n_evaluated else math.exp(vacancies.log_mass - source.region.log_mass)
                rejected = len(at) * (1.0 / min(max(share, LEAST_EXPECTED), 1.0) - 1.0)
                expect(model, cube.positions(source.peek(n_workers + math.ceil(rejected)))[0])
            drawn = state_at(model, position, loop)
            above = np.flatnonzero(drawn.log_likelihood > threshold)
            kept.append(drawn.take(above))
            evaluated.append((at, log_density, drawn))
            n_above, n_evaluated = n_above + len(above), n_evaluated + len(at)
            loop.tick(f"log likelihood above {threshold:.6g}: {n_above} of {n_new} from {n_evaluated:,} draws near the survivors")
            if n_evaluated >= JUDGED_AFTER * at_most and n_above * at_most < n_evaluated:
                return None
        at, log_density = (np.concatenate([part[i] for part in evaluated]) for i in (0, 1))
        whole = Drawn(source.region, at, log_density, State.joined([part[2] for part in evaluated]))
        points = State.joined(kept)
        return Replaced(points, np.full(n_new, -1), 0, n_new / n_evaluated, 0.0, 0.0, scale, whole)


def drawn_again(model: Model, drawn: Drawn, key: Key, loop: Loop) -> Drawn:
    """As many new draws from a region as were made in it, independent of those that it and later regions were fitted to."""
    cube, region = cube_of(model), drawn.region
    assert region.ellipsoids is not None
    source = _Source(cube, region.ellipsoids, key.generator())
    source.log_top = region.log_top
    at, log_q = source.take(len(drawn.log_q))
    return Drawn(region, at, log_q, state_at(model, cube.positions(at)[0], loop))


def _smallest(cube: Cube, vacancies: Vacancies, calls_at_most: int, rng: np.random.Generator) -> _Source | None:
    """Draws from the smaller region of ellipsoids and balls; None where a new point would cost too much by either."""
    (inside, log_q), (near, near_q) = cube.of(vacancies.survivors.position), cube.of(vacancies.dead)
    if not (np.isfinite(inside).all() and np.isfinite(log_q).all()):
        return None
    usable = np.isfinite(near).all(axis=1) & np.isfinite(near_q)
    near = near[usable]
    numbers = vacancies.numbers[np.concatenate([np.ones(len(inside), bool), usable])]
    sources: list[_Source] = []

    def consider(shape: Shape | None) -> float:
        """The expected cost of a new point with this shape or the best before."""
        source = None if shape is None else _Source.around(cube, shape, rng)
        sources.extend([] if source is None else [source])
        return min((math.exp(source.region.log_mass - vacancies.log_mass) for source in sources), default=math.inf)

    calls = consider(enclosing(inside, near, vacancies.log_mass, rng))
    well_filled = WELL_FILLED if cube.model.is_black_box else WELL_FILLED_COMPILED
    if calls > well_filled and inside.shape[1] <= BALLS_UP_TO:
        calls = consider(balls_around(inside, rng))
    if not sources or calls > HOPELESS * calls_at_most:
        return None
    best = min(sources, key=lambda source: source.region.log_mass)
    best.region = best.region._replace(given=numbers)
    return best


class _Source:
    """Uniform draws, with respect to the prior, from the part of the cube inside the ellipsoids; none costs a likelihood."""

    def __init__(self, cube: Cube, ellipsoids: Shape, rng: np.random.Generator) -> None:
        self.cube, self.ellipsoids, self.rng = cube, ellipsoids, rng
        # Whichever of the two has the smaller volume: draws from the cube that fall into an ellipsoid, or the other way round.
        self.from_cube = ellipsoids.total > 1.0
        self.log_outer = 0.0 if self.from_cube else math.log(ellipsoids.total)
        self.log_top = 0.0
        self.region = Region(ellipsoids, 0.0, 0.0)
        self.pool: list[tuple[Array, Array]] = []
        self.tries_left = MASS_AT_MOST

    @staticmethod
    def around(cube: Cube, ellipsoids: Shape, rng: np.random.Generator) -> _Source | None:
        """With its mass measured; None if hardly any draw is usable."""
        source = _Source(cube, ellipsoids, rng)
        first = source._round()
        if not cube.is_uniform and len(first[1]):
            source.log_top = float(first[1].max())
        share, squares, n = 0.0, 0.0, 0
        rounds = [first]
        while True:
            coordinates, log_q, weight = rounds[-1]
            usable = weight * np.exp(np.minimum(log_q - source.log_top, 0.0))
            share, squares, n = share + usable.sum(), squares + (usable**2).sum(), n + MASS_AT_ONCE
            mean = share / n
            if mean < LEAST_SHARE:
                return None
            se = math.sqrt(max(squares / n - mean**2, 0.0) / n) / mean
            source.pool.append(source._thinned(coordinates, log_q, weight))
            if se < MASS_SE or n >= MASS_AT_MOST:
                break
            rounds.append(source._round())
        source.region = Region(ellipsoids, math.log(mean) + source.log_outer + source.log_top, se, source.log_top)
        return source

    def take(self, n: int) -> tuple[Array, Array]:
        """The next n draws of the region and the log density of the prior there; fewer only if there are none."""
        while sum(len(part[1]) for part in self.pool) < n:
            self.pool.append(self._thinned(*self._round()))
        coordinates, log_q = (np.concatenate([part[i] for part in self.pool]) for i in (0, 1))
        self.pool = [(coordinates[n:], log_q[n:])]
        return coordinates[:n], log_q[:n]

    def peek(self, n: int) -> Array:
        """Coordinates of draws that `take` returns next, n of them where they have been made already."""
        return self.pool[0][0][:n]

    def _round(self) -> tuple[Array, Array, Array]:
        """Draws inside cube and ellipsoids, the log density of the prior there, and one over the number of ellipsoids around each."""
        if self.from_cube:
            drawn = self.rng.random((MASS_AT_ONCE, self.cube.model.n_dimensions))
            count = self.ellipsoids.number_around(drawn)
            coordinates = drawn[count > 0]
            weight = np.ones(len(coordinates))
        else:
            drawn = self.ellipsoids.draw(MASS_AT_ONCE, self.rng)
            drawn = drawn[((drawn > 0.0) & (drawn < 1.0)).all(axis=1)]
            one = self.ellipsoids.n_parts == 1
            coordinates, weight = drawn, np.ones(len(drawn)) if one else 1.0 / np.maximum(self.ellipsoids.number_around(drawn), 1)
        if self.cube.is_uniform or not len(coordinates):
            return coordinates, np.zeros(len(coordinates)), weight
        log_q = self.cube.positions(coordinates)[1]
        return coordinates, np.where(np.isnan(log_q), -np.inf, log_q), weight

    def _thinned(self, coordinates: Array, log_q: Array, weight: Array) -> tuple[Array, Array]:
        """Draws kept with a probability in proportion to their weight and the prior: uniform with respect to it."""
        keep = self.rng.random(len(weight)) < weight * np.exp(np.minimum(log_q - self.log_top, 0.0))
        return coordinates[keep], log_q[keep]
