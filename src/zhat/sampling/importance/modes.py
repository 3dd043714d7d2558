"""Modes of the posterior, by damped Newton steps from many starts (Nocedal & Wright 2006); see `importance.curvature`.

All starts are optimised together. A step solves (|H| + damping) step = gradient, with |H| the Hessian of the negative log
posterior with its eigenvalues replaced by their absolute values, so that steps move away from saddle points. The damping grows
when a step does not raise the density and falls when it does. With `damping=False` it is the plain Newton scheme of Friel & Wyse
(2012) with its step size.

The density is that of the *unconstrained* vector, so a parameter at the edge of its support has its mode at infinity:
such a search does not converge, and its `Mode` has `converged` False. So has a search that ends at a boundary of zero
likelihood, where the gradient is not zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zhat.model.model import Model
from zhat.results.records import Array, Draws
from zhat.sampling.backend.evaluation import log_densities
from zhat.sampling.backend.loop import Loop
from zhat.sampling.importance.curvature import curvature, definite, scaled
from zhat.sampling.importance.parameter_maps import are_coordinates, in_parameters, positions_at
from zhat.sampling.importance.quasi_newton import GRADIENTS_ABOVE, ascended
from zhat.seeding import Key

# Starts in one compiled call: few enough that converged searches do not wait for slow ones.
AT_ONCE = 64
# A quarter of them in more dimensions than this, where a Hessian that only fills the batch is expensive.
FEW_DIMENSIONS = 20
# Starts x dimensions of a call, above a hundred dimensions.
MOST_DIMENSIONS = 2000
# Starts x dimensions x entries of the data of a call: about half a second.
MOST_NUMBERS = 200_000_000
# Starts that end closer than this, in standard deviations, are at one mode.
SAME = 0.1


@dataclass(frozen=True)
class Search:
    """Settings of a search for modes."""

    n_starts: int = 64
    tolerance: float = 1e-8
    step_size: float = 1.0
    max_iterations: int = 100
    damping: bool = True


@dataclass(frozen=True)
class Mode:
    """A local maximum of the log posterior density of the unconstrained vector."""

    position: Array
    log_density: float
    precision: Array  # the negative Hessian
    decrement: float  # what a further Newton step would gain, in nats
    converged: bool
    hits: int = 1  # searches that ended here

    @property
    def is_definite(self) -> bool:
        """Whether the curvature is that of a peak, and can be inverted without losing all digits."""
        return bool(definite(self.precision[None])[0])

    @property
    def is_usable(self) -> bool:
        """Whether a Gaussian can be centred here."""
        return self.converged and self.is_definite

    @property
    def covariance(self) -> Array:
        """Inverse of the negative Hessian."""
        (in_widths,), (width,) = scaled(self.precision[None])
        inverse = np.linalg.inv(in_widths)
        return 0.5 * (inverse + inverse.T) * np.outer(width, width)

    @property
    def log_mass(self) -> float:
        """Laplace's approximation to the log of the integral under this peak."""
        d = len(self.position)
        _, log_determinant = np.linalg.slogdet(self.precision)
        return self.log_density + 0.5 * d * float(np.log(2 * np.pi)) - 0.5 * float(log_determinant)

    def distances(self, position: Array) -> Array:
        """How far some points (n, d) are, in standard deviations of this mode; infinite where the square is no number.

        A prior with a scale of its own can have draws at 1e160, whose squares no float holds.
        """
        gap = position - self.position
        with np.errstate(over="ignore", invalid="ignore"):
            squared = np.einsum("ki,ki->k", gap @ self.precision, gap)
        return np.asarray(np.sqrt(np.where(np.isfinite(squared), np.maximum(squared, 0.0), np.inf)))

    def distance(self, other: Mode) -> float:
        """How far another mode is."""
        return float(self.distances(other.position[None])[0])


@dataclass(frozen=True)
class Modes:
    """The distinct modes found, most massive first, and how the search went."""

    modes: tuple[Mode, ...]
    n_starts: int
    n_converged: int

    @property
    def usable(self) -> tuple[Mode, ...]:
        """Modes at which a Gaussian can be centred."""
        return tuple(mode for mode in self.modes if mode.is_usable)


def find_modes(model: Model, draws: Draws, key: Key, loop: Loop, search: Search) -> Modes:
    """Optimise from the draws of highest density and from some at random; keep the distinct modes."""
    position = draws.position[starts_of(draws, search.n_starts, key)]
    position, value, gradient, precision = _optimise(model, position, search, loop)
    step = _newton_step(gradient, precision, np.zeros(len(position)))
    decrement = 0.5 * np.abs(np.einsum("ki,ki->k", gradient, step))
    # Rounding of the log likelihood limits how small a decrement can be resolved.
    tolerance = np.maximum(search.tolerance, 1e-12 * np.abs(np.where(np.isfinite(value), value, 0.0)))
    if model.is_black_box:
        tolerance = np.maximum(tolerance, 1e-4)
    converged = np.isfinite(value) & (decrement <= tolerance)
    if not model.is_black_box:
        # A last Newton step, so that the digits do not depend on which of many starts ended a rounding error higher.
        position = np.where(converged[:, None], position + step, position)
    modes = [
        Mode(position[k], float(value[k]), precision[k], float(decrement[k]), bool(converged[k]), hits)
        for k, hits in _distinct(position, value, precision, converged)
    ]
    modes.sort(key=lambda mode: -mode.log_mass if mode.is_usable else np.inf)
    return Modes(tuple(modes), len(position), sum(mode.converged for mode in modes))


def _distinct(position: Array, value: Array, precision: Array, converged: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """For each distinct end, the search that reached the highest density there, and how many searches ended there.

    Ends nearer than `SAME` standard deviations are one. All searches that failed count as one end.
    """
    usable = converged & definite(precision)
    ends = []
    if len(failed := np.flatnonzero(~usable)):
        ends.append((int(failed[np.argsort(-value[failed])[0]]), len(failed)))
    left = np.flatnonzero(usable)
    left = left[np.argsort(-value[left])]
    while len(left):
        gap = position[left] - position[left[0]]
        from_first = np.einsum("ki,ij,kj->k", gap, precision[left[0]], gap)
        from_other = np.einsum("ki,kij,kj->k", gap, precision[left], gap)
        here = np.minimum(from_first, from_other) < SAME**2
        here[0] = True
        ends.append((int(left[0]), int(here.sum())))
        left = left[~here]
    return ends


def different(modes: tuple[Mode, ...], apart: float = SAME) -> tuple[Mode, ...]:
    """Modes at least `apart` standard deviations from every more massive one, most massive first."""
    kept: list[Mode] = []
    for mode in sorted(modes, key=lambda mode: -mode.log_mass):
        if all(min(mode.distance(old), old.distance(mode)) >= apart for old in kept):
            kept.append(mode)
    return tuple(kept)


def moments_as_mode(position: Array, weight: Array, log_mass: float) -> Mode | None:
    """A normal with the mean and covariance of weighted points and this log mass, as if it were a mode; None for too few points."""
    n, d = position.shape
    if n <= 2 * d:
        return None
    share = weight / weight.sum()
    mean = share @ position
    covariance = np.atleast_2d(np.cov(position.T, aweights=share, ddof=0))
    if not np.isfinite(covariance).all() or not definite(covariance[None])[0]:
        return None
    precision = np.linalg.inv(covariance)
    log_density = log_mass - 0.5 * d * float(np.log(2 * np.pi)) + 0.5 * float(np.linalg.slogdet(precision)[1])
    return Mode(mean, log_density, 0.5 * (precision + precision.T), 0.0, True)


def peaks_at(model: Model, position: Array, widths: Array, loop: Loop) -> tuple[Mode, ...]:
    """The log posterior and its curvature at given points, without optimising from there.

    `widths` are the scales of the coordinates, from which a black box takes the steps of its differences.
    """
    value, gradient, precision = curvature(model, position, np.broadcast_to(widths, position.shape), len(position), loop)
    step = _newton_step(gradient, precision, np.zeros(len(position)))
    decrement = 0.5 * np.abs(np.einsum("ki,ki->k", gradient, step))
    return tuple(Mode(position[k], float(value[k]), precision[k], float(decrement[k]), True) for k in range(len(position)))


def starts_of(draws: Draws, n: int, key: Key) -> NDArray[np.int64]:
    """Which draws to start from: half are those of highest density, half random ones of positive likelihood."""
    density = draws.log_likelihood + draws.log_prior
    alive = np.flatnonzero(np.isfinite(density) & np.isfinite(draws.position).all(axis=1))
    n_best = min((n + 1) // 2, len(alive))
    highest = np.argpartition(-density[alive], n_best - 1)[:n_best] if n_best else np.arange(0)
    best = alive[highest[np.argsort(-density[alive[highest]], kind="stable")]]
    is_best = np.zeros(len(density), dtype=bool)
    is_best[best] = True
    rest = alive[~is_best[alive]]
    others = key.generator().choice(rest, min(n - n_best, len(rest)), replace=False, shuffle=False)
    return np.concatenate([best, others])


def _optimise(model: Model, position: Array, search: Search, loop: Loop) -> tuple[Array, Array, Array, Array]:
    widths = np.maximum(position.std(axis=0), 1e-3) * np.ones_like(position)
    if position.shape[1] > GRADIENTS_ABOVE and not model.is_black_box and search.damping:
        position = ascended(model, position, loop)
    at_once = hessians_at_once(position.shape[1], model.data_size)
    value, gradient, precision = curvature(model, position, widths, at_once, loop)
    damping = np.full(len(position), 1e-3 if search.damping else 0.0)
    active: NDArray[np.bool_] = np.isfinite(value)
    bent = search.damping and are_coordinates(model)
    for iteration in range(search.max_iterations):
        if not active.any():
            break
        loop.tick(f"mode search {iteration}  {int(active.sum())} active  best {value.max():.3f}")
        rows = np.flatnonzero(active)
        step = search.step_size * _newton_step(gradient[rows], precision[rows], damping[rows])
        gain = np.einsum("ki,ki->k", gradient[rows], step)
        goes_on = np.isfinite(gain) & (np.abs(gain) > search.tolerance) & (damping[rows] < 1e12)
        active[rows[~goes_on]] = False
        rows, step = rows[goes_on], step[goes_on]
        if not len(rows):
            break
        trial = position[rows] + step
        if bent:
            trial = _higher(model, trial, position[rows], gradient[rows], precision[rows], damping[rows], loop)
        new = curvature(model, trial, widths[rows], at_once, loop, must_be_number=False)
        rises = _rises(new[0], value[rows], search.damping)
        better = rows[rises]
        position[better], value[better] = trial[rises], new[0][rises]
        gradient[better], precision[better] = new[1][rises], new[2][rises]
        if search.damping:
            damping[better] *= 0.2
            damping[rows[~rises]] = np.maximum(damping[rows[~rises]] * 8.0, 1e-3)
        else:
            active[rows[~rises]] = False
        if model.is_black_box:  # finite differences: steps of a few hundredths of the local width
            curved = np.abs(np.einsum("kii->ki", precision[better]))
            widths[better] = np.clip(1.0 / np.sqrt(np.maximum(curved, 1e-12)), 1e-6, 1e3)
    return position, value, gradient, precision


def _higher(model: Model, trial: Array, position: Array, gradient: Array, precision: Array, damping: Array, loop: Loop) -> Array:
    """The trial points, or the ends of Newton steps in the parameters themselves where the density is higher there."""
    x, slope, curved = in_parameters(model, position, gradient, precision)
    other = positions_at(model, x + _newton_step(slope, curved, damping))
    inside = np.isfinite(other).all(axis=1)
    if not inside.any():
        return trial
    both = np.concatenate([trial[inside], other[inside]])
    first, second = np.split(np.add(*log_densities(model, both, loop)), 2)
    chosen = trial.copy()
    chosen[inside] = np.where((second > first)[:, None], other[inside], trial[inside])
    return chosen


def hessians_at_once(n_dimensions: int, data_size: int) -> int:
    """Hessians of a compiled call, one program for any number of starts; few of hundreds of dimensions or large data, each of which takes long."""
    affordable = max(1, MOST_NUMBERS // (n_dimensions * max(data_size, 1)))
    if n_dimensions <= FEW_DIMENSIONS:
        return min(AT_ONCE, affordable)
    return max(1, min(AT_ONCE // 4, MOST_DIMENSIONS // n_dimensions, affordable))


def _rises(new: Array, old: Array, must_rise: bool) -> NDArray[np.bool_]:
    """Which steps to accept: those that raise the density; with plain Newton, all that end at positive density."""
    return np.asarray(np.isfinite(new) & (new >= old) if must_rise else np.isfinite(new))


def _newton_step(gradient: Array, precision: Array, damping: Array) -> Array:
    """Solve (|H| + damping) step = gradient for each start, in units of each coordinate's own curvature."""
    with np.errstate(all="ignore"):
        finite = np.asarray(np.isfinite(precision).all(axis=(1, 2)) & np.isfinite(gradient).all(axis=1))
        safe = np.where(finite[:, None, None], precision, np.eye(gradient.shape[1]))
        width = 1.0 / np.sqrt(np.maximum(np.abs(np.einsum("kii->ki", safe)), 1e-12))
        in_widths = safe * width[:, :, None] * width[:, None, :]
        values, vectors = np.linalg.eigh(in_widths)
        values = np.maximum(np.abs(values), 1e-10 * np.abs(values).max(axis=1, keepdims=True)) + damping[:, None]
        inner = np.einsum("kij,ki->kj", vectors, gradient * width) / values
        step = np.einsum("kij,kj->ki", vectors, inner) * width
    return np.where(finite[:, None], step, 0.0)
