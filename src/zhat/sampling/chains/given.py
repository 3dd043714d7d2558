"""Posterior draws that the caller already has: from named arrays to chains of a model, with the log densities that came along.

`Brought` is what an adapter reads from a container, `Given` the same as vectors of one model. Chains stay apart. Names that are not
parameters of the model (deterministic and transformed sites) are left out. Nothing is sampled; every draw is evaluated once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from zhat.errors import BadInput
from zhat.model.model import Model
from zhat.numerics.draws.arrangement import Likeness, echo, likeness_of_neighbours
from zhat.numerics.series import effective_sample_size
from zhat.results.records import Array, Draws
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.evaluation import log_densities, unconstrained
from zhat.sampling.backend.loop import Loop
from zhat.sampling.chains.posterior import Chains, chains_of
from zhat.sampling.importance.from_draws import by_site

# Draws that are used; beyond, the error falls slowly, and each costs an evaluation or two. Chains are thinned evenly.
ENOUGH = 20_000
# Draws in all below which nothing is fitted to them.
FEWEST = 100
# Draws of one chain below which their correlation in time cannot be judged.
SHORTEST = 4
# Draws of a chain that thinning leaves, where it has so many: beyond that, whole chains are left out instead.
SERIES = 50
# Chains, more than draws of each, from which the first axis may be time.
FEWEST_ROWS = 20
# Standard errors from which neighbouring chains are taken for successive draws, and draws for those of several chains in turn. The largest of
# 10,000 lags in a hundred coordinates has 5 by chance.
EXCHANGED_AXES, INTERLEAVED = 6.0, 8.0
# Relative error of a parameter that is mapped to the unconstrained space and back: single precision has 1e-7.
ROUND_TRIP = 1e-3


@dataclass(frozen=True)
class Brought:
    """Draws as they come: arrays (chain, draw, ...) or (draw, ...) by name, and what came along.

    Attributes
    ----------
    values : mapping of str to array
    source : str
        What they were read from, for messages.
    lp : (chain, draw) array or None
        The sampler's own log density.
    lp_lacks_constants : bool
        Whether that density is known up to a constant only (Stan).
    log_likelihood, log_prior : (chain, draw) arrays or None
        Totals; the prior's is that of the parameters themselves, without Jacobian.
    n_divergent : int
    coupled : bool
        Whether the chains are walkers of one ensemble (emcee), which depend on each other.
    """

    values: Mapping[str, Array]
    source: str = "arrays"
    lp: Array | None = None
    lp_lacks_constants: bool = False
    log_likelihood: Array | None = None
    log_prior: Array | None = None
    n_divergent: int = 0
    coupled: bool = False


@dataclass(frozen=True)
class Given:
    """Draws of one model: unconstrained vectors (n_chains, n_draws, d), and what came along with them.

    `interleaved` is set where several chains stand in turn in one.
    """

    position: Array
    brought: Brought
    ignored: tuple[str, ...] = ()
    thinned_by: int = 1
    interleaved: Likeness | None = None
    lp: Array | None = None
    log_likelihood: Array | None = None
    log_prior: Array | None = None

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return self.position.shape[0]


def matched(model: Model, brought: Brought) -> Given:
    """The draws as vectors of this model; refused where names, shapes or supports do not fit."""
    flat, (n_chains, n_draws) = by_site(
        model, brought.values, "draws" if brought.source == "arrays" else f"draws from {brought.source}"
    )
    position = unconstrained(model, flat)
    _check_support(model, flat, position)
    position = position.reshape(n_chains, n_draws, -1)
    if n_chains * n_draws < FEWEST:
        raise BadInput(f"draws: there are {n_chains * n_draws} of them, too few to fit a density to; give {FEWEST} at least.")
    _check_chains(n_chains, n_draws)
    _check_moving(model, position)
    if not brought.coupled:
        _check_axes(position)
    extras = {name: _like(getattr(brought, name), n_chains, n_draws) for name in ("lp", "log_likelihood", "log_prior")}
    across, along = strides(n_chains, n_draws, ENOUGH)
    along = max(along, _walkers_step(position) if brought.coupled else 1)
    kept = (slice(None, None, across), slice(None, None, along))
    if position[kept].shape[1] < SHORTEST:
        raise BadInput(
            f"draws: the walkers' mean is independent only every {along} steps, and there are {n_draws}: run the ensemble longer."
        )
    ignored = tuple(sorted(set(brought.values) - set(model.space.names)))
    late = echo(position[:, : max(SHORTEST, ENOUGH // n_chains)])
    return Given(
        position=position[kept],
        brought=brought,
        ignored=ignored,
        thinned_by=across * along,
        interleaved=late if late.z > INTERLEAVED else None,
        **{name: None if x is None else x[kept] for name, x in extras.items()},
    )


def strides(n_chains: int, n_draws: int, at_most: int) -> tuple[int, int]:
    """Every how many chains, and every how many draws of each, are kept so that `at_most` remain and their order in time can be judged."""
    step = max(1, -(-n_chains * n_draws // at_most))
    along = min(step, max(1, n_draws // SERIES))
    return -(-step // along), along


def evaluated(model: Model, given: Given, loop: Loop) -> Chains:
    """The draws with their log densities, each evaluated once, and how well the chains agree."""
    n_chains, n_draws, d = given.position.shape
    position = given.position.reshape(-1, d)
    loop.tick(f"{len(position):,} given draws")
    log_prior, log_likelihood = log_densities(model, position, loop)
    impossible = ~np.isfinite(log_prior + log_likelihood)
    if impossible.any():
        raise BadInput(
            f"draws: the posterior density of {model.name!r} is zero at {int(impossible.sum()):,} of {len(position):,} draws, the first "
            f"is draw {int(np.argmax(impossible)) % n_draws} of chain {int(np.argmax(impossible)) // n_draws}: they are not draws of this model's posterior."
        )
    draws = Draws(
        position=position,
        log_prior=log_prior,
        log_likelihood=log_likelihood,
        n_drawn=len(position),
        chain=np.repeat(np.arange(n_chains), n_draws),
    )
    return chains_of(draws, np.nan)


def repeated_share(position: Array) -> float:
    """Share of draws (n_chains, n_draws, d) that are equal to one that is not their neighbour in the chain: a resampled sample."""
    fresh = np.ones(position.shape[:2], bool)
    fresh[:, 1:] = (position[:, 1:] != position[:, :-1]).any(axis=2)
    moved = position[fresh]
    first = np.sort(moved[:, 0])
    if (first[1:] != first[:-1]).all():  # draws that differ in one coordinate differ
        return 0.0
    return 1.0 - len(np.unique(moved, axis=0)) / len(moved)


def piled_share(position: Array) -> tuple[float, int]:
    """Of draws (n_chains, n_draws, d) the largest share that stands at the smallest or the largest value of a coordinate, and which one.

    Draws that repeat their neighbour count once, as a chain may stay where it is. The one draw that must stand there is not counted.
    """
    fresh = np.ones(position.shape, bool)
    fresh[:, 1:] = position[:, 1:] != position[:, :-1]
    ends = [((position == end) & fresh).sum(axis=(0, 1)) for end in (position.min(axis=(0, 1)), position.max(axis=(0, 1)))]
    piled = (np.maximum(*ends) - 1) / fresh.sum(axis=(0, 1))
    return float(piled.max()), int(np.argmax(piled))


def _check_chains(n_chains: int, n_draws: int) -> None:
    if n_draws < SHORTEST:
        raise BadInput(
            f"draws: {n_chains:,} chains of {n_draws} draw{'s' if n_draws > 1 else ''} each; arrays are (chain, draw, ...), and a chain needs {SHORTEST} "
            "draws at least. Are the first two axes exchanged? Then give x.swapaxes(0, 1) of every array; draws of one chain are (draw, ...)."
        )


def _check_moving(model: Model, position: Array) -> None:
    still = (position == position[0, 0]).all(axis=(0, 1))
    if still.any():
        name = model.space.coordinate_names()[int(np.argmax(still))]
        raise BadInput(
            f"draws: {name!r} is the same in every draw, so it was fixed and not sampled; fix it in the model as well, or sample it."
        )


def _check_axes(position: Array) -> None:
    """Refuse arrays in which the first axis is time."""
    n_chains, n_draws, _ = position.shape
    if n_chains <= max(n_draws, FEWEST_ROWS):
        return
    found = likeness_of_neighbours(position[: max(FEWEST_ROWS, ENOUGH // n_draws)])
    if found.z > EXCHANGED_AXES:
        raise BadInput(
            f"draws: {n_chains:,} chains of {n_draws} draws each, in which every chain resembles the next (correlation "
            f"{found.correlation:.2f}, {found.z:.0f} standard errors): the first two axes are exchanged. Arrays are (chain, draw, ...); give "
            "x.swapaxes(0, 1) of every array."
        )


def _check_support(model: Model, flat: dict[str, Array], position: Array) -> None:
    """Refuse draws that are outside of the support, or that the map to the unconstrained space and back does not return."""
    back, log_prior = constrain_batch(model, np.where(np.isfinite(position), position, 0.0))
    back = model.core.outward(back)
    bad = ~np.isfinite(position).all(axis=1) | ~np.isfinite(np.asarray(log_prior))
    for name, values in flat.items():
        axes = tuple(range(1, values.ndim))
        gap = np.abs(np.asarray(back[name]) - values)
        scale = ROUND_TRIP * (np.abs(values) + np.abs(values).mean(axis=0))
        bad |= (gap > scale + 1e-12).any(axis=axes) if axes else gap > scale + 1e-12
    if bad.any():
        first = int(np.argmax(bad))
        at = ", ".join(f"{name} = {np.array2string(flat[name][first], precision=4, threshold=6)}" for name in flat)
        raise BadInput(
            f"draws: {int(bad.sum()):,} of {len(bad):,} lie outside of the support of the prior of {model.name!r}, or on its edge, the "
            f"first is draw {first} ({at}): a parameter has another constraint there, stands under another's name, or "
            "was stored with too few digits."
        )


def _like(extra: Array | None, n_chains: int, n_draws: int) -> Array | None:
    """An array of log densities as (n_chains, n_draws), or None if it does not have that many."""
    if extra is None or np.size(extra) != n_chains * n_draws:
        return None
    return np.asarray(extra, np.float64).reshape(n_chains, n_draws)


def _walkers_step(position: Array) -> int:
    """The thinning after which the walkers of an ensemble are nearly independent: the autocorrelation time of their mean."""
    means = position.mean(axis=0)
    if len(means) < 4:
        return 1
    slowest = min(effective_sample_size(column) for column in means.T)
    return max(1, int(np.ceil(len(means) / max(slowest, 1.0))))
